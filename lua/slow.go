package lua

import (
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// A run that is slow is told of once, from its own goroutine, at the first look
// of its budget after the time has come: the calls are then as they are, and the
// run goes on. A function in Go that takes long is found when it returns.

// began is what times of slowness count from, so that they fit an atomic.
var began = time.Now()

// watchSlow makes the run tell where it is when it has been going on for so long.
func (s *State) watchSlow(after time.Duration, tell func([]Frame)) {
	if tell != nil && after > 0 {
		s.report = tell
		s.slowAt.Store(int64(time.Since(began) + after))
	}
}

// isSlow tells that the run is to say where it is.
func (s *State) isSlow(now time.Time) bool {
	at := s.slowAt.Load()
	return at != 0 && int64(now.Sub(began)) >= at
}

// tellSlow tells where the run is, once.
func (s *State) reportSlow() {
	s.slowAt.Store(0)
	s.report(traceback(s.current()))
}

// current returns the Lua state that runs now: that of the innermost protected
// call or coroutine. If there are both, the inner one is the one that was called
// through the other.
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
