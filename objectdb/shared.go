package objectdb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// checkShared refuses a root whose file -shm was removed while other processes use
// it. That file is where SQLite's processes tell one another what is in the WAL
// (https://www.sqlite.org/walformat.html, 2): who came now would make a new one,
// and each side would write over what the other has committed. Those that have the
// old one go on rightly among themselves. F is the root, which nothing else of this
// process has open: to close it gives up all locks on it.
func (db *DB) checkShared(f *os.File) error {
	path := db.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	// A process that opens or closes the root at this moment looks the same for a
	// moment.
	for deadline := time.Now().Add(db.options.BusyTimeout); usedWithoutShared(f, path+"-shm"); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: its file -shm was removed while it was in use; end all programs that use it, and start them again", ErrDamaged)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// usedWithoutShared tells whether another process has the root f open in WAL mode,
// while there is no file named shm.
func usedWithoutShared(f *os.File, shm string) bool {
	if _, err := os.Lstat(shm); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	var versions [2]byte // https://www.sqlite.org/fileformat.html, 1.3.3: 2 is WAL
	if _, err := f.ReadAt(versions[:], 18); err != nil || versions != [2]byte{2, 2} {
		return false
	}
	// SQLite's SHARED_FIRST and SHARED_SIZE, which all who have the file open in WAL
	// mode hold a shared lock on. One that is not shared is told by who waits for it.
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 0x40000002, Len: 510}
	return syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock) == nil && lock.Type == syscall.F_RDLCK
}
