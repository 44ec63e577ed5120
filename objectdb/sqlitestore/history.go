package sqlitestore

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"

	"scripter/objectdb"
)

// A keeper keeps the states that one commit replaces, and records the change.
type keeper struct {
	*conn
	commit  *objectdb.Commit
	objects []objectdb.Replaced
	bytes   int64 // how much space the kept states take
	lasting bool  // a kept state is not thinned
}

// setValue writes a value, and keeps the previous one.
func (k *keeper) setValue(ctx context.Context, v *objectdb.Write) error {
	w, column := k.commit, objectdb.EncodeColumn(v.Value)
	if v.Keep == objectdb.KeepNothing {
		return k.execBefore(ctx, sqlSetValue, v.ID, v.Kind.String(), w.Generation, v.Modified, v.Size, v.Type, column)
	}
	if err := k.keep(ctx, v.ID, v.Keep, v.Large); err != nil {
		return err
	}
	k.replaced(v.ID, objectdb.Written, v.Keep)
	return k.execBefore(ctx, sqlKeepValue, v.ID, v.Kind.String(), w.Generation, v.Modified, v.Size, v.Type, column, v.Kept)
}

// replaced adds an object to the change.
func (k *keeper) replaced(id int64, how objectdb.How, keep objectdb.Keep) {
	if keep != objectdb.KeepNothing {
		k.objects = append(k.objects, objectdb.Replaced{ID: id, How: how})
	}
}

// keep keeps the present state of an object.
func (k *keeper) keep(ctx context.Context, id int64, keep objectdb.Keep, large bool) error {
	if keep == objectdb.KeepNothing {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	k.lasting = k.lasting || keep == objectdb.KeepAll
	whole := k.commit.Whole
	if large {
		whole = maxValue
	}
	var bytes [1]driver.Value
	found, err := k.found(bytes[:], sqlKeep, id, k.commit.Generation, keep == objectdb.KeepThinned, whole)
	if err == nil && !found {
		return k.keepHash(id, keep == objectdb.KeepThinned)
	}
	k.count(bytes[0])
	return err
}

func (k *keeper) count(bytes driver.Value) {
	n, _ := bytes.(int64)
	k.bytes += n
}

// keepHash keeps the state of an object whose value is too large.
func (k *keeper) keepHash(id int64, thinned bool) error {
	v, err := k.Value(context.Background(), id)
	if err == objectdb.ErrNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	var bytes [1]driver.Value
	// There is no row if this commit has already kept the state when it moved the object.
	_, err = k.found(bytes[:], sqlKeepHash, id, k.commit.Generation, thinned, objectdb.HashColumn(v))
	k.count(bytes[0])
	return err
}

// keepDeleted keeps the state of an object that is about to be deleted, with all below it.
func (k *keeper) keepDeleted(ctx context.Context, d objectdb.Delete) error {
	if d.Keep == objectdb.KeepNothing {
		return nil
	}
	if !d.Table {
		k.replaced(d.ID, objectdb.Deleted, d.Keep)
		return k.keep(ctx, d.ID, d.Keep, d.Large)
	}
	w, all, thinTables := k.commit, d.Keep == objectdb.KeepAll, false
	if !all {
		var code [1]driver.Value
		if err := k.one(code[:], sqlCodeBelow, d.ID); err != nil {
			return err
		}
		thinTables = code[0] == int64(0)
	}
	k.lasting = k.lasting || all || !thinTables
	whole := w.Whole
	if d.Large {
		whole = maxValue
	}
	if err := k.keepLarge(ctx, d, whole); err != nil {
		return err
	}
	return k.eachRow(ctx, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		k.replaced(id, objectdb.Deleted, d.Keep)
		k.count(row[1])
		return nil
	}, 2, sqlKeepTree, d.ID, w.Generation, thinTables, all, whole)
}

// keepLarge keeps the states of the objects of a table whose values are too large.
func (k *keeper) keepLarge(ctx context.Context, d objectdb.Delete, whole int64) error {
	type object struct {
		id   int64
		code bool
	}
	var large []object
	all := d.Keep == objectdb.KeepAll
	err := k.eachRow(ctx, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		large = append(large, object{id, row[1] == int64(1)})
		return nil
	}, 2, sqlLargeBelow, d.ID, whole)
	for _, o := range large {
		if err == nil {
			k.replaced(o.id, objectdb.Deleted, d.Keep)
			err = k.keepHash(o.id, !all && !o.code)
		}
	}
	return err
}

// eachRow calls fn with each row of a statement. SQLite stops when ctx ends.
func (c *conn) eachRow(
	ctx context.Context, fn func([]driver.Value) error, columns int, s statement, args ...driver.Value,
) error {
	p, err := c.statement(s)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, c.bind(args))
	if err != nil {
		return sqlError(err)
	}
	return readRows(ctx, rows, columns, fn)
}

