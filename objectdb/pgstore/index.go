package pgstore

import (
	"context"
	"errors"

	"scripter/objectdb"
)

func (c *session) Indexes(ctx context.Context) ([]objectdb.Index, error) {
	rows, err := c.conn.Query(ctx, c.store.sql[sqlIndexes])
	if err != nil {
		return nil, sqlError(ctx, err)
	}
	defer rows.Close()
	var list []objectdb.Index
	for rows.Next() {
		var i objectdb.Index
		var state int16
		var next []byte
		if err := rows.Scan(&i.ID, &i.Table, &i.Rule, &state, &next); err != nil {
			return nil, sqlError(ctx, err)
		}
		i.State, i.Next = objectdb.IndexState(state), string(next)
		list = append(list, i)
	}
	return list, sqlError(ctx, rows.Err())
}

func (c *session) Entries(
	ctx context.Context, index int64, from, end string, backward bool, n int, fn func(objectdb.IndexEntry) error,
) error {
	s := sqlEntries
	if backward {
		s = sqlEntriesBackward
	}
	rows, err := c.conn.Query(ctx, c.store.sql[s], index, []byte(from), []byte(end), n)
	if err != nil {
		return sqlError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var place []byte
		var e objectdb.IndexEntry
		if err := rows.Scan(&place, &e.N); err != nil {
			return sqlError(ctx, err)
		}
		e.Place = string(place)
		if err := fn(e); err != nil {
			return err
		}
	}
	return sqlError(ctx, rows.Err())
}

func (c *session) IndexKeys(ctx context.Context, index int64, fold string) ([]objectdb.IndexKey, error) {
	var keys []byte
	err := c.scan(ctx, []any{&keys}, sqlIndexKeys, index, []byte(fold))
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return objectdb.DecodeIndexKeys(keys)
}

// entryColumns are rows of the tables entry and indexed, as arrays.
type entryColumns struct {
	indexes []int64
	places  [][]byte
	numbers []int64
	keys    [][]byte
}

// writeIndexes writes the part of a commit that concerns indexes.
func (k *committer) writeIndexes() error {
	w, sql := k.w, k.store.sql
	if n := len(w.Indexes); n > 0 {
		ids, parents, rules := make([]int64, n), make([]int64, n), make([]string, n)
		states, nexts := make([]int16, n), make([][]byte, n)
		for i, x := range w.Indexes {
			ids[i], parents[i], rules[i], states[i], nexts[i] = x.ID, x.Table, x.Rule, int16(x.State), []byte(x.Next)
		}
		k.t.add(sql[sqlPutIndexes], ids, parents, rules, states, nexts)
	}
	var gone, come, dropped, kept entryColumns
	size := 0
	send := func() error {
		for _, part := range []struct {
			statement
			c    *entryColumns
			args []any
		}{
			{sqlDropEntries, &gone, []any{gone.indexes, gone.places}},
			{sqlPutEntries, &come, []any{come.indexes, come.places, come.numbers}},
			{sqlDropKeys, &dropped, []any{dropped.indexes, dropped.places}},
			{sqlPutKeys, &kept, []any{kept.indexes, kept.places, kept.keys}},
		} {
			if len(part.c.indexes) > 0 {
				k.t.add(sql[part.statement], part.args...)
			}
			*part.c = entryColumns{}
		}
		k.t.bytes += size
		size = 0
		return k.full()
	}
	for i := range w.Entries {
		e := &w.Entries[i]
		places, entries := e.Entries()
		for _, place := range places {
			gone.indexes, gone.places = append(gone.indexes, e.Index), append(gone.places, []byte(place))
			size += 20 + len(place)
		}
		for _, entry := range entries {
			come.indexes, come.places = append(come.indexes, e.Index), append(come.places, []byte(entry.Place))
			come.numbers = append(come.numbers, entry.N)
			size += 30 + len(entry.Place)
		}
		c := &dropped
		if len(e.After) > 0 {
			c = &kept
			keys := objectdb.EncodeIndexKeys(e.After)
			c.keys = append(c.keys, keys)
			size += len(keys)
		}
		c.indexes, c.places = append(c.indexes, e.Index), append(c.places, []byte(e.Fold))
		if size += 20 + len(e.Fold); size >= tripBytes {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if err := send(); err != nil {
		return err
	}
	for _, id := range w.Purge {
		k.t.add(sql[sqlPurgeEntries], id, w.PurgeStep)
		k.t.add(sql[sqlPurgeKeys], id, w.PurgeStep)
		k.t.add(sql[sqlForgetIndex], id)
	}
	return nil
}
