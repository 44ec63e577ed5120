package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

var (
	ada     = objectdb.Origin{Person: true, Who: "ada", Why: "scripter put"}
	visitor = objectdb.Origin{Who: "carol", Why: "POST", Path: "/guestbook.fcgi"}
)

// past is a root for tests of its history, with a clock and rules that a test may change.
type past struct {
	*T
	*objectdb.DB
	clock time.Time
	rules objectdb.HistoryRules
}

func openPast(t *T) *past {
	p := &past{T: t, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), rules: objectdb.DefaultHistory}
	o := Patient
	o.Now = func() time.Time { return p.clock }
	o.History = func(*objectdb.Tx) (*objectdb.HistoryRules, error) { return &p.rules, nil }
	p.DB = openWith(t, o)
	return p
}

// do runs a transaction, and returns the generation that it has made.
func (p *past) do(o objectdb.Origin, fn func(*objectdb.Tx)) int64 {
	p.Helper()
	p.clock = p.clock.Add(time.Minute)
	Update(p.T, p.DB, func(tx *objectdb.Tx) { tx.Origin = o; fn(tx) })
	return p.generation()
}

func (p *past) generation() (generation int64) {
	View(p.T, p.DB, func(tx *objectdb.Tx) { generation = Must(tx.GenerationAt(p.clock.Add(time.Hour)))(p.T) })
	return generation
}

// put puts a value with do.
func (p *past) put(o objectdb.Origin, a string, v objectdb.Value) int64 {
	p.Helper()
	return p.do(o, func(tx *objectdb.Tx) { require.NoError(p.T, tx.Put(Addr(p.T, a), v)) })
}

func (p *past) delete(o objectdb.Origin, a string) int64 {
	p.Helper()
	return p.do(o, func(tx *objectdb.Tx) { require.NoError(p.T, tx.Delete(Addr(p.T, a))) })
}

// then returns the value at an address as a generation left it, or nil if nothing was there. If
// the value is inexact, later is the generation that wrote it.
func (p *past) then(generation int64, a string) (v objectdb.Value, later int64) {
	p.Helper()
	db := p.At(generation, func(_, written int64) { later = written })
	View(p.T, db, func(tx *objectdb.Tx) {
		var err error
		if v, err = tx.Get(Addr(p.T, a)); !errors.Is(err, objectdb.ErrNotFound) {
			require.NoError(p.T, err)
		}
	})
	return v, later
}

// was requires the value that an object had.
func (p *past) was(generation int64, a string, want objectdb.Value) {
	p.Helper()
	v, later := p.then(generation, a)
	if want == nil {
		require.Nil(p.T, v)
		return
	}
	require.NotNil(p.T, v, "%s in %d", a, generation)
	RequireEqual(p.T, want, v)
	require.Zero(p.T, later)
}

func (p *past) undo(o objectdb.UndoOptions, changes ...int64) (done objectdb.Undone, err error) {
	p.Helper()
	p.clock = p.clock.Add(time.Minute)
	err = p.Update(context.Background(), func(tx *objectdb.Tx) (err error) {
		tx.Origin = ada
		done, err = tx.Undo(changes, o)
		return err
	})
	return done, err
}

func (p *past) refused(changes ...int64) string {
	p.Helper()
	before := p.generation()
	_, err := p.undo(objectdb.UndoOptions{}, changes...)
	conflict := new(objectdb.UndoConflict)
	require.ErrorAs(p.T, err, &conflict)
	require.Equal(p.T, before, p.generation(), "nothing was written")
	return err.Error()
}

// changesOf returns the changes of what is or was at an address.
func (p *past) changesOf(a string) (list []int64) {
	p.Helper()
	View(p.T, p.DB, func(tx *objectdb.Tx) {
		list = Must(tx.ChangesOf(Must(tx.IDsAt(Addr(p.T, a)))(p.T)))(p.T)
	})
	return list
}

func n(f float64) objectdb.Value { return objectdb.Number(f) }

func s(text string) objectdb.Value { return objectdb.String(text) }

