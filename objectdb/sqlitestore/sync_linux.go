package sqlitestore

import (
	"os"
	"syscall"
)

// syncData syncs the content of a file, without its times: fdatasync(2).
func syncData(f *os.File) error { return onDescriptor(f, syscall.Fdatasync) }
