package runner

import (
	"os"
	"syscall"
)

// tmpfile is O_TMPFILE of open(2), which package syscall lacks.
const tmpfile = 0x400000 | syscall.O_DIRECTORY

// unnamed makes a file that never has a name, or returns nil if the file system cannot.
func unnamed() *os.File {
	f, err := os.OpenFile(os.TempDir(), os.O_RDWR|tmpfile, 0o600)
	if err != nil {
		return nil
	}
	return f
}
