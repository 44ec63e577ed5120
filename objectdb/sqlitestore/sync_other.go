//go:build !linux

package sqlitestore

import "os"

// syncData has the content of a file reach the disk.
func syncData(f *os.File) error { return f.Sync() }
