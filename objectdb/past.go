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
// objects as the generation left them. inexact is called with the rows that may not be exact.
func NewPast(s Store, generation int64, inexact func(Row), session func(Session) Session) Store {
	later := func(r Row) {
		if r.Version > generation && r.Kind != KindTable && inexact != nil {
			inexact(r)
		}
	}
	return &past{s, generation, func(s Session) Session { return &pastSession{session(s), later} }}
}

// pastSession calls later with each row that its Session reads, but not for All.
type pastSession struct {
	Session
	later func(Row)
}

func (p *pastSession) Child(ctx context.Context, table int64, fold string) (Row, error) {
	return p.was(p.Session.Child(ctx, table, fold))
}

func (p *pastSession) Object(ctx context.Context, id int64) (Row, error) {
	return p.was(p.Session.Object(ctx, id))
}

func (p *pastSession) was(r Row, err error) (Row, error) {
	if err == nil {
		p.later(r)
	}
	return r, err
}

func (p *pastSession) Page(
	ctx context.Context, table int64, from, end string, backward bool, n int, fn func(Row) error,
) error {
	return p.Session.Page(ctx, table, from, end, backward, n, p.telling(fn))
}

func (p *pastSession) Children(ctx context.Context, table int64, fn func(Row) error) error {
	return p.Session.Children(ctx, table, p.telling(fn))
}

func (p *pastSession) Scan(ctx context.Context, s Scan, fn func(Row) error) (int64, error) {
	return p.Session.Scan(ctx, s, p.telling(fn))
}

// telling returns a function that calls later with a row, and then fn.
func (p *pastSession) telling(fn func(Row) error) func(Row) error {
	return func(r Row) error {
		p.later(r)
		return fn(r)
	}
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

func (p *past) Newest(int64, bool) (int64, bool) { return p.generation, true }

func (p *past) Mark(context.Context, string, func() error) (string, error) { return "", errPast }

func (p *past) Save(context.Context, SaveOptions) (Copy, error) { return Copy{}, errPast }

func (p *past) Revert(context.Context, string, RevertOptions) (Reverted, error) {
	return Reverted{}, errPast
}

func (p *past) Forget(context.Context, []int64) (Forgotten, error) { return Forgotten{}, errPast }

// Close does nothing, because the store of the present root closes this one, too.
func (p *past) Close() error { return nil }
