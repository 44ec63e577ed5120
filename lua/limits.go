package lua

import (
	"errors"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Limits bound what one run may use. A zero field means the default of that
// field; every limit that ends a run is named in the run's error.
type Limits struct {
	// Time is the wall-clock time of all the work of one thread together,
	// counted from its first instruction.
	Time time.Duration
	// Spent is how much of Time was used before, by other threads of the request.
	Spent time.Duration
	// Instructions is the number of Lua instructions. Work done inside library
	// functions is counted too, at about the same price.
	Instructions int64
	// StringBytes is the length of the longest string that a script can make.
	StringBytes int
	// MemoryBytes is how far the memory in use may grow while a script runs. It
	// is measured for the process: runs at the same time may grow it by the sum
	// of their limits, but not by more than four times this.
	MemoryBytes int64
	// CallDepth is the depth of calls from Lua to Lua. Calls that pass through
	// a library function (pcall, sort, coroutines) nest 195 deep at most.
	CallDepth int
	// PatternSteps is the work that one call of a pattern function may do.
	PatternSteps int64
	// SourceBytes is the length of one source text, stored or given to load. Of
	// what is stored, 1 MB compiles at most.
	SourceBytes int
	// Coroutines is the number of coroutines that one run may have at a time; those that have
	// ended do not count.
	Coroutines int

	// From tells where a limit was set, by the name that LimitName gives: the
	// error of the limit says so. It may be nil, or know nothing ("").
	From func(limit string) string
}

// DefaultLimits returns the limits of an ordinary request.
func DefaultLimits() Limits {
	return Limits{
		Time:         10 * time.Second,
		Instructions: 1_000_000_000,
		StringBytes:  16 << 20,
		MemoryBytes:  64 << 20,
		CallDepth:    10_000,
		PatternSteps: 20_000_000,
		SourceBytes:  maxSource,
		Coroutines:   1000,
	}
}

// withDefaults fills the fields that are zero.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Time <= 0 {
		l.Time = d.Time
	}
	if l.Instructions <= 0 {
		l.Instructions = d.Instructions
	}
	if l.StringBytes <= 0 {
		l.StringBytes = d.StringBytes
	}
	if l.MemoryBytes <= 0 {
		l.MemoryBytes = d.MemoryBytes
	}
	if l.CallDepth <= 0 {
		l.CallDepth = d.CallDepth
	}
	if l.PatternSteps <= 0 {
		l.PatternSteps = d.PatternSteps
	}
	if l.SourceBytes <= 0 {
		l.SourceBytes = d.SourceBytes
	}
	if l.Coroutines <= 0 {
		l.Coroutines = d.Coroutines
	}
	return l
}

// limitError says which limit a run has reached.
type limitError struct {
	limit string
	text  string
}

func (e *limitError) Error() string { return e.text }

// LimitName returns the name of the limit that err reports: "time", "instructions"
// and "memory" end a run; "string", "patterns", "coroutines", "depth" and "source"
// are errors that a script may catch. It returns "" when err reports none.
func LimitName(err error) string {
	var l *limitError
	if errors.As(err, &l) {
		return l.limit
	}
	return ""
}

// limitError makes the error of a limit.
func (s *State) limitError(limit, format string, args ...any) *limitError {
	text := fmt.Sprintf(format, args...)
	if s.limits.From != nil {
		if from := s.limits.From(limit); from != "" {
			text += " (" + from + ")"
		}
	}
	return &limitError{limit, text}
}

// refuse raises the error of a limit that a script may catch. If the script raises the
// message again, the run's error still names the limit.
func (s *State) refuse(L *lua.LState, limit, format string, args ...any) {
	err := s.limitError(limit, format, args...)
	s.Because(err.text, err)
	fail(L, "%s", err.text)
}
