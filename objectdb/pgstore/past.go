package pgstore

import (
	"context"

	"scripter/objectdb"
)

func (s *store) At(generation int64, inexact func(objectdb.Row)) objectdb.Store {
	return objectdb.NewPast(s, generation, inexact, func(c objectdb.Session) objectdb.Session {
		return &pastSession{c.(*session), generation}
	})
}

// pastSession reads the objects as a generation left them. Its methods of objectdb.History read the whole history,
// with later changes.
type pastSession struct {
	*session
	generation int64
}

func (p *pastSession) Child(ctx context.Context, table int64, fold string) (objectdb.Row, error) {
	return p.row(ctx, sqlChildAt, table, []byte(fold), objectdb.WholeValue, p.generation)
}

func (p *pastSession) Object(ctx context.Context, id int64) (objectdb.Row, error) {
	past, err := p.ObjectAt(ctx, id, p.generation)
	return past.Row, err
}

func (p *pastSession) Page(
	ctx context.Context, table int64, from, end string, backward bool, n int, fn func(objectdb.Row) error,
) error {
	s := sqlPageAt
	if backward {
		s = sqlPageBackwardAt
	}
	return p.soundRows(ctx, fn, s, table, p.generation, objectdb.ListedValue, []byte(from), []byte(end), n)
}

func (p *pastSession) Children(ctx context.Context, table int64, fn func(objectdb.Row) error) error {
	return p.soundRows(ctx, fn, sqlChildrenAt, table, p.generation, objectdb.ListedValue)
}

func (p *pastSession) Len(ctx context.Context, table int64) (int, error) {
	n, err := p.number(ctx, sqlCountAt, table, p.generation)
	return int(n), err
}

func (p *pastSession) CountUpTo(ctx context.Context, table int64, from, end string, most int) (int, error) {
	n, err := p.number(ctx, sqlCountUpToAt, table, p.generation, []byte(from), []byte(end), most)
	return int(n), err
}

func (p *pastSession) Value(ctx context.Context, id int64) (objectdb.Value, error) {
	return p.ValueAt(ctx, id, p.generation)
}

func (p *pastSession) Scan(ctx context.Context, s objectdb.Scan, fn func(objectdb.Row) error) (int64, error) {
	last, err := p.lastOf(ctx, s)
	if err != nil {
		return 0, err
	}
	return last, p.soundRows(ctx, fn, sqlScanAt, append(scanArgs(s, last), p.generation)...)
}

func (p *pastSession) CountIDs(ctx context.Context, after, last int64) (int64, error) {
	return p.number(ctx, sqlCountIDsAt, after, last, p.generation)
}

func (p *pastSession) All(ctx context.Context, fn func(objectdb.Row, error)) error {
	return p.rows(ctx, func(row objectdb.Row, err error) error { fn(row, err); return nil }, sqlEverythingAt, p.generation)
}
