//go:build !linux

package sqlitestore

import "os"

// syncData syncs the content of a file.
func syncData(f *os.File) error { return f.Sync() }
