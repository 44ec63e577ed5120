package objectdb

import (
	"context"
	"fmt"
	"time"
)

// past is the store of a root as a commit left it.
type past struct {
	Store
	generation int64
	session    func(Session) Session
}

// NewPast returns the store that the method At of s returns. session turns a session of s into one that reads the
// objects as the generation left them, and calls later with each row that it reads. later calls inexact with a row
// that may not be exact.
func NewPast(
	s Store, generation int64, inexact func(Row), session func(s Session, later func(Row)) Session,
) Store {
	later := func(r Row) {
		if r.Version > generation && r.Kind != KindTable && inexact != nil {
			inexact(r)
		}
	}
	return &past{s, generation, func(s Session) Session { return session(s, later) }}
}

func (p *past) BeginRead(ctx context.Context, _ int64, wait *time.Duration) (Session, State, error) {
	s, state, err := p.Store.BeginRead(ctx, 0, wait)
	if err != nil {
		return nil, state, err
	}
	reach, _, err := s.Reach(ctx)
	switch {
	case err != nil:
	case p.generation < reach:
		err = fmt.Errorf("%w: it reaches back to change %d", ErrReach, reach)
	case p.generation > state.Generation:
		err = fmt.Errorf("%w: there is no change %d yet", ErrReach, p.generation)
	}
	if err != nil {
		s.End()
		return nil, state, err
	}
	state.Generation, state.Changes = p.generation, Changes{Since: p.generation}
	return p.session(s), state, nil
}

var errPast = fmt.Errorf("%w: the past cannot be changed", ErrReadOnly)

func (p *past) BeginWrite(context.Context, int64, *time.Duration) (Writer, State, error) {
	return nil, State{}, errPast
}

func (p *past) Newest() (int64, bool) { return p.generation, true }

func (p *past) Save(context.Context, SaveOptions) (Copy, error) { return Copy{}, errPast }

func (p *past) Revert(context.Context, string, RevertOptions) (Reverted, error) {
	return Reverted{}, errPast
}

func (p *past) Forget(context.Context, []int64) (Forgotten, error) { return Forgotten{}, errPast }

// Close does nothing, because the store of the present root closes this one, too.
func (p *past) Close() error { return nil }
