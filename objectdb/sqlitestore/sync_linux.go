package sqlitestore

import (
	"os"
	"syscall"
)

// syncData syncs the content of a file, without its times: fdatasync(2).
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
