//go:build linux

package workers

import (
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// timerSlack is how late a worker's timers may be. Go's runtime has a thread
// (sysmon) that wakes every 20 µs while there is work, to find goroutines in
// system calls. A worker waits and writes in system calls of its own, and that
// thread would take a large part of its processor time. With the slack it wakes
// every 10 ms at most. No time limit needs more precision than this.
const timerSlack = 4 * time.Millisecond

// startWithSlack starts cmd with that slack. A process inherits the slack of the
// thread that starts it (prctl(2), PR_SET_TIMERSLACK). If the slack cannot be
// set, the process starts without it.
func startWithSlack(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0, 0, 0) == nil {
		defer unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) // back to the default
	}
	return cmd.Start()
}
