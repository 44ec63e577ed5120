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
	maxConns     = 4096 // connections that can be shared at a time
	maxWorkers   = 64   // that take requests; those that are being replaced come on top
	maxProcesses = 2 * maxWorkers
	maxLoops     = 32 // of a worker: the one that takes events, and those that have stepped aside
)

// memory is what the master and its workers share. It outlives each of them, so
// that it tells what a worker did when it died.
type sharedMemory struct {
	workers [maxProcesses]workerState
	conns   [maxConns]connState
	// asleep is true while the master looks round but rarely, for nothing has
	// happened lately: who begins something wakes it.
	masterIdle atomic.Bool
}

// newMemory makes the shared memory and a file to pass on.
func newSharedMemory() (*sharedMemory, *os.File, error) {
	fd, err := unix.MemfdCreate("scripter-workers", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("making shared memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if err := f.Truncate(int64(unsafe.Sizeof(sharedMemory{}))); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("making shared memory: %w", err)
	}
	m, err := mapSharedMemory(f)
	return m, f, err
}

func mapSharedMemory(f *os.File) (*sharedMemory, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(sharedMemory{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	return (*sharedMemory)(unsafe.Pointer(&b[0])), nil
}

// The machine's clock is the same in all processes. It is asked once; from then
// on Go's own reading of it, which costs less, is added.
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

func now() int64 { return clockStart + int64(time.Since(clockBase)) }
