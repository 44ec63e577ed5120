package runner

import (
	"context"
	"errors"
	"time"

	"scripter/objectdb"
)

// ErrAgain ends a run that needs something from outside of the root while it holds the writer's lock: see [Run.Once].
// A script cannot catch it, and what the run has written is not committed, whatever its function returns.
var ErrAgain = errors.New("the run begins again, with what it has asked for outside of the root")

// maxAgain is how often a run begins again so.
const maxAgain = 5

// errRestless counts as objectdb.ErrBusy: the request may be made again later.
var errRestless error = restless{}

type restless struct{}

func (restless) Error() string {
	return "each time that the scripts were run, they asked for something else outside of the root"
}

func (restless) Is(target error) bool { return target == objectdb.ErrBusy }

// memory holds what a run has learned from outside of the root, so that it learns the same if it is made again.
type memory struct {
	results map[string][]learned
	used    map[string]int // results that the present call of the function has got
	wanted  *question      // what the present call may not ask for, because it holds the writer's lock
}

type learned struct {
	value any
	err   error
}

type question struct {
	key string
	ask func(context.Context) (any, error)
}

// again begins another call of the function.
func (m *memory) again() *memory {
	m.used, m.wanted = nil, nil
	return m
}

// next returns the next result with a key that an earlier call of the function has got.
func (m *memory) next(key string) (l learned, ok bool) {
	n := m.used[key]
	if n >= len(m.results[key]) {
		return l, false
	}
	if m.used == nil {
		m.used = map[string]int{}
	}
	m.used[key]++
	return m.results[key][n], true
}

func (m *memory) add(key string, v any, err error) {
	if m.results == nil {
		m.results = map[string][]learned{}
	}
	m.results[key] = append(m.results[key], learned{v, err})
}

// answer asks what the last call of the function wanted to know, and adds the time that it takes to spent.
func (m *memory) answer(ctx context.Context, spent *time.Duration, now func() time.Time) {
	begun := now()
	v, err := m.wanted.ask(ctx)
	m.add(m.wanted.key, v, err)
	*spent += now().Sub(begun)
}

// HasAsked reports whether the run has got a result of Once, also in an earlier call of the function.
func (r *Run) HasAsked() bool { return len(r.outside.results) > 0 }

// Once calls ask, which reads or changes something outside of the root, and returns its result. ask is called while the
// transaction holds no lock, and its result, which may be an error, is remembered: if the run is made again, because
// another one was faster, the n-th call of Once with a key returns the n-th result of this key.
//
// If the run holds the writer's lock and nothing is remembered, the run ends with ErrAgain. Then the lock is free, ask
// is called, and the run is made again from its start. So ask is called once for each thing that the scripts ask for,
// and scripts that go the same way again ask for the same things.
func (r *Run) Once(key string, ask func(context.Context) (any, error)) (any, error) {
	if r.options.Within != nil {
		v, err := r.options.Within.Once(key, ask)
		if errors.Is(err, ErrAgain) {
			r.Thread.Stop(err)
		}
		return v, err
	}
	m := r.outside
	if l, ok := m.next(key); ok {
		return l.value, l.err
	}
	if r.Tx.Locked() {
		m.wanted = &question{key, ask}
		r.Thread.Stop(ErrAgain)
		return nil, ErrAgain
	}
	v, err := ask(r.Context())
	m.add(key, v, err)
	m.next(key)
	return v, err
}
