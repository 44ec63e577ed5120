package pgstore

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

func (c *session) Changes(ctx context.Context, before int64) iter.Seq2[objectdb.Change, error] {
	return c.changes(ctx, sqlChangesBefore, before)
}

func (c *session) PersonChanges(ctx context.Context, before int64) iter.Seq2[objectdb.Change, error] {
	return c.changes(ctx, sqlPersonChangesBefore, before)
}

func (c *session) changes(ctx context.Context, s statement, before int64) iter.Seq2[objectdb.Change, error] {
	return objectdb.ChangesBefore(before, func(before int64, n int) ([]objectdb.Change, error) {
		rows, err := c.conn.Query(ctx, c.store.sql[s], before, n)
		if err != nil {
			return nil, sqlError(ctx, err)
		}
		list, err := pgx.CollectRows(rows, changeOf)
		return list, sqlError(ctx, err)
	})
}

func changeOf(row pgx.CollectableRow) (c objectdb.Change, err error) {
	err = scanChange(row, &c)
	return c, err
}

// scanChange reads a change. extra are the destinations of further columns.
func scanChange(row pgx.CollectableRow, c *objectdb.Change, extra ...any) error {
	o := &c.Origin
	dest := []any{&c.Generation, &c.Time, &c.First, &o.Person, &o.Who, &o.Why, &o.Path, &c.Count, &c.Undoes}
	err := row.Scan(append(dest, extra...)...)
	if len(c.Undoes) == 0 {
		c.Undoes = nil
	}
	return err
}

func (c *session) GenerationAt(ctx context.Context, time int64) (int64, error) {
	reach, reachTime, err := c.Reach(ctx)
	if err != nil {
		return 0, err
	}
	if time < reachTime {
		return 0, objectdb.ErrReach
	}
	newest, err := c.number(ctx, sqlGenerationAt, time, reach)
	if errors.Is(err, objectdb.ErrNotFound) {
		return reach, nil
	}
	return newest, err
}

func (c *session) Parts(ctx context.Context, first int64) ([]int64, error) {
	return c.numbers(ctx, sqlParts, first)
}

func (c *session) Replaced(ctx context.Context, generation int64) ([]objectdb.Replaced, error) {
	rows, err := c.conn.Query(ctx, c.store.sql[sqlReplaced], generation)
	if err != nil {
		return nil, sqlError(ctx, err)
	}
	defer rows.Close()
	found := false
	var list []objectdb.Replaced
	for rows.Next() {
		found = true
		var id *int64 // NULL if the change has no objects
		var how *uint8
		if err := rows.Scan(&id, &how); err != nil {
			return nil, sqlError(ctx, err)
		}
		if id != nil && how != nil {
			list = append(list, objectdb.Replaced{ID: *id, How: objectdb.How(*how)})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, sqlError(ctx, err)
	}
	if !found {
		return nil, objectdb.ErrNotFound
	}
	return list, nil
}

func (c *session) ChangesOf(ctx context.Context, id int64) ([]int64, error) {
	return c.numbers(ctx, sqlChangesOf, id)
}

func (c *session) Formerly(ctx context.Context, table int64, fold string) ([]int64, error) {
	if fold == "" {
		return c.numbers(ctx, sqlFormerly, table)
	}
	return c.numbers(ctx, sqlFormerlyNamed, table, []byte(fold))
}

func (c *session) Reach(ctx context.Context) (generation, time int64, err error) {
	err = c.scan(ctx, []any{&generation, &time}, sqlReach)
	return generation, time, err
}

func (c *session) HistoryInfo(ctx context.Context) (h objectdb.HistoryInfo, err error) {
	err = c.scan(ctx, []any{&h.Reach, &h.ReachTime, &h.Thinned, &h.Bytes, &h.Changes, &h.Objects, &h.ThinnedObjects,
		&h.ThinnedBytes}, sqlHistory)
	return h, err
}

func (c *session) ObjectAt(ctx context.Context, id, generation int64) (objectdb.Past, error) {
	return c.at(ctx, id, generation, objectdb.WholeValue)
}

func (c *session) ValueAt(ctx context.Context, id, generation int64) (objectdb.Value, error) {
	p, err := c.at(ctx, id, generation, maxValue)
	if err == nil && p.Hash != nil {
		err = objectdb.ErrNotKept
	}
	return p.Value, err
}

func (c *session) at(ctx context.Context, id, generation, longest int64) (p objectdb.Past, err error) {
	rows, err := c.conn.Query(ctx, c.store.sql[sqlByIDAt], id, longest, generation)
	if err != nil {
		return p, sqlError(ctx, err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return p, sqlError(ctx, err)
		}
		return p, objectdb.ErrNotFound
	}
	p.Row, err = objectRow(rows, &p.Since, &p.Until, &p.Hash)
	return p, err
}