func testChangesAreTold(t *T) {
	p := openPast(t)
	first := p.put(ada, "t.a", n(1))
	made := p.clock
	second := p.put(visitor, "t.a", n(2))
	p.put(ada, "scratchpad.x", n(1))
	gone := p.delete(ada, "t")
	View(t, p.DB, func(tx *objectdb.Tx) {
		c := Must(tx.Change(first))(t)
		assert.Equal(t, objectdb.Change{
			Generation: first, Time: made.UnixNano(), Origin: ada, First: first, Count: 2,
		}, c)
		c = Must(tx.Change(second))(t)
		assert.Equal(t, visitor, c.Origin)
		_, err := tx.Change(gone - 1)
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "scratchpad")
		_, err = tx.Change(gone + 1)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		list := func(changes iter.Seq2[objectdb.Change, error]) (list []int64) {
			for c, err := range changes {
				require.NoError(t, err)
				list = append(list, c.Generation)
			}
			return list
		}
		assert.Equal(t, []int64{gone, second, first}, list(tx.Changes(0)))
		assert.Equal(t, []int64{first}, list(tx.Changes(second)))
		assert.Equal(t, []int64{gone, first}, list(tx.PersonChanges(0)))
		assert.Equal(t, []int64{first}, list(tx.PersonChanges(gone)))

		ids := Must(tx.IDsAt(Addr(t, "T.A")))(t)
		require.Len(t, ids, 1, "it is found by where it was")
		assert.Equal(t, []int64{gone, second, first}, Must(tx.ChangesOf(ids))(t))
		tables := Must(tx.IDsAt(Addr(t, "t")))(t)
		below, complete, err := tx.IDsBelow(tables, 0)
		require.NoError(t, err)
		assert.Equal(t, append(tables, ids...), below)
		assert.True(t, complete)
		_, complete, err = tx.IDsBelow(tables, 1)
		require.NoError(t, err)
		assert.False(t, complete)
		for _, g := range []int64{first, second, gone} {
			for _, id := range []int64{tables[0], ids[0]} {
				is, _, err := tx.ChangedBelow(g, map[int64]bool{id: true}, 10)
				assert.NoError(t, err)
				assert.True(t, is, "%d in %d", id, g)
			}
			is, _, err := tx.ChangedBelow(g, map[int64]bool{1e9: true}, 10)
			assert.NoError(t, err)
			assert.False(t, is)
		}
		assert.Empty(t, Must(tx.IDsAt(Addr(t, "t.b")))(t))
		before := Must(tx.StateAt(ids[0], first))(t)
		assert.Equal(t, "t.a", before.Address.String())
		assert.Equal(t, objectdb.KindNumber, before.Kind)
		assert.Equal(t, first, before.Written)
		RequireEqual(t, n(2), Must(tx.ValueAt(ids[0], second))(t))
		state, err := tx.StateAt(ids[0], first-1)
		assert.NoError(t, err)
		assert.Nil(t, state)
		_, err = tx.ValueAt(ids[0], gone)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)

		var how []objectdb.How
		for o, err := range tx.ChangedObjects(gone) {
			require.NoError(t, err)
			how = append(how, o.How)
			assert.NotNil(t, o.Before)
			assert.Nil(t, o.After)
		}
		assert.Equal(t, []objectdb.How{objectdb.Deleted, objectdb.Deleted}, how)

		assert.Equal(t, first, Must(tx.GenerationAt(made))(t))
		assert.Equal(t, first, Must(tx.GenerationAt(made.Add(59*time.Second)))(t))
		assert.Equal(t, second, Must(tx.GenerationAt(made.Add(time.Minute)))(t))
		for _, before := range []time.Time{made.Add(-time.Hour), {}} {
			_, err = tx.GenerationAt(before)
			assert.ErrorIs(t, err, objectdb.ErrReach)
		}
		assert.Equal(t, gone, Must(tx.GenerationAt(time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)))(t))
	})
	p.was(first-1, "t.a", nil)
	p.was(first, "t.a", n(1))
	p.was(second, "T.A", n(2))
	p.was(gone, "t.a", nil)
}

func testAFlushMakesPartsOfOneChange(t *T) {
	p := openPast(t)
	p.put(ada, "a", s("before"))
	last := p.do(ada, func(tx *objectdb.Tx) {
		for _, v := range []string{"1", "2", "3"} {
			require.NoError(t, tx.Put(Addr(t, "a"), s(v)))
			require.NoError(t, tx.Put(Addr(t, "made"+v), s(v)))
			if v != "3" {
				require.NoError(t, tx.Flush())
			}
		}
	})
	View(t, p.DB, func(tx *objectdb.Tx) {
		for g := last - 2; g <= last; g++ {
			assert.Equal(t, last-2, Must(tx.Change(g))(t).First)
		}
	})
	p.was(last-1, "a", s("2"))
	for _, g := range []int64{last, last - 1, last - 2} {
		done, err := p.undo(objectdb.UndoOptions{}, g)
		require.NoError(t, err)
		assert.Equal(t, []int64{last, last - 1, last - 2}, done.Changes)
		assert.Equal(t, 3, done.Removed)
		RequireEqual(t, s("before"), Get(t, p.DB, "a"))
		View(t, p.DB, func(tx *objectdb.Tx) { assert.Equal(t, "a", Names(t, tx, "")) })
		_, err = p.undo(objectdb.UndoOptions{}, p.generation())
		require.NoError(t, err)
		RequireEqual(t, s("3"), Get(t, p.DB, "a"))
	}
}