// eachRowOf does the same as eachRow, for a query that is not kept prepared.
func (c *conn) eachRowOf(
	ctx context.Context, fn func([]driver.Value) error, columns int, query string, args ...driver.Value,
) error {
	rows, err := c.c.QueryContext(ctx, query, named(args))
	if err != nil {
		return sqlError(err)
	}
	return readRows(ctx, rows, columns, fn)
}

func readRows(ctx context.Context, rows driver.Rows, columns int, fn func([]driver.Value) error) error {
	defer rows.Close()
	row := make([]driver.Value, columns)
	for {
		err := rows.Next(row)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == io.EOF:
			return nil
		case err != nil:
			return sqlError(err)
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// finish records the change, and returns the new state of the history for the table meta. It
// returns nil if there is no change. meta has the columns of sqlChanges.
func (k *keeper) finish(ctx context.Context, meta [6]driver.Value) (*historyState, error) {
	if len(k.objects) == 0 && len(k.commit.Undoes) == 0 {
		return nil, nil
	}
	w := k.commit
	list := objectdb.MergeReplaced(k.objects)
	first := cmp.Or(w.First, w.Generation)
	o := w.Origin
	err := k.execBefore(ctx, sqlAddChange, w.Generation, w.Time, first, o.Person, o.Who, o.Why, o.Path,
		!k.lasting && !o.Person, int64(len(list)), encodeUndoes(w.Undoes), encodeReplaced(list))
	if err != nil {
		return nil, err
	}
	h := &historyState{conn: k.conn, budget: pruneSteps + 2*len(list)}
	if !scan(&h.reach, meta[2]) || !scan(&h.reachTime, meta[3]) || !scan(&h.thinned, meta[4]) || !scan(&h.bytes, meta[5]) {
		return nil, fmt.Errorf("%w: what it says of its history is no number", objectdb.ErrDamaged)
	}
	h.bytes += k.bytes
	return h, h.prune(ctx, w)
}

// encodeUndoes returns generations as the root stores them, as uvarints.
func encodeUndoes(list []int64) []byte {
	b := []byte{} // SQLite takes nil as NULL
	for _, g := range list {
		b = binary.AppendUvarint(b, uint64(g))
	}
	return b
}

// encodeReplaced returns the objects of a change as the root stores them: for each, the
// difference of its id and the previous one, as a uvarint, and How as a byte.
func encodeReplaced(list []objectdb.Replaced) []byte {
	b := make([]byte, 0, 4*len(list))
	last := int64(0)
	for _, r := range list {
		b = append(binary.AppendUvarint(b, uint64(r.ID-last)), byte(r.How))
		last = r.ID
	}
	return b
}

// decodeReplaced returns what encodeReplaced has encoded.
func decodeReplaced(b []byte) ([]objectdb.Replaced, error) {
	var list []objectdb.Replaced
	id := int64(0)
	for len(b) > 0 {
		step, size := binary.Uvarint(b)
		if size <= 0 || size >= len(b) || int64(step) < 0 {
			return nil, fmt.Errorf("%w: the objects of a change cannot be read", objectdb.ErrDamaged)
		}
		id += int64(step)
		list = append(list, objectdb.Replaced{ID: id, How: objectdb.How(b[size])})
		b = b[size+1:]
	}
	return list, nil
}

func (c *conn) Changes(ctx context.Context, before int64) iter.Seq2[objectdb.Change, error] {
	return c.changes(ctx, sqlChangesBefore, before)
}

func (c *conn) PersonChanges(ctx context.Context, before int64) iter.Seq2[objectdb.Change, error] {
	return c.changes(ctx, sqlPersonChangesBefore, before)
}

func (c *conn) changes(ctx context.Context, s statement, before int64) iter.Seq2[objectdb.Change, error] {
	return objectdb.ChangesBefore(before, func(before int64, n int) (list []objectdb.Change, err error) {
		err = c.eachRow(ctx, func(row []driver.Value) error {
			change, err := changeRow(row)
			list = append(list, change)
			return err
		}, 9, s, before, int64(n))
		return list, err
	})
}

// changeRow returns the change in the columns of sqlChangesBefore.
func changeRow(row []driver.Value) (objectdb.Change, error) {
	var c objectdb.Change
	var person, count int64
	var undoes []byte
	ok := scan(&c.Generation, row[0]) && scan(&c.Time, row[1]) && scan(&c.First, row[2]) && scan(&person, row[3]) &&
		scan(&c.Origin.Who, row[4]) && scan(&c.Origin.Why, row[5]) && scan(&c.Origin.Path, row[6]) &&
		scan(&count, row[7]) && scan(&undoes, row[8])
	c.Origin.Person, c.Count = person != 0, int(count)
	for len(undoes) > 0 && ok {
		g, size := binary.Uvarint(undoes)
		if ok = size > 0; ok {
			c.Undoes, undoes = append(c.Undoes, int64(g)), undoes[size:]
		}
	}
	if !ok {
		return c, fmt.Errorf("%w: change %v has a column of the wrong type", objectdb.ErrDamaged, row[0])
	}
	return c, nil
}

// GenerationAt uses binary search: the times of changes grow with their generations, unless
// the clock was set back.
func (c *conn) GenerationAt(ctx context.Context, time int64) (int64, error) {
	reach, reachTime, err := c.Reach(ctx)
	if err != nil {
		return 0, err
	}
	if time < reachTime {
		return 0, objectdb.ErrReach
	}
	newest, ok := int64(0), false
	low, high := reach, int64(math.MaxInt64-1)
	for low <= high {
		middle := low + (high-low)/2
		var row [2]driver.Value
		found, err := c.found(row[:], sqlChangeUpTo, middle)
		if err != nil {
			return 0, err
		}
		generation, _ := row[0].(int64)
		made, _ := row[1].(int64)
		switch {
		case !found || generation < low:
			low = middle + 1
		case made <= time:
			newest, ok, low = generation, true, middle+1
		default:
			high = generation - 1
		}
	}
	if !ok {
		newest = reach
	}
	return newest, nil
}

func (c *conn) Parts(ctx context.Context, first int64) ([]int64, error) {
	return c.numbers(ctx, sqlParts, first)
}

// numbers returns the first column of a query.
func (c *conn) numbers(ctx context.Context, s statement, args ...driver.Value) (list []int64, err error) {
	err = c.eachRow(ctx, func(row []driver.Value) error {
		n, ok := row[0].(int64)
		if !ok {
			return fmt.Errorf("%w: its history has %T where a number should be", objectdb.ErrDamaged, row[0])
		}
		list = append(list, n)
		return nil
	}, 1, s, args...)
	return list, err
}

func (c *conn) Replaced(_ context.Context, generation int64) ([]objectdb.Replaced, error) {
	var row [1]driver.Value
	if err := orNotFound(c.found(row[:], sqlReplaced, generation)); err != nil {
		return nil, err
	}
	b, _ := row[0].([]byte)
	return decodeReplaced(b)
}

func (c *conn) ChangesOf(ctx context.Context, id int64) ([]int64, error) {
	return c.numbers(ctx, sqlChangesOf, id)
}

func (c *conn) Formerly(ctx context.Context, table int64, fold string) ([]int64, error) {
	if fold == "" {
		return c.numbers(ctx, sqlFormerly, table)
	}
	return c.numbers(ctx, sqlFormerlyNamed, table, fold)
}

func (c *conn) Reach(context.Context) (generation, time int64, err error) {
	var row [2]driver.Value
	if err := c.one(row[:], sqlReach); err != nil {
		return 0, 0, metaError(err)
	}
	if !scan(&generation, row[0]) || !scan(&time, row[1]) {
		err = fmt.Errorf("%w: what it says of its history is no number", objectdb.ErrDamaged)
	}
	return generation, time, err
}

func (c *conn) HistoryInfo(context.Context) (objectdb.HistoryInfo, error) {
	var row [8]driver.Value
	if err := c.one(row[:], sqlHistory); err != nil {
		return objectdb.HistoryInfo{}, metaError(err)
	}
	var h objectdb.HistoryInfo
	for i, n := range []*int64{&h.Reach, &h.ReachTime, &h.Thinned, &h.Bytes, &h.Changes, &h.Objects} {
		*n, _ = row[i].(int64)
	}
	objects, _ := row[6].(float64)
	bytes, _ := row[7].(float64)
	h.ThinnedObjects, h.ThinnedBytes = int64(objects), int64(bytes)
	return h, nil
}

func (c *conn) ObjectAt(_ context.Context, id, generation int64) (objectdb.Past, error) {
	return c.at(id, generation, objectdb.WholeValue)
}

func (c *conn) ValueAt(_ context.Context, id, generation int64) (objectdb.Value, error) {
	p, err := c.at(id, generation, maxValue)
	if err == nil && p.Hash != nil {
		err = objectdb.ErrNotKept
	}
	return p.Value, err
}

func (c *conn) at(id, generation, longest int64) (objectdb.Past, error) {
	var row [15]driver.Value
	if err := orNotFound(c.found(row[:], sqlByIDAt, id, longest, generation)); err != nil {
		return objectdb.Past{}, err
	}
	r, err := objectRow((*[12]driver.Value)(row[:12]))
	p := objectdb.Past{Row: r}
	p.Since, _ = row[12].(int64)
	p.Until, _ = row[13].(int64)
	p.Hash, _ = row[14].([]byte)
	return p, err
}
