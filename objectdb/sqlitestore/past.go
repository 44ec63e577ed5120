package sqlitestore

import (
	"context"

	"scripter/objectdb"
)

func (s *store) At(generation int64, inexact func(objectdb.Row)) objectdb.Store {
	return objectdb.NewPast(s, generation, inexact, func(c objectdb.Session) objectdb.Session {
		return &pastSession{c.(*conn), generation}
	})
}

// pastSession reads the objects as a generation left them. Its methods of objectdb.History read the whole
// history, with later changes.
type pastSession struct {
	*conn
	generation int64
}

func (p *pastSession) Child(_ context.Context, table int64, fold string) (objectdb.Row, error) {
	return p.row(sqlChildAt, table, fold, objectdb.WholeValue, p.generation)
}

func (p *pastSession) Object(ctx context.Context, id int64) (objectdb.Row, error) {
	past, err := p.ObjectAt(ctx, id, p.generation)
	return past.Row, err
}

func (p *pastSession) Page(
	_ context.Context, table int64, from, end string, backward bool, n int, fn func(objectdb.Row) error,
) error {
	// Most tables have no past states. Then a quarter of the time is enough.
	if past, err := p.count(sqlHasPast, table); err != nil {
		return err
	} else if past == 0 {
		return p.page(table, from, end, backward, n, p.generation, fn)
	}
	s := sqlPageAt
	if backward {
		s = sqlPageBackwardAt
	}
	return p.soundRows(fn, s, table, p.generation, objectdb.ListedValue, from, end, int64(n))
}

func (p *pastSession) Children(_ context.Context, table int64, fn func(objectdb.Row) error) error {
	return p.soundRows(fn, sqlChildrenAt, table, p.generation, objectdb.ListedValue)
}

func (p *pastSession) Len(_ context.Context, table int64) (int, error) {
	return p.count(sqlCountAt, table, p.generation)
}

func (p *pastSession) CountUpTo(_ context.Context, table int64, from, end string, most int) (int, error) {
	return p.count(sqlCountUpToAt, table, p.generation, from, end, int64(most))
}

func (p *pastSession) Value(ctx context.Context, id int64) (objectdb.Value, error) {
	return p.ValueAt(ctx, id, p.generation)
}

func (p *pastSession) All(_ context.Context, fn func(objectdb.Row, error)) error {
	return p.rows(func(row objectdb.Row, err error) error { fn(row, err); return nil }, sqlEverythingAt, p.generation)
}
