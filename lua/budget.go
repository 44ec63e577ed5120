package lua

import (
	"time"

	lua "github.com/yuin/gopher-lua"
)

// slice is the number of instructions between two looks. The first look is
// before the first instruction: it registers the State with the watchdog.
const slice = 10_000

// stopped holds the reason why a State was stopped.
type stopped struct{ err error }

// unlimited is the State of Lua states that count nothing. Only the benchmark
// that measures the cost of counting has such states.
var unlimited *State

// Instructions returns how many instructions were counted so far.
func (s *State) Instructions() int64 { return s.granted - s.left }

// Stop ends the run at its next instruction. No pcall can catch it, and Err
// returns the first reason given. It may be called from any goroutine.
func (s *State) Stop(err error) {
	s.err.CompareAndSwap(nil, &stopped{err})
	s.alarm.Store(true)
}

// Err returns why the run was stopped, nil while it may go on.
func (s *State) Err() error {
	if end := s.err.Load(); end != nil {
		return end.err
	}
	return nil
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done counts one instruction; it returns a closed channel once the run is to
// end and a nil one before.
func (s *State) Done() <-chan struct{} {
	left := s.left - 1
	s.left = left
	if left < 0 || s.alarm.Load() {
		return s.ended()
	}
	return nil
}

func (s *State) ended() <-chan struct{} {
	if s.look() {
		return nil
	}
	return closed
}

// Deadline returns when the run has to end, if it has begun.
func (s *State) Deadline() (time.Time, bool) { return s.deadline, !s.deadline.IsZero() }

// Value returns what the run's parent context holds under key.
func (s *State) Value(key any) any { return s.parent.Value(key) }

// look is the slow part of Done: it reports whether the run may go on.
func (s *State) look() bool {
	if s.err.Load() != nil {
		return false
	}
	now := time.Now()
	if !s.watched {
		s.deadline = now.Add(max(s.limits.Time-s.limits.Spent, time.Millisecond))
		watch.add(s)
		s.watched = true
	}
	if !now.Before(s.deadline) {
		s.exceed("time", "time limit of %v exceeded", s.limits.Time)
		return false
	}
	if s.isSlow(now) {
		s.reportSlow()
	}
	if s.left < 0 {
		if s.granted-s.left > s.limits.Instructions {
			s.exceed("instructions", "limit of %d instructions exceeded", s.limits.Instructions)
			return false
		}
		used := s.granted - s.left
		s.left = min(slice, max(0, s.limits.Instructions-used))
		s.granted = used + s.left
	}
	s.alarm.Store(false)
	if s.err.Load() != nil { // stopped since the first line
		s.alarm.Store(true)
		return false
	}
	if s.suspect.Load() && s.tooMuch() {
		s.exceed("memory", "memory limit of %d MB exceeded", s.limits.MemoryBytes>>20)
		return false
	}
	return true
}

// exceed stops the run because a limit was reached.
func (s *State) exceed(limit, format string, args ...any) {
	s.Stop(s.limitError(limit, format, args...))
}

// Charge counts n steps of a library function as instructions and raises an
// error when that was too much. Functions that can be long call it as they go.
func (s *State) Charge(L *lua.LState, n int) {
	s.left -= int64(n)
	if s.left >= 0 && !s.alarm.Load() {
		return
	}
	if !s.look() {
		s.RaiseStop(L)
	}
}

// RaiseStop raises the error of a stopped run.
func (s *State) RaiseStop(L *lua.LState) {
	L.Error(lua.LString(s.Err().Error()), 0)
}

// CheckLength raises an error if a string of n bytes is too long. Otherwise it charges
// for copying the string.
func (s *State) CheckLength(L *lua.LState, n int) {
	if n > s.limits.StringBytes || n < 0 {
		s.refuse(L, "string", "string length limit of %d bytes exceeded", s.limits.StringBytes)
	}
	s.Charge(L, n>>6)
}
