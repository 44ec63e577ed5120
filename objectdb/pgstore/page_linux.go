package pgstore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clock returns a time that all processes of a host share and that never goes back until the host starts again. It
// also runs while the host is suspended. If the host has no such clock, it returns 0, and nothing is ever known.
func clock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// openPage maps the page in a file, which it makes if need be.
func openPage(path string) (*page, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	// Nothing that another user has put there is used or changed.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	p, err := mapPage(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func mapPage(f *os.File) (*page, error) {
	var info unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &info); err != nil {
		return nil, err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG || info.Mode&0o077 != 0 || int(info.Uid) != os.Geteuid() {
		return nil, errors.New("it is not a file that this user alone may read and write")
	}
	if info.Size < int64(pageSize) {
		// With real bytes, because the disk may be full when the first process writes into the mapped file.
		if _, err := f.WriteAt(make([]byte, pageSize), 0); err != nil {
			return nil, err
		}
	}
	seed, err := hostSeed()
	if err != nil {
		return nil, err
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	p := &page{words: (*pageWords)(unsafe.Pointer(unsafe.SliceData(mapped))), seed: seed}
	p.tryOwn = func() (func(), bool) {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return nil, false
		}
		return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }, true
	}
	runtime.AddCleanup(p, func(mapped []byte) {
		_ = unix.Munmap(mapped)
		f.Close()
	}, mapped)
	return p, nil
}

// hostSeed returns a number for the clock of this host: another one after the next start, and in a container that has
// another clock.
func hostSeed() (uint64, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0, err
	}
	clock, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		clock = "" // the kernel has only one
	}
	sum := fnv.New64a()
	fmt.Fprintf(sum, "scripter newest 1\n%s\n%s", boot, clock)
	return sum.Sum64(), nil
}
