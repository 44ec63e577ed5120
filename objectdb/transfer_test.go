package objectdb_test

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// small returns a dump of a root with two top tables.
func small() *objectdb.Dump {
	object := func(id, parent int64, name string, v objectdb.Value) objectdb.Past {
		p := objectdb.Past{Since: 1, Row: objectdb.Row{ID: id, Parent: parent, Name: name, Fold: name, Version: 1, Value: v}}
		if p.Kind = objectdb.KindTable; v != nil {
			p.Kind = v.Kind()
		}
		return p
	}
	state := object(4, 3, "x", objectdb.Number(1))
	state.Until = 2
	gone := object(9, 8, "y", objectdb.Number(1))
	gone.Until = 2
	return &objectdb.Dump{
		Generation: 3, LastID: 9,
		Objects: items(object(1, 0, "", nil), object(2, 1, "user", nil), object(3, 5, "deep", nil),
			object(4, 3, "x", objectdb.Number(2)), object(5, 2, "prefs", nil), object(6, 1, "web", nil),
			object(7, 1, "n", objectdb.Number(7))),
		Past: items(state, gone),
		Changes: items(objectdb.RecordedChange{
			Change: objectdb.Change{Generation: 2, Count: 1}, Objects: []objectdb.Replaced{{ID: 4, How: objectdb.Written}},
		}),
	}
}

func items[T any](list ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// changed returns a sequence with one item changed.
func changed[T any](seq iter.Seq2[T, error], at int, change func(*T)) iter.Seq2[T, error] {
	var list []T
	for v := range seq {
		list = append(list, v)
	}
	change(&list[at])
	return items(list...)
}

func readAll(d *objectdb.Dump) error {
	for range d.Objects {
	}
	for range d.Past {
	}
	for range d.Changes {
	}
	return nil
}

func TestTransferComparesTables(t *testing.T) {
	sums, err := objectdb.Transfer(small(), readAll, func() (*objectdb.Dump, error) { return small(), nil })
	require.NoError(t, err)
	names := slices.Collect(func(yield func(string) bool) {
		for _, s := range sums {
			yield(s.Table)
		}
	})
	assert.Equal(t, []string{"", "user", "web"}, names)
	assert.Equal(t, int64(4), sums[1].Objects)
	assert.Equal(t, int64(1), sums[1].States)
	assert.Equal(t, int64(2), sums[0].Objects, "the root table, and n")
	assert.Equal(t, int64(1), sums[0].States, "the table of y is not there any more")

	past := func(change func(*objectdb.Past)) func(*objectdb.Dump) {
		return func(d *objectdb.Dump) { d.Past = changed(d.Past, 0, change) }
	}
	for name, test := range map[string]struct {
		change func(*objectdb.Dump)
		want   string
	}{
		"a value": {func(d *objectdb.Dump) {
			d.Objects = changed(d.Objects, 3, func(o *objectdb.Past) { o.Value = objectdb.Number(3) })
		}, `in the table "user"`},
		"a place": {func(d *objectdb.Dump) {
			d.Objects = changed(d.Objects, 4, func(o *objectdb.Past) { o.Parent = 6 })
		}, `in the table "user": the original has 4 objects and 1 past states there, and the copy 1 and 0`},
		"a table": {func(d *objectdb.Dump) {
			d.Objects = changed(d.Objects, 5, func(o *objectdb.Past) { o.Version = 2 })
		}, `in the table "web"`},
		"a past state": {past(func(o *objectdb.Past) { o.Since = 0 }), `in the table "user"`},
		"a flag":       {past(func(o *objectdb.Past) { o.Thinned = true }), `in the table "user"`},
		"a hash": {past(func(o *objectdb.Past) {
			o.Hash, o.Value = objectdb.HashColumn(o.Value), nil
		}), `in the table "user"`},
		"a change": {func(d *objectdb.Dump) {
			d.Changes = changed(d.Changes, 0, func(c *objectdb.RecordedChange) { c.Objects[0].How = objectdb.Moved })
		}, "outside of all tables"},
		"a number": {func(d *objectdb.Dump) { d.LastID++ }, "outside of all tables"},
	} {
		_, err := objectdb.Transfer(small(), readAll, func() (*objectdb.Dump, error) {
			d := small()
			test.change(d)
			return d, nil
		})
		require.ErrorIs(t, err, objectdb.ErrDiffers, name)
		assert.ErrorContains(t, err, test.want, name)
	}
}

// What cannot be read is an error, and so is a copy that was not written to its end.
func TestTransferThatFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := objectdb.Transfer(small(), readAll, func() (*objectdb.Dump, error) {
		d := small()
		d.Past = func(yield func(objectdb.Past, error) bool) { yield(objectdb.Past{}, broken) }
		return d, nil
	})
	require.ErrorIs(t, err, broken)
	_, err = objectdb.Transfer(small(), func(*objectdb.Dump) error { return nil }, nil)
	require.ErrorContains(t, err, "not read to its end")
}