// Of the values that requests overwrite, one in an hour is kept. A later value is used where one
// was not kept.
func testRequestsAreThinned(t *T) {
	p := openPast(t)
	generations := map[int64]float64{}
	for i := range 300 { // five hours
		generations[p.put(visitor, "counter", n(float64(i)))] = float64(i)
	}
	assert.LessOrEqual(t, len(p.changesOf("counter")), 7)
	exact := 0
	for g, want := range generations {
		v, later := p.then(g, "counter")
		require.NotNil(t, v)
		if later == 0 {
			exact++
			RequireEqual(t, n(want), v)
		} else {
			require.Greater(t, later, g)
			RequireEqual(t, n(generations[later]), v)
		}
	}
	assert.GreaterOrEqual(t, exact, 5)

	// What a person overwrites is kept, whenever it was written.
	before := p.put(visitor, "counter", n(1000))
	by := p.put(ada, "counter", n(2000))
	p.put(visitor, "counter", n(3000))
	p.was(before, "counter", n(1000))
	p.was(by, "counter", n(2000))

	// Scripts, texts and outlines are kept.
	for _, v := range []objectdb.Value{objectdb.Script("return 1"), objectdb.Text("1"), objectdb.Outline("1")} {
		first := p.put(visitor, "code", v)
		second := p.put(visitor, "code", v)
		third := p.delete(visitor, "code")
		p.was(first, "code", v)
		p.was(second, "code", v)
		p.was(third, "code", nil)
		assert.Equal(t, []int64{third, second, first}, p.changesOf("code")[:3])
	}
}

// What a request deletes can be restored, even if an old value of it was kept within the hour.
func testDeletedObjectsAreKept(t *T) {
	p := openPast(t)
	for i := range 5 {
		p.put(visitor, "t.counter", n(float64(i)))
		p.put(visitor, "t.u.counter", n(float64(i)))
		p.put(visitor, "single", n(float64(i)))
	}
	for _, a := range []string{"t", "single"} {
		g := p.delete(visitor, a)
		_, err := p.undo(objectdb.UndoOptions{}, g)
		require.NoError(t, err)
	}
	for _, a := range []string{"t.counter", "t.u.counter", "single"} {
		RequireEqual(t, n(4), Get(t, p.DB, a))
	}
}

func testSubtreesHaveRules(t *T) {
	p := openPast(t)
	p.rules.Subtrees = []objectdb.SubtreeRule{
		{Address: Addr(t, "none"), Keep: objectdb.KeepNone},
		{Address: Addr(t, "None.All"), Keep: objectdb.KeepEverything},
		{Address: Addr(t, "none.all.else.where"), Keep: objectdb.KeepAsElsewhere},
	}
	for _, o := range []objectdb.Origin{ada, visitor} {
		first := p.put(o, "none.x", s("1"))
		p.put(o, "none.all.x", s("1"))
		p.put(o, "none.all.else.where.x", s("1"))
		second := p.put(o, "none.x", s("2"))
		v, later := p.then(first, "none.x")
		RequireEqual(t, s("2"), v)
		assert.Equal(t, second, later)
		for i := range 5 {
			g := p.put(o, "none.all.x", n(float64(i)))
			p.put(o, "none.all.x", s("later"))
			p.was(g, "none.all.x", n(float64(i)))
		}
		p.put(o, "none.all.else.where.x", s("2"))
		second = p.put(o, "none.all.else.where.x", s("3"))
		third := p.put(o, "none.all.else.where.x", s("4"))
		if o.Person {
			p.was(second, "none.all.else.where.x", s("3"))
		} else {
			_, later := p.then(second, "none.all.else.where.x")
			assert.Equal(t, third, later)
		}
		gone := p.delete(o, "none")
		View(t, p.DB, func(tx *objectdb.Tx) {
			var kept []string
			for c, err := range tx.ChangedObjects(gone) {
				require.NoError(t, err)
				state := Must(tx.StateAt(c.ID, gone-1))(t)
				kept = append(kept, state.Address.Name())
			}
			slices.Sort(kept)
			assert.Equal(t, []string{"all", "else", "where", "x", "x"}, kept, "%+v", o)
		})
	}

	p.rules.Subtrees = []objectdb.SubtreeRule{{Address: Addr(t, "t.code"), Large: true}}
	p.put(visitor, "t.code", objectdb.Script("return 1"))
	lasting := func() int64 {
		info := Must(p.DB.HistoryInfo(context.Background()))(t)
		return info.Objects - info.ThinnedObjects
	}
	before := lasting()
	p.delete(visitor, "t")
	assert.Equal(t, before+1, lasting(), "a script that has a rule is not thinned")
}

// What a transaction moves out of a table that it deletes stays, whatever rules there are.
func testARuledObjectIsMovedOutOfADeletedTable(t *T) {
	p := openPast(t)
	p.rules.Subtrees = []objectdb.SubtreeRule{
		{Address: Addr(t, "a.b"), Keep: objectdb.KeepNone}, {Address: Addr(t, "a.b.c"), Keep: objectdb.KeepEverything},
	}
	for _, out := range []string{"a.b", "a.b.c"} {
		p.put(ada, "a.b.c.v", n(1))
		p.do(ada, func(tx *objectdb.Tx) {
			require.NoError(t, tx.Move(Addr(t, out), Addr(t, "z")))
			require.NoError(t, tx.Delete(Addr(t, "a")))
		})
		v := map[string]string{"a.b": "z.c.v", "a.b.c": "z.v"}[out]
		RequireEqual(t, n(1), Get(t, p.DB, v))
		p.delete(ada, "z")
	}
}

