package script

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
func (b *budget) watchSlow(after time.Duration, tell func([]Frame)) {
	if tell != nil && after > 0 {
		b.tell = tell
		b.slowAt.Store(int64(time.Since(began) + after))
	}
}

// isSlow tells that the run is to say where it is.
func (b *budget) isSlow(now time.Time) bool {
	at := b.slowAt.Load()
	return at != 0 && int64(now.Sub(began)) >= at
}

// tellSlow tells where the run is, once.
func (b *budget) tellSlow() {
	b.slowAt.Store(0)
	if t, ok := b.owner.(*Thread); ok {
		b.tell(traceback(b.running(t)))
	}
}

// running returns the state that runs now: that of the innermost protected call
// or coroutine. Which of the two is the inner one, the way back from it tells.
func (b *budget) running(t *Thread) *lua.LState {
	var candidates []*lua.LState
	if n := len(b.passages); n > 0 {
		candidates = append(candidates, b.passages[n-1].in)
	}
	if n := len(b.active); n > 0 {
		candidates = append(candidates, b.active[n-1])
	}
	switch len(candidates) {
	case 0:
		return t.base
	case 1:
		return candidates[0]
	}
	call, co := candidates[0], candidates[1]
	if slices.Contains(b.wayBack(co), call) {
		return co
	}
	return call
}

// wayBack returns the states through which L was called, L the first.
func (b *budget) wayBack(L *lua.LState) []*lua.LState {
	var way []*lua.LState
	for L != nil && !slices.Contains(way, L) {
		way = append(way, L)
		from := b.callerOf(L)
		if from == nil {
			from = L.Parent
		}
		L = from
	}
	return way
}
