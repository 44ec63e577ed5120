package lua

import (
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// A slow run is reported once, by its own goroutine, when it looks at its limits for
// the first time after SlowAfter: no call changes meanwhile, and the run goes on. A
// function in Go that takes long is reported when it returns.

// began is the time from which slowAt counts, so that it fits an atomic.
var began = time.Now()

// watchSlow makes the run call tell, with the calls that are under way, once it has run
// for the given time.
func (s *State) watchSlow(after time.Duration, tell func([]Frame)) {
	if tell != nil && after > 0 {
		s.report = tell
		s.slowAt.Store(int64(time.Since(began) + after))
	}
}

// isSlow reports whether the run is slow and has not been reported.
func (s *State) isSlow(now time.Time) bool {
	at := s.slowAt.Load()
	return at != 0 && int64(now.Sub(began)) >= at
}

// reportSlow reports the calls of the run, once.
func (s *State) reportSlow() {
	s.slowAt.Store(0)
	s.report(traceback(s.current()))
}

// current returns the Lua state that runs now: that of the innermost protected call
// or coroutine. If there are both, it is the one that was called through the other.
func (s *State) current() *lua.LState {
	var candidates []*lua.LState
	if n := len(s.protected); n > 0 {
		candidates = append(candidates, s.protected[n-1].in)
	}
	if n := len(s.active); n > 0 {
		candidates = append(candidates, s.active[n-1])
	}
	switch len(candidates) {
	case 0:
		return s.base
	case 1:
		return candidates[0]
	}
	call, co := candidates[0], candidates[1]
	if slices.Contains(s.wayBack(co), call) {
		return co
	}
	return call
}

// wayBack returns the states through which L was called, L the first.
func (s *State) wayBack(L *lua.LState) []*lua.LState {
	var way []*lua.LState
	for L != nil && !slices.Contains(way, L) {
		way = append(way, L)
		from := s.callerOf(L)
		if from == nil {
			from = L.Parent
		}
		L = from
	}
	return way
}