func testOnlyAHashIsKeptOfLargeValues(t *T) {
	p := openPast(t)
	p.rules.Whole = 100
	p.rules.Subtrees = []objectdb.SubtreeRule{{Address: Addr(t, "whole"), Large: true}}
	large := objectdb.Binary{Type: "image/png", Data: strings.Repeat("x", 101)}
	first := p.put(ada, "large", large)
	p.put(ada, "whole.large", large)
	moved := p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "large"), Addr(t, "t.moved"))) })
	_, err := p.undo(objectdb.UndoOptions{}, moved)
	require.NoError(t, err, "the value was not changed")
	RequireEqual(t, large, Get(t, p.DB, "large"))
	other := large
	other.Data = strings.Repeat("y", 101)
	written := p.put(ada, "large", other)
	whole := p.put(ada, "whole.large", other)
	View(t, p.DB, func(tx *objectdb.Tx) {
		id := Must(tx.IDsAt(Addr(t, "large")))(t)[0]
		state := Must(tx.StateAt(id, first))(t)
		assert.Equal(t, int64(101), state.Size)
		assert.Equal(t, "image/png", state.Type)
		assert.Equal(t, objectdb.HashColumn(large), state.Hash)
		_, err := tx.ValueAt(id, first)
		assert.ErrorIs(t, err, objectdb.ErrNotKept)
	})
	View(t, p.At(first, nil), func(tx *objectdb.Tx) {
		_, err := tx.Get(Addr(t, "large"))
		assert.ErrorIs(t, err, objectdb.ErrNotKept)
		assert.Equal(t, "large", Names(t, tx, ""))
	})
	assert.Contains(t, p.refused(written), "large cannot get its old value back: only its length of 101 bytes and a hash")
	p.put(ada, "large", large)
	_, err = p.undo(objectdb.UndoOptions{}, written)
	require.NoError(t, err, "it has the value again")
	p.was(whole-1, "whole.large", large)
	_, err = p.undo(objectdb.UndoOptions{}, whole)
	require.NoError(t, err)
	RequireEqual(t, large, Get(t, p.DB, "whole.large"))
	deleted := p.delete(ada, "large")
	assert.Contains(t, p.refused(deleted), "large cannot get its old value back")
}

func testUndo(t *T) {
	p := openPast(t)
	p.put(ada, "t.a", s("1"))
	written := p.put(visitor, "t.a", s("2"))
	made := p.put(ada, "t.new.x", n(1))
	moved := p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "t.a"), Addr(t, "T.A"))) })
	deleted := p.delete(ada, "t.new")

	done, err := p.undo(objectdb.UndoOptions{}, deleted)
	require.NoError(t, err)
	assert.Equal(t, objectdb.Undone{Changes: []int64{deleted}, Restored: 2}, done)
	View(t, p.DB, func(tx *objectdb.Tx) {
		assert.Equal(t, []int64{deleted}, Must(tx.Change(p.generation()))(t).Undoes)
	})
	done, err = p.undo(objectdb.UndoOptions{}, moved)
	require.NoError(t, err)
	assert.Equal(t, 1, done.Changed)
	View(t, p.DB, func(tx *objectdb.Tx) { assert.Equal(t, "a new", Names(t, tx, "t")) })
	done, err = p.undo(objectdb.UndoOptions{}, made)
	require.NoError(t, err)
	assert.Equal(t, 2, done.Removed)
	done, err = p.undo(objectdb.UndoOptions{}, written)
	require.NoError(t, err)
	assert.Equal(t, 1, done.Changed)
	RequireEqual(t, s("1"), Get(t, p.DB, "t.a"))

	// A later change of the same object.
	first := p.put(ada, "t.a", s("3"))
	later := p.put(ada, "t.a", s("4"))
	assert.Equal(t, "t.a was written since (change "+decimal(later)+")", p.refused(first))
	p.put(ada, "t.a", s("3"))
	_, err = p.undo(objectdb.UndoOptions{}, first)
	require.NoError(t, err, "it is again what the change had made of it")
	gone := p.delete(ada, "t.a")
	assert.Equal(t, "t.a was deleted since (change "+decimal(gone)+")", p.refused(first))
	p.put(ada, "t.a", s("another"))
	assert.Contains(t, p.refused(gone), "t.a is now at the place of a, which would be restored")
	table := p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.NewTable(Addr(t, "u"))) })
	p.put(ada, "u.x", n(1))
	assert.Contains(t, p.refused(table), "u.x lies in u, which would be deleted")
	in := p.delete(ada, "u.x")
	p.delete(ada, "u")
	assert.Contains(t, p.refused(in), "u.x has no table to be restored to")
	_, err = p.undo(objectdb.UndoOptions{}, 999)
	assert.ErrorIs(t, err, objectdb.ErrNotFound)
	err = p.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Undo([]int64{in}, objectdb.UndoOptions{})
		return err
	})
	assert.ErrorIs(t, err, objectdb.ErrReadOnly)
}

