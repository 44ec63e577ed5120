package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

// beforeTime is how long the server lets Restore save the present state, while it holds the writer's lock.
const beforeTime = 10 * time.Minute

// Restore sends the objects of the dump to the server before it takes the writer's lock.
func (s *store) Restore(
	ctx context.Context, d *objectdb.Dump, o objectdb.RevertOptions, save func() (objectdb.Copy, error),
) (r objectdb.Reverted, err error) {
	if s.options.ReadOnly {
		return r, objectdb.ErrReadOnly
	}
	wait := s.options.BusyTimeout
	if err := take(ctx, s.writers, &wait); err != nil {
		return r, err
	}
	w := &writer{}
	_, err = s.open(ctx, &wait, func(ctx context.Context, c *session) error {
		w.session = c
		t := c.trip()
		t.add(beginWriting)
		t.add(setLimits, milliseconds(max(wait, time.Millisecond)), milliseconds(beforeTime))
		t.add(c.in(`CREATE TEMP TABLE saved (LIKE @.object) ON COMMIT DROP`))
		return sqlError(ctx, t.run(ctx))
	})
	if err != nil {
		s.writers <- struct{}{}
		return r, err
	}
	flush, err := w.restore(ctx, d, o, save, &r)
	w.End()
	if err == nil && flush != nil {
		err = flush(ctx)
	}
	return r, err
}

func (w *writer) restore(
	ctx context.Context, d *objectdb.Dump, o objectdb.RevertOptions, save func() (objectdb.Copy, error),
	r *objectdb.Reverted,
) (flush func(context.Context) error, err error) {
	if err := copyObjects(ctx, w.session, pgx.Identifier{"pg_temp", "saved"}, d.Objects); err != nil {
		return nil, err
	}
	if _, err := w.conn.Exec(ctx, `CREATE UNIQUE INDEX ON pg_temp.saved (id); ANALYZE pg_temp.saved`); err != nil {
		return nil, sqlError(ctx, err)
	}
	state, err := w.lock(ctx, w.trip(), 0)
	if err != nil {
		return nil, err
	}
	if w.moved != "" {
		return nil, objectdb.MovedTo(w.moved)
	}
	if r.Before, err = save(); err != nil {
		return nil, fmt.Errorf("the present state could not be saved: %w", err)
	}
	// Above both: no version of an object is given twice.
	now := max(state.Generation, d.Generation) + 1
	r.Generation = now
	unkept := o.Unkept
	if unkept == nil {
		unkept = []int64{}
	}
	recorded := false
	t := w.trip()
	t.one(func(rows pgx.Rows) error { return rows.Scan(&r.Removed) },
		w.in(`SELECT count(*) FROM @.object WHERE NOT EXISTS (SELECT FROM pg_temp.saved AS s WHERE s.id = object.id)`))
	t.add(w.in(keepReplaced), now, o.Whole, unkept, int16(objectdb.Deleted))
	t.add(w.in(`DELETE FROM @.object AS o WHERE NOT EXISTS (SELECT FROM pg_temp.saved AS s WHERE ` + sameObject + `)`))
	t.one(func(rows pgx.Rows) error { return rows.Scan(&r.Restored) }, w.in(restoreObjects),
		now, int16(objectdb.Inserted), int16(objectdb.MovedAndWritten))
	t.one(func(rows pgx.Rows) error { return rows.Scan(&recorded) },
		w.in(`SELECT EXISTS (SELECT FROM @.replaced WHERE generation = $1)`), now)
	// They are built again: see objectdb.DB.BuildIndexes.
	for _, table := range []string{`@.entry`, `@.indexed`, `@.idx`} {
		t.add(w.in(`DELETE FROM ` + table))
	}
	if now > state.Generation+1 {
		// The rows of commits follow one another.
		t.add(w.in(`UPDATE @.commits SET generation = $1 WHERE generation = $2`), now-1, state.Generation)
		t.add(w.in(`DELETE FROM @.commits WHERE generation < $1`), now-1)
	}
	if err := t.run(ctx); err != nil {
		return nil, sqlError(ctx, err)
	}
	k := &committer{writer: w, ctx: ctx, t: w.trip(), keeps: recorded, lasting: true, w: &objectdb.Commit{
		Generation: now, LastID: max(state.LastID, d.LastID), Time: w.store.options.Now().UnixNano(), Origin: o.Origin,
		Whole: o.Whole, Bounds: o.Bounds, Revives: true,
	}}
	if err := k.finish(); err != nil {
		return nil, err
	}
	return k.commit()
}

// sameObject compares an object of the root, o, with one of the copy, s.
const sameObject = `s.id = o.id AND s.parent = o.parent AND s.name = o.name AND s.fold = o.fold AND s.kind = o.kind
	AND s.ver = o.ver AND s.created = o.created AND s.modified = o.modified AND s.size = o.size AND s.type = o.type
	AND s.text IS NOT DISTINCT FROM o.text AND s.bytes IS NOT DISTINCT FROM o.bytes`

// keepReplaced keeps the objects that a revert replaces, except those at and below $3. $2 is the length up to which a
// value is kept whole.
const keepReplaced = `WITH RECURSIVE unkept (id) AS (
		SELECT unnest($3::bigint[]) UNION SELECT object.id FROM @.object JOIN unkept ON object.parent = unkept.id),
	gone AS MATERIALIZED (SELECT * FROM @.object AS o WHERE NOT EXISTS (SELECT FROM unkept WHERE unkept.id = o.id)
		AND NOT EXISTS (SELECT FROM pg_temp.saved AS s WHERE ` + sameObject + `)),
	kept AS (` + pastInsert + `SELECT id, $1::bigint, since, parent, name, fold, kind, ver, created, modified, size, type,
			false,
			CASE WHEN size > $2 THEN ` + valueHash + ` END,
			CASE WHEN size <= $2 THEN text END, CASE WHEN size <= $2 THEN bytes END
		FROM gone)
	INSERT INTO @.replaced SELECT $1::bigint, id, $4::smallint FROM gone`

// restoreObjects inserts the objects of the copy that are not in the root. $3 is for those that were there before.
const restoreObjects = `WITH back AS (
		INSERT INTO @.object (id, parent, name, fold, kind, ver, created, modified, size, type, since, kept, text, bytes)
		SELECT id, parent, name, fold, kind, $1::bigint, created, modified, size, type, $1::bigint, 0, text, bytes
		FROM pg_temp.saved AS s WHERE NOT EXISTS (SELECT FROM @.object WHERE object.id = s.id) RETURNING id),
	told AS (INSERT INTO @.replaced AS r SELECT $1::bigint, id, $2::smallint FROM back
		ON CONFLICT (generation, id) DO UPDATE SET how = $3::smallint)
	SELECT count(*) FROM back`
