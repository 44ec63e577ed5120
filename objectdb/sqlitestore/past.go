package sqlitestore

import (
	"context"
	"fmt"
	"time"

	"scripter/objectdb"
)

// pastStore is a root as a commit left it.
type pastStore struct {
	*store
	generation int64
	inexact    func(objectdb.Row)
}

func (s *store) At(generation int64, inexact func(objectdb.Row)) objectdb.Store {
	return &pastStore{s, generation, inexact}
}

func (s *pastStore) BeginRead(
	ctx context.Context, _ int64, wait *time.Duration,
) (objectdb.Session, objectdb.State, error) {
	c, state, err := s.begin(ctx, s.generation, wait, (*conn).beginRead)
	if err != nil {
		return nil, state, err
	}
	reach, _, err := c.Reach(ctx)
	switch {
	case err != nil:
	case s.generation < reach:
		err = fmt.Errorf("%w: it reaches back to change %d", objectdb.ErrReach, reach)
	case s.generation > state.Generation:
		err = fmt.Errorf("%w: there is no change %d yet", objectdb.ErrReach, s.generation)
	}
	if err != nil {
		s.release(c)
		return nil, state, err
	}
	state.Generation, state.Changes = s.generation, objectdb.Changes{Since: s.generation}
	return &pastSession{c, s}, state, nil
}

var errPast = fmt.Errorf("%w: the past cannot be changed", objectdb.ErrReadOnly)

func (s *pastStore) BeginWrite(
	context.Context, int64, *time.Duration,
) (objectdb.Writer, objectdb.State, error) {
	return nil, objectdb.State{}, errPast
}

func (s *pastStore) Newest() (int64, bool) { return s.generation, true }

func (s *pastStore) Save(context.Context, objectdb.SaveOptions) (objectdb.Copy, error) {
	return objectdb.Copy{}, errPast
}

func (s *pastStore) Revert(context.Context, string, objectdb.RevertOptions) (objectdb.Reverted, error) {
	return objectdb.Reverted{}, errPast
}

func (s *pastStore) Forget(context.Context, []int64) (objectdb.Forgotten, error) {
	return objectdb.Forgotten{}, errPast
}

// Close does nothing, because the store of the present root closes this one, too.
func (s *pastStore) Close() error { return nil }

// pastSession reads the objects as they were. Its methods of objectdb.History read the whole
// history, with later changes.
type pastSession struct {
	*conn
	s *pastStore
}

// was calls inexact with a row whose value was written later.
func (p *pastSession) was(r objectdb.Row, err error) (objectdb.Row, error) {
	if err == nil && r.Version > p.s.generation && r.Kind != objectdb.KindTable && p.s.inexact != nil {
		p.s.inexact(r)
	}
	return r, err
}

func (p *pastSession) Child(_ context.Context, table int64, fold string) (objectdb.Row, error) {
	return p.was(p.row(sqlChildAt, table, fold, objectdb.WholeValue, p.s.generation))
}

func (p *pastSession) Object(ctx context.Context, id int64) (objectdb.Row, error) {
	past, err := p.ObjectAt(ctx, id, p.s.generation)
	return p.was(past.Row, err)
}

func (p *pastSession) Page(
	_ context.Context, table int64, from, end string, backward bool, n int, fn func(objectdb.Row) error,
) error {
	s := sqlPageAt
	if backward {
		s = sqlPageBackwardAt
	}
	return p.soundRows(p.telling(fn), s, table, p.s.generation, objectdb.ListedValue, from, end, int64(n))
}

func (p *pastSession) Children(_ context.Context, table int64, fn func(objectdb.Row) error) error {
	return p.soundRows(p.telling(fn), sqlChildrenAt, table, p.s.generation, objectdb.ListedValue)
}

// telling returns a function that calls inexact if need be, and then fn.
func (p *pastSession) telling(fn func(objectdb.Row) error) func(objectdb.Row) error {
	return func(row objectdb.Row) error {
		_, _ = p.was(row, nil)
		return fn(row)
	}
}

func (p *pastSession) Len(_ context.Context, table int64) (int, error) {
	return p.count(sqlCountAt, table, p.s.generation)
}

func (p *pastSession) CountUpTo(_ context.Context, table int64, from, end string, most int) (int, error) {
	return p.count(sqlCountUpToAt, table, p.s.generation, from, end, int64(most))
}

func (p *pastSession) Value(ctx context.Context, id int64) (objectdb.Value, error) {
	return p.ValueAt(ctx, id, p.s.generation)
}

func (p *pastSession) All(_ context.Context, fn func(objectdb.Row, error)) error {
	return p.rows(func(row objectdb.Row, err error) error { fn(row, err); return nil }, sqlEverythingAt, p.s.generation)
}