func decimal(g int64) string { return strconv.FormatInt(g, 10) }

func testUndoOfSeveralChanges(t *T) {
	p := openPast(t)
	p.put(ada, "t.a", s("1"))
	before := p.generation()
	second := p.put(ada, "t.a", s("2"))
	deleted := p.delete(ada, "t")
	_, err := p.undo(objectdb.UndoOptions{}, second, deleted)
	require.NoError(t, err, "in whatever order they are named")
	RequireEqual(t, s("1"), Get(t, p.DB, "t.a"))
	undone := p.generation()
	_, err = p.undo(objectdb.UndoOptions{}, undone, deleted)
	require.NoError(t, err, "what the one brings back is what the other had deleted")
	RequireEqual(t, s("2"), Get(t, p.DB, "t.a"))
	_, err = p.undo(objectdb.UndoOptions{}, p.generation(), undone, deleted, second)
	require.NoError(t, err)
	RequireEqual(t, s("1"), Get(t, p.DB, "t.a"))
	View(t, p.DB, func(tx *objectdb.Tx) {
		now := Must(tx.Find(Addr(t, "t.a")))(t)
		View(t, p.At(before, nil), func(tx *objectdb.Tx) {
			assert.Equal(t, now.ID(), Must(tx.Find(Addr(t, "t.a")))(t).ID(), "it is the same object")
		})
	})
}

// Tables that have changed places with what was in them go back.
func testUndoOfMovesOfTables(t *T) {
	p := openPast(t)
	p.put(ada, "y.t.x.v", n(1))
	turned := p.do(ada, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Move(Addr(t, "y.t.x"), Addr(t, "x")))
		require.NoError(t, tx.Move(Addr(t, "y"), Addr(t, "x.y")))
	})
	RequireEqual(t, n(1), Get(t, p.DB, "x.v"))
	_, err := p.undo(objectdb.UndoOptions{}, turned)
	require.NoError(t, err)
	RequireEqual(t, n(1), Get(t, p.DB, "y.t.x.v"))

	swapped := p.do(ada, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "w"), n(2)))
		require.NoError(t, tx.Move(Addr(t, "y"), Addr(t, "h")))
		require.NoError(t, tx.Move(Addr(t, "w"), Addr(t, "Y")))
		require.NoError(t, tx.Move(Addr(t, "h"), Addr(t, "w")))
	})
	_, err = p.undo(objectdb.UndoOptions{}, swapped)
	require.NoError(t, err)
	View(t, p.DB, func(tx *objectdb.Tx) { assert.Equal(t, "y", Names(t, tx, "")) })

	p.put(ada, "a.b.v", n(1))
	out := p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "a.b"), Addr(t, "b"))) })
	p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "a"), Addr(t, "b.a"))) })
	assert.Contains(t, p.refused(out), "b would lie below itself")
}

func testUndoOnlyAndMerge(t *T) {
	p := openPast(t)
	p.put(ada, "a.x", objectdb.Text("1"))
	both := p.do(ada, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "a.x"), objectdb.Text("2")))
		require.NoError(t, tx.Put(Addr(t, "b.x"), n(1)))
	})
	_, err := p.undo(objectdb.UndoOptions{Only: []objectdb.Address{Addr(t, "B")}}, both)
	require.NoError(t, err)
	RequireEqual(t, objectdb.Text("2"), Get(t, p.DB, "a.x"))
	View(t, p.DB, func(tx *objectdb.Tx) { assert.Equal(t, "a", Names(t, tx, "")) })

	p.put(visitor, "a.x", objectdb.Text("3"))
	assert.Contains(t, p.refused(both), "a.x was written since")
	done, err := p.undo(objectdb.UndoOptions{
		Merge: func(a objectdb.Address, before, after, theirs objectdb.Value) (objectdb.Value, error) {
			assert.Equal(t, "a.x", a.String())
			RequireEqual(t, objectdb.Text("1"), before)
			RequireEqual(t, objectdb.Text("2"), after)
			RequireEqual(t, objectdb.Text("3"), theirs)
			return objectdb.Text("1 and 3"), nil
		},
	}, both)
	require.NoError(t, err)
	assert.Equal(t, []objectdb.Address{Addr(t, "a.x")}, done.Merged)
	RequireEqual(t, objectdb.Text("1 and 3"), Get(t, p.DB, "a.x"))
	_, err = p.undo(objectdb.UndoOptions{
		Merge: func(objectdb.Address, objectdb.Value, objectdb.Value, objectdb.Value) (objectdb.Value, error) {
			return nil, errors.New("line 1 differs")
		},
	}, both)
	assert.ErrorContains(t, err, "a.x cannot be merged: line 1 differs")
}

