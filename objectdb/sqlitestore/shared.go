package sqlitestore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"scripter/objectdb"
)

// checkShared refuses a root whose file -shm was removed while other processes use
// it. That file is where SQLite's processes tell one another what is in the WAL
// (https://www.sqlite.org/walformat.html, 2): a process that opened the root now would
// make a new one, and each side would overwrite the commits of the other. Processes that have
// the old one work correctly with one another. It also refuses a root that has replaced
// another one in use. f is the root, which nothing else of this process has open, because
// closing it releases all locks on it.
func (s *store) checkShared(f *os.File) error {
	shm := resolved(s.path) + "-shm"
	// A process that opens or closes the root at this moment looks the same for a
	// moment.
	for deadline := time.Now().Add(s.options.BusyTimeout); ; time.Sleep(time.Millisecond) {
		what := ""
		switch {
		case usedWithoutShared(f, shm):
			what = "its file -shm was removed while it was in use; end all programs that use it"
		case replaced(f, shm):
			what = "another file took its place while programs used that one; " +
				"end them, and move the old one's -wal and -shm away"
		default:
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s; then start them again", objectdb.ErrDamaged, what)
		}
	}
}

// replaced reports whether other processes use the file shm, but not the root f: it
// was given the name of one that they have open. The WAL beside it is theirs, and
// SQLite would play it into this one.
func replaced(f *os.File, shm string) bool {
	s, err := os.OpenFile(shm, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer s.Close()
	const inUse = 128 // UNIX_SHM_DMS: all who have it open hold a shared lock on it
	return lockOn(s, inUse, 1) == syscall.F_RDLCK && lockOn(f, sharedFirst, sharedSize) == syscall.F_UNLCK
}

// sharedFirst and sharedSize are the bytes on which every process that has a root open in WAL
// mode holds a shared lock: SQLite's SHARED_FIRST and SHARED_SIZE.
const sharedFirst, sharedSize = 0x40000002, 510

// lockOn returns what lock another process has there that would be in the way of
// one for writing; F_UNLCK when there is none.
func lockOn(f *os.File, start, size int64) int16 {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: start, Len: size}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return syscall.F_UNLCK
	}
	return lock.Type
}

// usedWithoutShared reports whether another process has the root f open in WAL mode,
// while there is no file named shm.
func usedWithoutShared(f *os.File, shm string) bool {
	if _, err := os.Lstat(shm); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	var versions [2]byte // https://www.sqlite.org/fileformat.html, 1.3.3: 2 is WAL
	if _, err := f.ReadAt(versions[:], 18); err != nil || versions != [2]byte{2, 2} {
		return false
	}
	return lockOn(f, sharedFirst, sharedSize) == syscall.F_RDLCK // whoever waits for an exclusive lock reports it
}
