//go:build linux

package workers

import (
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how late a worker's timers may be. Go's runtime has a thread that
// looks every 20 µs after goroutines in system calls, as long as there is
// something to do. In a worker, whose goroutine waits for requests and writes
// answers in system calls of its own, this took a quarter of all processor time;
// with a millisecond it still took a sixth of a long answer's. Left alone the
// thread sleeps 10 ms at most. No time limit is kept more exactly than this.
const timerSlack = 4 * time.Millisecond

// startSlack starts cmd with that slack, which all threads of a process inherit
// from the thread that has started it (prctl(2), PR_SET_TIMERSLACK).
func startWithSlack(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0, 0, 0) == nil {
		defer unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // what it was before
	}
	return cmd.Start()
}
