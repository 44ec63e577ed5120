package pgstore

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

// Dump has the sequences of the session's state. The server sends the rows while they are read.
func (c *session) Dump(ctx context.Context) (*objectdb.Dump, error) {
	info, err := c.Info(ctx)
	if err != nil {
		return nil, err
	}
	d := &objectdb.Dump{
		Generation: info.Generation, Created: info.Created.UnixNano(), MadeBy: info.MadeBy, MigratedBy: info.MigratedBy,
		Count: info.Objects,
	}
	h := &d.History
	err = sqlError(ctx, c.conn.QueryRow(ctx, c.in(`SELECT last_id, reverted, reach, reach_time, thinned, past_bytes,
			(SELECT count(*) FROM @.past), (SELECT count(*) FROM @.change)
		FROM @.commits ORDER BY generation DESC LIMIT 1`)).
		Scan(&d.LastID, &d.Reverted, &h.Reach, &h.ReachTime, &h.Thinned, &h.Bytes, &h.Objects, &h.Changes))
	if err != nil {
		return nil, err
	}
	d.Objects = sequence(ctx, c, pastRow, `SELECT `+rowColumns+`text, bytes, since, 0::bigint, NULL::bytea, false
		FROM @.object ORDER BY id`)
	d.Past = sequence(ctx, c, pastRow, `SELECT `+pastColumns+`text, bytes, since, until, hash, thinned
		FROM @.past ORDER BY id, until`)
	d.Changes = sequence(ctx, c, recordedChange,
		`SELECT generation, time, first, person, who, why, path, count, undoes, thinned,
			(SELECT array_agg(id ORDER BY id) FROM @.replaced WHERE replaced.generation = change.generation),
			(SELECT array_agg(how ORDER BY id) FROM @.replaced WHERE replaced.generation = change.generation)
		FROM @.change ORDER BY generation`)
	return d, nil
}

func (c *session) in(sql string) string { return inSchema(sql, c.store.schema) }