// Undo does not use a later value in place of one that was not kept.
func testUndoOfWhatWasNotKept(t *T) {
	p := openPast(t)
	p.put(visitor, "n", n(1))
	kept := p.put(visitor, "n", n(2))
	p.put(visitor, "n", n(3))
	assert.Contains(t, p.refused(kept), "n was written since", "though n is as the history has it in that change")
	p.delete(visitor, "n")
	assert.Contains(t, p.refused(kept), "n was deleted since")

	p.rules.Interval = 0
	p.rules.Bounds.Thinned = time.Hour
	script, long := objectdb.Script("return 1"), p.clock
	p.put(visitor, "a", n(1))
	p.put(visitor, "d", n(1))
	moved := p.do(visitor, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Move(Addr(t, "a"), Addr(t, "b")))
		require.NoError(t, tx.Put(Addr(t, "script1"), script))
	})
	written := p.do(visitor, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "b"), n(2)))
		require.NoError(t, tx.Put(Addr(t, "script2"), script))
	})
	deleted := p.do(visitor, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(Addr(t, "d")))
		require.NoError(t, tx.Put(Addr(t, "script3"), script))
	})
	p.clock = long.Add(48 * time.Hour)
	p.put(visitor, "script4", script) // thins
	assert.Contains(t, p.refused(moved), "b cannot be moved back: its old state is no longer kept")
	assert.Contains(t, p.refused(written), "b cannot get its old value back: its old state is no longer kept")
	assert.Regexp(t, `^object \d+ cannot be restored: its old state is no longer kept`, p.refused(deleted))
	v, later := p.then(moved, "b")
	RequireEqual(t, n(2), v)
	assert.Equal(t, written, later)
	p.was(moved, "script1", script)
}

func testWhatIsUndoneNext(t *T) {
	p := openPast(t)
	p.put(visitor, "x", n(1))
	undoable := func() (g int64) {
		View(t, p.DB, func(tx *objectdb.Tx) {
			var err error
			if g, err = tx.LastUndoable(); !errors.Is(err, objectdb.ErrNothingToUndo) {
				require.NoError(t, err)
			}
		})
		return g
	}
	redoable := func() (g int64) {
		View(t, p.DB, func(tx *objectdb.Tx) {
			var err error
			if g, err = tx.LastRedoable(); !errors.Is(err, objectdb.ErrNothingToUndo) {
				require.NoError(t, err)
			}
		})
		return g
	}
	undo := func(g int64) int64 {
		_, err := p.undo(objectdb.UndoOptions{}, g)
		require.NoError(t, err)
		return p.generation()
	}
	assert.Zero(t, undoable())
	first := p.put(ada, "a", n(1))
	second := p.put(ada, "b", n(1))
	p.put(visitor, "x", n(2))
	assert.Equal(t, second, undoable())
	assert.Zero(t, redoable())
	undone := undo(second)
	assert.Equal(t, first, undoable())
	assert.Equal(t, undone, redoable())
	undone1 := undo(first)
	assert.Zero(t, undoable())
	assert.Equal(t, undone1, redoable())
	undo(undone1) // redo
	assert.Equal(t, first, undoable())
	assert.Equal(t, undone, redoable())
	undo(undone)
	assert.Equal(t, second, undoable())
	assert.Zero(t, redoable())
	RequireEqual(t, n(1), Get(t, p.DB, "b"))
	third := p.put(ada, "c", n(1))
	assert.Zero(t, redoable())
	same := p.put(ada, "c", n(1))
	assert.Equal(t, same, undoable())
	undone = undo(same)
	assert.Equal(t, third, undoable(), "it goes on, though there was nothing to do")
	View(t, p.DB, func(tx *objectdb.Tx) { assert.Zero(t, Must(tx.Change(undone))(t).Count) })
}

// An undo within an attempt that fails leaves no trace.
func testUndoInAFailedAttempt(t *T) {
	p := openPast(t)
	p.put(ada, "t.a", n(1))
	deleted := p.delete(ada, "t")
	last := p.do(ada, func(tx *objectdb.Tx) {
		require.Equal(t, errUndone, tx.Try(func() error {
			_, err := tx.Undo([]int64{deleted}, objectdb.UndoOptions{})
			require.NoError(t, err)
			require.NoError(t, tx.Put(Addr(t, "t.a"), n(2)))
			return errUndone
		}))
		require.NoError(t, tx.Put(Addr(t, "x"), n(1)))
	})
	View(t, p.DB, func(tx *objectdb.Tx) {
		assert.Empty(t, Must(tx.Change(last))(t).Undoes)
		assert.Equal(t, "x", Names(t, tx, ""))
	})
	// What comes back can be written, moved and deleted at once.
	p.do(ada, func(tx *objectdb.Tx) {
		_, err := tx.Undo([]int64{deleted}, objectdb.UndoOptions{})
		require.NoError(t, err)
		require.NoError(t, tx.Put(Addr(t, "t.a"), n(3)))
		require.NoError(t, tx.Put(Addr(t, "t.b"), n(4)))
		require.NoError(t, tx.Move(Addr(t, "t"), Addr(t, "u")))
		assert.Equal(t, "a b", Names(t, tx, "u"))
		require.NoError(t, tx.Delete(Addr(t, "x")))
	})
	RequireEqual(t, n(3), Get(t, p.DB, "u.a"))
	p.do(ada, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(Addr(t, "u")))
		_, err := tx.Undo([]int64{deleted}, objectdb.UndoOptions{})
		require.NoError(t, err, "only this transaction has deleted it since")
		require.NoError(t, tx.Delete(Addr(t, "t")))
	})
	View(t, p.DB, func(tx *objectdb.Tx) { assert.Empty(t, Names(t, tx, "")) })
}

