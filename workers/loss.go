//go:build linux

package workers

import "time"

// Reason says why a request was not answered by a worker.
type Reason string

// The reasons.
const (
	Crashed  Reason = "crash"  // the worker died
	TooLong  Reason = "time"   // the master killed the worker: its script exceeded its time limit
	TooLarge Reason = "memory" // the master killed the worker: its script exceeded its memory limit
	Hung     Reason = "hung"   // the master killed the worker: it made no progress, and no script ran
	Refused  Reason = "busy"   // too many requests waited, or this one waited too long
	TooSlow  Reason = "slow"   // the request did not arrive in time
	TooMuch  Reason = "size"   // the body is too large
)

// Loss is a request that no worker answered.
type Loss struct {
	Reason Reason
	Pid    int           // of the worker; 0 if none had the request
	Ran    time.Duration // since the worker began with it
	Err    error         // how the worker ended
}