// sequence yields what read makes of the rows of a query.
func sequence[T any](
	ctx context.Context, c *session, read func(pgx.Rows) (T, error), query string,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := c.conn.Query(ctx, c.in(query))
		if err != nil {
			yield(none, sqlError(ctx, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := read(rows)
			if !yield(v, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, sqlError(ctx, err))
		}
	}
}

func pastRow(rows pgx.Rows) (p objectdb.Past, err error) {
	p.Row, err = objectRow(rows, &p.Since, &p.Until, &p.Hash, &p.Thinned)
	return p, err
}

func recordedChange(rows pgx.Rows) (r objectdb.RecordedChange, err error) {
	var ids []int64
	var hows []int16
	if err := scanChange(rows, &r.Change, &r.Thinned, &ids, &hows); err != nil {
		return r, err
	}
	if len(ids) != len(hows) {
		return r, fmt.Errorf("%w: change %d has objects and does not say how it changed them",
			objectdb.ErrDamaged, r.Generation)
	}
	for i, id := range ids {
		r.Objects = append(r.Objects, objectdb.Replaced{ID: id, How: objectdb.How(hows[i])})
	}
	return r, nil
}

// Import makes a new root that holds what a dump has, and returns the checksums of both. If the schema has a root
// already, the error is fs.ErrExist. It is one transaction, so the root appears whole or not at all.
func Import(
	ctx context.Context, root string, o objectdb.Options, d *objectdb.Dump,
) (sums []objectdb.Sum, err error) {
	s, err := opened("copy to", root, o, func(s *store, _ context.Context) error {
		sums, err = s.make(ctx, func(c *session) (sums []objectdb.Sum, err error) {
			return objectdb.Transfer(d, func(d *objectdb.Dump) error { return c.writeDump(ctx, d) },
				func() (*objectdb.Dump, error) {
					c.newest = d.Generation
					return c.Dump(ctx)
				})
		})
		return err
	})
	if err == nil {
		err = s.Close()
	}
	return sums, err
}

// writeDump fills the tables of a new root.
func (c *session) writeDump(ctx context.Context, d *objectdb.Dump) error {
	h := &d.History
	t := c.trip()
	t.add(c.in(`INSERT INTO @.info VALUES (true, $1, $2, $3, '')`), form, d.MadeBy, d.MigratedBy)
	t.add(c.in(`INSERT INTO @.commits VALUES ($1, $2, $3, NULL, NULL, $4, $5, $6, $7, $8)`),
		d.Generation, rand.Int64(), d.LastID, d.Reverted, h.Reach, h.ReachTime, h.Thinned, h.Bytes)
	if err := t.run(ctx); err != nil {
		return sqlError(ctx, err)
	}
	if err := copyObjects(ctx, c, c.table("object"), d.Objects); err != nil {
		return err
	}
	err := copyRows(ctx, c, c.table("past"), append(slices.Clone(rowNames), "until", "thinned", "hash"), d.Past,
		func(p *objectdb.Past) []any { return append(rowValues(p), p.Until, p.Thinned, p.Hash) })
	if err != nil {
		return err
	}
	return c.writeChanges(ctx, d.Changes)
}

func (c *session) table(name string) pgx.Identifier { return pgx.Identifier{c.store.schema, name} }

// copyObjects writes present objects into a table with the columns of the table object.
func copyObjects(ctx context.Context, c *session, table pgx.Identifier, seq iter.Seq2[objectdb.Past, error]) error {
	return copyRows(ctx, c, table, append(slices.Clone(rowNames), "kept"), seq,
		func(p *objectdb.Past) []any { return append(rowValues(p), p.Kept) })
}

// rowNames are the columns of rowValues.
var rowNames = []string{"id", "parent", "name", "fold", "kind", "ver", "created", "modified", "size", "type", "since",
	"text", "bytes"}

func rowValues(p *objectdb.Past) []any {
	text, bytes := valueColumns(&p.Row)
	return []any{p.ID, p.Parent, p.Name, []byte(p.Fold), p.Kind.String(), p.Version, p.Created, p.Modified, p.Size, p.Type,
		p.Since, text, bytes}
}

// copyRows writes a sequence into a table with the COPY protocol. values makes the columns of an item.
func copyRows[T any](
	ctx context.Context, c *session, table pgx.Identifier, columns []string, seq iter.Seq2[T, error], values func(*T) []any,
) error {
	next, stop := iter.Pull2(seq)
	defer stop()
	var failed error // of the sequence
	_, err := c.conn.CopyFrom(ctx, table, columns,
		pgx.CopyFromFunc(func() ([]any, error) {
			v, err, ok := next()
			if !ok {
				return nil, nil
			}
			if failed = err; err != nil {
				return nil, err
			}
			return values(&v), nil
		}))
	if failed != nil {
		return failed
	}
	return sqlError(ctx, err)
}

// writeChanges writes the changes and their objects, some changes at a time, because the connection writes only one
// table at once.
func (c *session) writeChanges(ctx context.Context, seq iter.Seq2[objectdb.RecordedChange, error]) error {
	type replaced struct {
		generation int64
		objectdb.Replaced
	}
	var changes []objectdb.RecordedChange
	var objects []replaced
	send := func() error {
		err := copyRows(ctx, c, c.table("change"), []string{"generation", "time", "first", "person", "who", "why", "path", "count",
			"undoes", "thinned"}, each(changes), func(r *objectdb.RecordedChange) []any {
			o, undoes := r.Origin, r.Undoes
			if undoes == nil {
				undoes = []int64{}
			}
			return []any{r.Generation, r.Time, r.First, o.Person, o.Who, o.Why, o.Path, int64(r.Count), undoes, r.Thinned}
		})
		if err == nil {
			err = copyRows(ctx, c, c.table("replaced"), []string{"generation", "id", "how"}, each(objects),
				func(r *replaced) []any { return []any{r.generation, r.ID, int16(r.How)} })
		}
		changes, objects = changes[:0], objects[:0]
		return err
	}
	for r, err := range seq {
		if err != nil {
			return err
		}
		for _, o := range r.Objects {
			objects = append(objects, replaced{r.Generation, o})
		}
		r.Objects = nil
		if changes = append(changes, r); len(changes)+len(objects) >= 10*tripRows {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return send()
}

// each yields the items of a list.
func each[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}
