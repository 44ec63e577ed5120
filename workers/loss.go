//go:build linux

package workers

import "time"

// Reason says why there was no answer.
type Reason string

// What can happen to a request.
const (
	Crashed  Reason = "crash"  // its process died
	TooLong  Reason = "time"   // its process was killed: the time limit did not end it
	TooLarge Reason = "memory" // its process was killed: the memory limit did not end it
	Hung     Reason = "hung"   // its process was killed: it did nothing any more, and no script ran
	Refused  Reason = "busy"   // too many waited, or it waited too long
	TooSlow  Reason = "slow"   // it did not arrive in time
	TooMuch  Reason = "size"   // its body is larger than it may be
)

// Loss is a request without an answer.
type Loss struct {
	Reason Reason
	Pid    int           // of the worker; 0 when none had the request
	Ran    time.Duration // since the worker had begun with it
	Err    error         // how the process ended
}
