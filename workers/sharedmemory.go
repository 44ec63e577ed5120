//go:build linux

package workers

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxConns     = 4096 // shared connections
	maxWorkers   = 64   // workers, those that are being replaced not included
	maxProcesses = 2 * maxWorkers
	maxLoops     = 32 // loops of a worker: the active one and those that have yielded
)

// sharedMemory is shared by the master and its workers. It outlives each worker, so the
// master can read what a worker did when it died.
type sharedMemory struct {
	workers [maxProcesses]workerState
	conns   [maxConns]connState
	// masterIdle is true while the master checks the workers rarely, because nothing has
	// happened lately. A worker that begins something clears it and wakes the master.
	masterIdle atomic.Bool
}

// newSharedMemory creates the shared memory, and a file of it to pass to workers.
func newSharedMemory() (*sharedMemory, *os.File, error) {
	fd, err := unix.MemfdCreate("scripter-workers", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("create shared memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if err := f.Truncate(int64(unsafe.Sizeof(sharedMemory{}))); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("create shared memory: %w", err)
	}
	m, err := mapSharedMemory(f)
	return m, f, err
}

func mapSharedMemory(f *os.File) (*sharedMemory, error) {
	size := int(unsafe.Sizeof(sharedMemory{}))
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map shared memory: %w", err)
	}
	return (*sharedMemory)(unsafe.Pointer(&b[0])), nil
}

// CLOCK_MONOTONIC is the same in all processes. It is read once; after that the program adds
// Go's own reading, which costs no system call.
var (
	clockBase  = time.Now()
	clockStart = func() int64 {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
			panic("workers: the machine has no monotonic clock: " + err.Error())
		}
		return t.Nano()
	}()
)

// now returns the nanoseconds of CLOCK_MONOTONIC.
func now() int64 { return clockStart + int64(time.Since(clockBase)) }