// A restored table lacks the objects that were not kept, in the caches of all processes too.
func testTablesThatComeBack(t *T) {
	p := openPast(t)
	p.rules.Subtrees = []objectdb.SubtreeRule{{Address: Addr(t, "t.x"), Keep: objectdb.KeepNone}}
	other, err := t.Open(p.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	p.put(ada, "t.x", n(1))
	p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.NewTable(Addr(t, "empty"))) })
	for _, db := range []*objectdb.DB{p.DB, other} {
		RequireEqual(t, n(1), Get(t, db, "t.x"))
		View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "x", Names(t, tx, "t")) })
	}
	for range 3 {
		gone := p.delete(ada, "t")
		done, err := p.undo(objectdb.UndoOptions{}, gone)
		require.NoError(t, err)
		assert.Equal(t, 1, done.Restored)
		for _, db := range []*objectdb.DB{p.DB, other} {
			View(t, db, func(tx *objectdb.Tx) {
				assert.Empty(t, Names(t, tx, "t"))
				_, err := tx.Get(Addr(t, "t.x"))
				assert.ErrorIs(t, err, objectdb.ErrNotFound)
			})
			requireCacheTrue(t, db)
		}
		p.put(ada, "t.x", n(2))
	}
}

func testThePastCannotBeChanged(t *T) {
	p := openPast(t)
	first := p.put(ada, "t.a", n(1))
	p.put(ada, "t.a", n(2))
	readOnly, err := t.Open(p.Path(), objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer readOnly.Close()
	for _, db := range []*objectdb.DB{p.DB, readOnly} {
		then := db.At(first, nil)
		for _, run := range []func(context.Context, func(*objectdb.Tx) error) error{then.Update, then.Update} {
			seen := false
			err := run(context.Background(), func(tx *objectdb.Tx) error {
				RequireEqual(t, n(1), Must(tx.Get(Addr(t, "t.a")))(t))
				require.NoError(t, tx.Put(Addr(t, "t.a"), n(3)))
				require.NoError(t, tx.Put(Addr(t, "t.b"), n(3)))
				require.NoError(t, tx.Move(Addr(t, "t"), Addr(t, "u")))
				assert.Equal(t, "a b", Names(t, tx, "u"))
				seen = true
				return nil
			})
			require.ErrorIs(t, err, objectdb.ErrReadOnly)
			require.True(t, seen)
		}
		err := then.UpdateLocked(context.Background(), func(*objectdb.Tx) error { return nil })
		require.ErrorIs(t, err, objectdb.ErrReadOnly)
		_, err = then.Forget(context.Background(), Addr(t, "t"))
		require.ErrorIs(t, err, objectdb.ErrReadOnly)
		_, err = then.Save(context.Background(), objectdb.SaveOptions{})
		require.ErrorIs(t, err, objectdb.ErrReadOnly)
		RequireEqual(t, n(1), Get(t, then, "t.a"))
		require.NoError(t, then.Close())
		RequireEqual(t, n(2), Get(t, db, "t.a"))
		err = db.At(first+2, nil).View(context.Background(), func(*objectdb.Tx) error { return nil })
		require.ErrorIs(t, err, objectdb.ErrReach)
		require.ErrorContains(t, err, "there is no change "+decimal(first+2)+" yet")
	}
}

func testForget(t *T) {
	p := openPast(t)
	p.put(ada, "t.secret", s("1"))
	second := p.put(ada, "t.secret", s("2"))
	p.put(ada, "t.other", s("1"))
	third := p.put(ada, "t.other", s("2"))
	moved := p.do(ada, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "t.secret"), Addr(t, "t.at"))) })
	p.put(ada, "t.at", s("3"))
	gone := p.delete(ada, "t.at")
	_, err := p.undo(objectdb.UndoOptions{}, gone)
	require.NoError(t, err)
	back := p.generation()
	info := Must(p.HistoryInfo(context.Background()))(t)
	f, err := p.Forget(context.Background(), Addr(t, "T.Secret"))
	require.NoError(t, err)
	assert.Equal(t, int64(4), f.Objects)
	now := Must(p.HistoryInfo(context.Background()))(t)
	assert.Equal(t, info.Objects-f.Objects, now.Objects)
	assert.Equal(t, info.Bytes-f.Bytes, now.Bytes)
	assert.Equal(t, back, p.generation(), "it is no change")
	for g := second; g < back; g++ {
		p.was(g, "t.secret", nil)
		p.was(g, "t.at", nil)
	}
	p.was(back, "t.at", s("3"))
	p.was(third-1, "t.other", s("1"))
	RequireEqual(t, s("3"), Get(t, p.DB, "t.at"))
	assert.Contains(t, p.refused(moved), "no longer kept")
	RequireSound(t, p.DB)

	// The present value is used in place of the earlier ones.
	first := p.put(ada, "x.a", s("1"))
	last := p.put(ada, "x.a", s("2"))
	_, err = p.Forget(context.Background(), Addr(t, "x"))
	require.NoError(t, err)
	v, later := p.then(first, "x.a")
	RequireEqual(t, s("2"), v)
	assert.Equal(t, last, later)
	f, err = p.Forget(context.Background(), Addr(t, "never.there"))
	require.NoError(t, err)
	assert.Zero(t, f)
}

