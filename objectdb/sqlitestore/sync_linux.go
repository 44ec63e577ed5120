package sqlitestore

import (
	"os"
	"syscall"
)

// syncData has the content of a file reach the disk: fdatasync(2), which does
// without its times.
func syncData(f *os.File) (failure error) {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = c.Control(func(fd uintptr) {
		for failure = syscall.EINTR; failure == syscall.EINTR; {
			failure = syscall.Fdatasync(int(fd))
		}
	})
	if failure == nil {
		failure = err
	}
	return failure
}
