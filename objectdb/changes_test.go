package objectdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func placesOf(log changeLog, from, gen int64) (list []string, ok bool) {
	ok = log.changed(from, gen, func(p place) { list = append(list, fmt.Sprint(p.parent, " ", p.fold)) })
	return list, ok
}

func at1(parent int64, fold string) written { return written{place: place{parent, fold}} }

func TestChangeLog(t *testing.T) {
	var log changeLog
	_, ok := placesOf(log, 4, 5)
	assert.False(t, ok, "a new one knows nothing")

	log = log.with(5, []written{at1(1, "a"), at1(300, "ä")})
	log = log.with(6, []written{at1(2, "b")})
	log = log.with(7, nil)
	for from, want := range map[int64][]string{5: {"1 a", "300 ä", "2 b"}, 6: {"2 b"}, 7: nil, 8: nil} {
		list, ok := placesOf(log, from, 8)
		assert.True(t, ok, from)
		assert.Equal(t, want, list, from)
	}
	_, ok = placesOf(log, 4, 8)
	assert.False(t, ok, "what was before it is not known")
	_, ok = placesOf(log, 5, 9)
	assert.False(t, ok, "somebody has raised the generation and said nothing")
	list, ok := placesOf(log.with(20, []written{at1(3, "c")}), 20, 21)
	assert.True(t, ok)
	assert.Equal(t, []string{"3 c"}, list)
	_, ok = placesOf(log.with(20, []written{at1(3, "c")}), 8, 21)
	assert.False(t, ok)
}

func TestChangeLogIsBounded(t *testing.T) {
	var log changeLog
	for gen := range int64(5000) {
		log = log.with(gen, []written{at1(gen, strings.Repeat("x", int(gen)%256))})
		assert.LessOrEqual(t, len(log), changeLogBytes)
	}
	list, ok := placesOf(log, 4995, 5000)
	assert.True(t, ok)
	assert.Len(t, list, 5)
	_, ok = placesOf(log, 4000, 5000)
	assert.False(t, ok)

	var many []written
	for i := range int64(1000) {
		many = append(many, at1(i, "name"))
	}
	log = log.with(5000, many)
	assert.Less(t, len(log), 10)
	_, ok = placesOf(log, 5000, 5001)
	assert.False(t, ok)
	list, ok = placesOf(log.with(5001, many[:1]), 5001, 5002)
	assert.True(t, ok)
	assert.Equal(t, []string{"0 name"}, list)
}

func FuzzChangeLog(f *testing.F) {
	f.Add([]byte(changeLog(nil).with(5, []written{at1(1, "a")})), int64(5))
	f.Add([]byte{0, 1, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1, 1}, int64(0))
	f.Fuzz(func(t *testing.T, log []byte, gen int64) {
		if gen < 0 || gen > 1<<60 {
			return
		}
		calls := 0
		if !changeLog(log).changed(gen, gen+1, func(place) { calls++ }) {
			require.Zero(t, calls)
		}
		next := changeLog(log).with(gen, []written{at1(7, "x")})
		list, ok := placesOf(next, gen, gen+1)
		require.True(t, ok)
		require.Equal(t, []string{"7 x"}, list)
	})
}

// Another process writes one object: what is known of the others stays known.
func TestTheCacheForgetsOnlyWhatOthersChanged(t *testing.T) {
	db := open(t)
	put(t, db, "a.x", Number(1), "a.y", Number(1), "b.x", Number(1), "b.t.x", Number(1))
	other, err := Open(db.Path(), patient)
	require.NoError(t, err)
	defer other.Close()
	made := 0
	b := NewDerived(func(tx *Tx) (Value, error) { made++; return tx.Get(Address{"b", "x"}) })
	misses := func() (n uint64) {
		view(t, db, func(tx *Tx) {
			for _, a := range []string{"a.x", "a.y", "b.x", "b.t.x"} {
				_, err := tx.Get(addr(t, a))
				require.True(t, err == nil || errors.Is(err, ErrNotFound))
			}
			require.NotEmpty(t, names(t, tx, "b"))
			_, err := b.Get(tx)
			require.NoError(t, err)
			n = tx.misses
		})
		return n
	}
	misses()
	require.Zero(t, misses())
	made = 0
	change := func(fn func(tx *Tx) error) {
		t.Helper()
		require.NoError(t, other.Update(context.Background(), fn))
	}
	for _, test := range []struct {
		what   string
		do     func(tx *Tx) error
		misses uint64
		made   int
	}{
		{"a value", func(tx *Tx) error { return tx.Put(Address{"a", "x"}, Number(2)) }, 1, 0},
		{"a new name: its table was written too", func(tx *Tx) error { return tx.Put(Address{"a", "new"}, Number(2)) }, 1, 0},
		{"a name goes", func(tx *Tx) error { return tx.Delete(Address{"a", "y"}) }, 2, 0},
		{"what a value was made of, in a table that is listed", func(tx *Tx) error { return tx.Put(Address{"b", "x"}, Number(2)) }, 2, 1},
		{"a table moves", func(tx *Tx) error { return tx.Move(Address{"b"}, Address{"c"}) }, 0, 0},
		{"and comes back", func(tx *Tx) error { return tx.Move(Address{"c"}, Address{"b"}) }, 2, 1},
	} {
		made = 0
		change(test.do)
		if test.what == "a table moves" {
			continue // not looked at before it is back
		}
		assert.Equal(t, test.misses, misses(), test.what)
		assert.Equal(t, test.made, made, test.what)
		assert.Zero(t, misses(), test.what)
		requireCacheTrue(t, db)
	}
}