func testHistoryHasBounds(t *T) {
	p := openPast(t)
	p.rules.Bounds = objectdb.HistoryBounds{Thinned: 24 * time.Hour, All: 240 * time.Hour, Bytes: 100_000}
	begin := p.clock
	first := p.put(ada, "a", s("1"))
	p.put(ada, "a", s("2"))
	p.put(visitor, "n", n(1))
	counted := p.put(visitor, "n", n(2))
	p.clock = p.clock.Add(2 * time.Hour)
	p.put(visitor, "n", n(3))
	p.was(counted, "n", n(2))

	p.clock = begin.Add(48 * time.Hour)
	p.put(ada, "b", n(1))
	v, later := p.then(counted, "n")
	RequireEqual(t, n(3), v)
	assert.Greater(t, later, counted, "thinned values were dropped")
	p.was(first, "a", s("1"))
	info := Must(p.HistoryInfo(context.Background()))(t)
	assert.Equal(t, int64(1), info.Reach)
	assert.Greater(t, info.Thinned, counted)

	p.clock = begin.Add(241 * time.Hour)
	last := p.put(ada, "b", n(2))
	info = Must(p.HistoryInfo(context.Background()))(t)
	assert.Greater(t, info.Reach, first)
	err := p.At(first, nil).View(context.Background(), func(*objectdb.Tx) error { return nil })
	require.ErrorIs(t, err, objectdb.ErrReach)
	require.ErrorContains(t, err, "it reaches back to change "+decimal(info.Reach))
	View(t, p.DB, func(tx *objectdb.Tx) {
		_, err := tx.GenerationAt(begin)
		assert.ErrorIs(t, err, objectdb.ErrReach)
		_, err = tx.Change(first)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
	p.was(last-1, "b", n(1))

	// Bytes: what requests overwrote goes first, and then the oldest.
	p.put(visitor, "r", s(strings.Repeat("r", 1000)))
	thinned := p.generation()
	p.put(visitor, "r", s("x"))
	for i := range 200 {
		p.put(ada, "b", s(strings.Repeat("b", 1000+i)))
		info = Must(p.HistoryInfo(context.Background()))(t)
		require.LessOrEqual(t, info.Bytes, int64(100_000+2000))
		if info.Reach > last {
			v, later := p.then(max(info.Reach, thinned), "r")
			require.NotNil(t, v)
			require.True(t, later > 0 || info.Reach > thinned)
		}
	}
	assert.Greater(t, info.Reach, last)
	RequireSound(t, p.DB)

	// A large change is dropped in parts.
	large := p.do(ada, func(tx *objectdb.Tx) {
		for i := range 5000 {
			require.NoError(t, tx.Put(objectdb.Address{"many", decimal(int64(i))}, n(1)))
		}
	})
	deleted := p.delete(ada, "many")
	p.rules.Bounds = objectdb.HistoryBounds{All: time.Hour}
	p.clock = p.clock.Add(2 * time.Hour)
	commits := 0
	for info.Objects > 1 {
		p.put(ada, "b", n(float64(commits)))
		before := info
		info = Must(p.HistoryInfo(context.Background()))(t)
		require.Less(t, before.Objects-info.Objects, int64(600))
		RequireSound(t, p.DB)
		if commits++; commits > 100 {
			break
		}
	}
	assert.Greater(t, commits, 8)
	assert.LessOrEqual(t, deleted, info.Reach)
	View(t, p.DB, func(tx *objectdb.Tx) {
		for _, g := range []int64{large, deleted} {
			_, err := tx.Change(g)
			assert.ErrorIs(t, err, objectdb.ErrNotFound)
		}
	})
}
