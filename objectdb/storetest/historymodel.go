package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// A moment is a root as one commit left it: its objects by their ids, but for the root table.
type moment map[int64]thing

type thing struct {
	parent int64
	name   string
	kind   objectdb.Kind
	value  objectdb.Value // nil: a table
	ver    int64
}

func (a thing) samePlace(b thing) bool { return a.parent == b.parent && a.name == b.name }

func (a thing) sameValue(b thing) bool {
	if a.value == nil || b.value == nil {
		return a.value == nil && b.value == nil
	}
	return objectdb.Equal(a.value, b.value)
}

func (a thing) same(b thing) bool { return a.samePlace(b) && a.sameValue(b) }

// same reports whether two moments have the same objects at the same places.
func (m moment) same(other moment) bool { return maps.EqualFunc(m, other, thing.same) }

func (m moment) address(id int64) objectdb.Address {
	a := objectdb.Address{}
	for ; id != objectdb.RootID; id = m[id].parent {
		if len(a) > len(m) {
			return nil
		}
		a = append(a, m[id].name)
	}
	slices.Reverse(a)
	return a
}

// model returns the objects by their addresses.
func (m moment) model() model {
	plain := model{}
	for id, o := range m {
		plain[key(m.address(id))] = modelObject{o.name, o.value}
	}
	return plain
}

// possible reports whether a root can be so: no two objects are at one place, and each
// lies in a table that leads to the root.
func (m moment) possible() bool {
	places := map[objectdb.Place]bool{}
	for id, o := range m {
		place := objectdb.Place{Table: o.parent, Fold: objectdb.Fold(o.name)}
		if places[place] {
			return false
		}
		places[place] = true
		for steps := 0; id != objectdb.RootID; steps++ {
			o, ok := m[id]
			if !ok || o.kind != objectdb.KindTable && steps > 0 || steps > len(m) {
				return false
			}
			id = o.parent
		}
	}
	return true
}

// read reads the moment that a transaction sees. Of what has the version that it has in
// before, the value is not read again.
func (h *historian) read(tx *objectdb.Tx, before moment) moment {
	m := moment{}
	var table func(t *objectdb.Node)
	table = func(t *objectdb.Node) {
		nodes, err := tx.Children(t)
		require.NoError(h.t, err)
		for _, n := range nodes {
			o := thing{parent: t.ID(), name: n.Name(), kind: n.Kind(), ver: n.Version()}
			if n.Kind() != objectdb.KindTable {
				if old, ok := before[n.ID()]; ok && old.ver == o.ver {
					o.value = old.value
				} else {
					o.value, err = tx.Value(n)
					require.NoError(h.t, err)
				}
			}
			m[n.ID()] = o
			if n.Kind() == objectdb.KindTable {
				table(n)
			}
		}
	}
	table(tx.Root())
	return m
}

// A historian makes random changes to a root, and keeps every moment of it.
type historian struct {
	*player
	dbs     []*objectdb.DB // of one root, as different processes have it
	options objectdb.Options
	moments map[int64]moment
	newest  int64
	parts   [][]int64 // of each transaction, its generations
	clock   time.Time
	rules   objectdb.HistoryRules
	writer  objectdb.Origin // of the last transaction
	whole   bool            // all is kept

	// The last generation that may have kept nothing of an object: of its value, and of it.
	valueLost, lost map[int64]int64
	undone, refused int
}

// historyValues are few, so that values come back.
var historyValues = []objectdb.Value{
	objectdb.Number(1), objectdb.Number(2), objectdb.String("a"), objectdb.String("b"), objectdb.Boolean(true),
	objectdb.Text("one\ntwo\n"), objectdb.Text("two\nthree\n"),
	objectdb.Script("return 1\n"), objectdb.Script("return 2\n"),
	objectdb.Outline("a\n\tb"), objectdb.List{objectdb.Number(1), objectdb.String("x")}, objectdb.Address{"a", "b"},
	objectdb.Binary{Type: "image/gif", Data: "GIF89a"}, objectdb.Binary{Type: "image/png", Data: "GIF89a"},
	objectdb.Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)},
	objectdb.String(strings.Repeat("x", int(objectdb.ListedValue)+1)),
	objectdb.Text(strings.Repeat("y", int(objectdb.WholeValue)+1)),
}

// historyVariable says how many times more random sequences the tests of the history make.
const historyVariable = "OBJECTDB_TEST_TORTURE"

func testHistoryOfRandomChanges(t *T) {
	times, _ := strconv.Atoi(os.Getenv(historyVariable))
	for seed := range t.sequences(20, 6) * uint64(max(times, 1)) {
		t.Run(fmt.Sprint(seed), func(t *T) {
			t.Parallel()
			h := newHistorian(t, seed)
			for range 25 {
				h.sequence()
			}
			for _, db := range h.dbs {
				requireCacheTrue(t, db)
			}
			t.Logf("%d undone, %d refused", h.undone, h.refused)
		})
	}
}

func newHistorian(t *T, seed uint64) *historian {
	r := rand.New(rand.NewPCG(seed, 7))
	h := &historian{
		player:  &player{t: t, r: r, m: model{}, values: historyValues},
		moments: map[int64]moment{},
		clock:   time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		whole:   seed%2 == 0,
		rules:   objectdb.HistoryRules{Interval: time.Hour, Whole: 1 << 20},

		valueLost: map[int64]int64{}, lost: map[int64]int64{},
	}
	options := objectdb.Options{
		Relaxed: true, BusyTimeout: Patience, LockTime: -1,
		Now:     func() time.Time { return h.clock },
		History: func(*objectdb.Tx) (*objectdb.HistoryRules, error) { return &h.rules, nil },
	}
	switch seed / 2 % 3 {
	case 1:
		options.CacheBytes = 4000 // hardly anything stays
	case 2:
		options.CacheBytes = -1
	}
	if !h.whole && r.IntN(2) == 0 {
		h.rules.Bounds = objectdb.HistoryBounds{Thinned: 20 * time.Hour, Bytes: int64(5000 + r.IntN(50000))}
		if r.IntN(2) == 0 {
			h.rules.Bounds.All = 100 * time.Hour
		}
	}
	db := openWith(t, options)
	other, err := t.Open(db.Path(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	h.dbs, h.options = []*objectdb.DB{db, db, other}, options
	h.flushed = func(tx *objectdb.Tx) { h.record(tx, true) }
	View(t, db, func(tx *objectdb.Tx) { h.record(tx, false) })
	return h
}

func (h *historian) story() string { return strings.Join(h.log, "\n") }

func (h *historian) db() *objectdb.DB { return h.dbs[h.r.IntN(len(h.dbs))] }

// sequence makes a few transactions, compares moments of the past, and undoes changes.
func (h *historian) sequence() {
	h.log = h.log[max(0, len(h.log)-300):]
	if !h.whole {
		h.newRules()
	}
	for range 1 + h.r.IntN(3) {
		h.transaction()
	}
	for range 2 {
		h.lookBack(h.anyGeneration())
	}
	h.lookAtChange(h.anyGeneration())
	switch h.r.IntN(4) {
	case 0:
	case 1:
		h.undoAndRedo()
	case 2:
		h.undo(h.anyGeneration())
	case 3:
		h.undo(h.anyGeneration(), h.anyGeneration(), h.newest-h.r.Int64N(min(h.newest, 3)))
	}
	if h.r.IntN(8) == 0 {
		RequireSound(h.t, h.db())
	}
}

// anyGeneration returns a generation, as a rule one of the last.
func (h *historian) anyGeneration() int64 {
	if h.r.IntN(3) > 0 {
		return max(1, h.newest-h.r.Int64N(8))
	}
	return 1 + h.r.Int64N(h.newest)
}

// newRules may give some subtrees other rules.
func (h *historian) newRules() {
	if h.r.IntN(3) > 0 {
		return
	}
	h.rules.Subtrees = nil
	for range h.r.IntN(4) {
		a := h.player.address()
		for len(a) == 0 {
			a = h.player.address()
		}
		h.rules.Subtrees = append(h.rules.Subtrees, objectdb.SubtreeRule{
			Address: a, Keep: objectdb.SubtreeKeep(h.r.IntN(3)), Large: h.r.IntN(2) == 0,
		})
	}
	h.rules.Whole = []int64{10, 2000, 1 << 20}[h.r.IntN(3)]
	h.log = append(h.log, fmt.Sprintf("rules %+v", h.rules))
}

// transaction makes a few changes, as a person or a request.
func (h *historian) transaction() {
	h.clock = h.clock.Add(time.Duration(h.r.IntN(3*3600)) * time.Second)
	db := h.db()
	h.before, h.handles = []model{h.m.clone()}, nil
	run := []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked}[h.r.IntN(2)]
	fails := h.r.IntN(8) == 0
	origin := objectdb.Origin{Person: h.whole || h.r.IntN(2) == 0, Who: "ada"}
	h.log = append(h.log, fmt.Sprintf("begin %+v", origin))
	h.parts = append(h.parts, nil)
	h.writer = origin
	err := run(context.Background(), func(tx *objectdb.Tx) error {
		tx.Origin = origin
		h.steps(tx)
		if fails {
			return errUndone
		}
		return nil
	})
	if fails {
		require.Equal(h.t, errUndone, err, h.story())
		h.m = h.before[0]
		h.log = append(h.log, "failed")
	} else {
		require.NoError(h.t, err, h.story())
	}
	View(h.t, h.db(), func(tx *objectdb.Tx) {
		h.record(tx, true)
		h.lookEverywhere(tx)
	})
}

// record keeps the moment that a transaction sees. part says that the commit was one of the
// last transaction.
func (h *historian) record(tx *objectdb.Tx, part bool) {
	generation, err := tx.GenerationAt(h.clock.Add(time.Hour))
	require.NoError(h.t, err, h.story())
	if generation == h.newest {
		return
	}
	m := h.read(tx, h.moments[h.newest])
	if h.newest > 0 {
		require.Equal(h.t, h.newest+1, generation)
		h.loses(generation, h.moments[h.newest], m)
	}
	h.moments[generation], h.newest = m, generation
	if part {
		last := len(h.parts) - 1
		h.parts[last] = append(h.parts[last], generation)
	}
	h.log = append(h.log, fmt.Sprintf("= %d", generation))
}

// loses notes what the commit that led from one moment to the next need not have kept.
func (h *historian) loses(generation int64, before, after moment) {
	for id, o := range before {
		now, there := after[id]
		if there && now.ver == o.ver {
			continue
		}
		keep := h.ruleFor(before.address(id))
		code := o.kind == objectdb.KindScript || o.kind == objectdb.KindText || o.kind == objectdb.KindOutline
		thinned := h.rules.Bounds.Thinned > 0
		switch {
		case keep == objectdb.KeepNone:
			h.valueLost[id], h.lost[id] = generation, generation
		case keep == objectdb.KeepEverything, h.writer.Person, code:
		default:
			h.valueLost[id] = generation
			if thinned || !there && o.kind != objectdb.KindTable {
				h.lost[id] = generation
			}
		}
	}
}

func (h *historian) ruleFor(a objectdb.Address) objectdb.SubtreeKeep {
	keep, longest := objectdb.KeepAsElsewhere, -1
	for _, r := range h.rules.Subtrees {
		if len(r.Address) > longest && len(r.Address) <= len(a) && key(r.Address) == key(a[:len(r.Address)]) {
			keep, longest = r.Keep, len(r.Address)
		}
	}
	return keep
}

// lookBack compares a moment of the past.
func (h *historian) lookBack(generation int64) {
	db := h.db()
	flagged := map[int64]int64{}
	past := db.At(generation, func(id, written int64) { flagged[id] = written })
	info, err := db.HistoryInfo(context.Background())
	require.NoError(h.t, err)
	if generation < info.Reach {
		require.False(h.t, h.whole)
		err := past.View(context.Background(), func(*objectdb.Tx) error { return nil })
		require.ErrorIs(h.t, err, objectdb.ErrReach, h.story())
		return
	}
	want := h.moments[generation]
	story := fmt.Sprintf("%s\nlook back at %d", h.story(), generation)
	if h.whole {
		then := &player{t: h.t, r: h.r, m: want.model(), log: []string{story}}
		View(h.t, past, func(tx *objectdb.Tx) {
			then.lookEverywhere(tx)
			then.search(tx)
			for range 10 {
				then.look(tx, h.address())
			}
			require.True(h.t, want.same(h.read(tx, nil)), story)
		})
		require.Empty(h.t, flagged, story)
		return
	}
	View(h.t, past, func(tx *objectdb.Tx) {
		found := map[int64]bool{objectdb.RootID: true}
		require.NoError(h.t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
			if len(a) > 0 {
				found[n.ID()] = true
				h.lookAtInexact(tx, generation, a, n, flagged, story)
			}
			return nil
		}))
		for id := range want {
			missing := false
			for at := id; at != objectdb.RootID; at = want[at].parent {
				missing = missing || h.lost[at] > generation
			}
			if !missing {
				require.True(h.t, found[id], "%s\nobject %d %s is missing", story, id, want.address(id))
			}
		}
	})
}

// lookAtInexact compares an object whose value may have been written later.
func (h *historian) lookAtInexact(
	tx *objectdb.Tx, generation int64, a objectdb.Address, n *objectdb.Node, flagged map[int64]int64, story string,
) {
	want, ok := h.moments[generation][n.ID()]
	story += fmt.Sprintf("\nobject %d %s, inexact: %d", n.ID(), a, flagged[n.ID()])
	require.True(h.t, ok, story)
	require.Equal(h.t, want.name, n.Name(), story)
	byName := Must(tx.Find(a))(h.t)
	require.Equal(h.t, n.ID(), byName.ID(), story)
	parent := Must(tx.Find(a.Parent()))(h.t)
	require.Equal(h.t, want.parent, parent.ID(), story)
	last, err := tx.Last(parent, objectdb.Fold(n.Name()), objectdb.Fold(n.Name())+"\x00")
	require.NoError(h.t, err, story)
	require.Equal(h.t, n.ID(), last.ID(), story)
	if n.Kind() == objectdb.KindTable {
		children := Must(tx.Children(n))(h.t)
		require.Len(h.t, children, Must(tx.Len(n))(h.t), story)
		h.lookAtPage(tx, n, children, story)
		return
	}
	if written, inexact := flagged[n.ID()]; inexact {
		require.Greater(h.t, written, generation, story)
		require.Greater(h.t, h.valueLost[n.ID()], generation, story)
		want = h.moments[written][n.ID()]
	}
	value, err := tx.Value(n)
	if errors.Is(err, objectdb.ErrNotKept) {
		require.Greater(h.t, n.Size(), int64(10), story)
		return
	}
	require.NoError(h.t, err, story)
	require.True(h.t, objectdb.Equal(want.value, value), story)
}

// lookAtChange compares what a change is said to have done.
func (h *historian) lookAtChange(generation int64) {
	View(h.t, h.db(), func(tx *objectdb.Tx) {
		c, err := tx.Change(generation)
		if errors.Is(err, objectdb.ErrNotFound) {
			if h.whole && generation > 1 {
				require.True(h.t, h.moments[generation-1].same(h.moments[generation]), h.story())
			}
			return
		}
		require.NoError(h.t, err)
		before, after := h.moments[generation-1], h.moments[generation]
		story := fmt.Sprintf("%s\nchange %+v", h.story(), c)
		listed := map[int64]bool{}
		for o, err := range tx.ChangedObjects(generation) {
			require.NoError(h.t, err, story)
			listed[o.ID] = true
			was, before := before[o.ID]
			is, after := after[o.ID]
			story := fmt.Sprintf("%s\nobject %d, how %d", story, o.ID, o.How)
			require.Equal(h.t, !before && after, o.How == objectdb.Inserted, story)
			require.Equal(h.t, before && !after, o.How == objectdb.Deleted, story)
			if o.How == objectdb.Moved {
				require.True(h.t, was.sameValue(is), story)
			}
			if o.How == objectdb.Written {
				require.True(h.t, was.samePlace(is), story)
			}
			if h.whole {
				require.Equal(h.t, before, o.Before != nil, story)
				require.Equal(h.t, after, o.After != nil, story)
				if before {
					require.True(h.t, o.Before.Address.Equal(h.moments[generation-1].address(o.ID)), story)
					require.Equal(h.t, was.kind, o.Before.Kind)
				}
			}
		}
		require.Equal(h.t, c.Count, len(listed), story)
		if h.whole {
			for id := range before {
				if o, there := after[id]; !there || !o.same(before[id]) {
					require.True(h.t, listed[id], "%s\nobject %d", story, id)
				}
			}
			for id := range after {
				if _, there := before[id]; !there {
					require.True(h.t, listed[id], "%s\nobject %d", story, id)
				}
			}
		}
	})
}

// undoAndRedo takes back the last transaction, and perhaps takes back that.
func (h *historian) undoAndRedo() {
	parts := h.parts[len(h.parts)-1]
	if len(parts) == 0 {
		return
	}
	before, after := h.moments[parts[0]-1], h.moments[h.newest]
	if !h.undo(parts[h.r.IntN(len(parts))]) {
		return
	}
	if h.whole {
		require.True(h.t, before.same(h.moments[h.newest]), h.story())
	}
	if h.r.IntN(2) == 0 && h.undo(h.newest) && h.whole {
		require.True(h.t, after.same(h.moments[h.newest]), h.story())
	}
}

// undo undoes changes and compares the result with what must come of it, or that it is
// refused and nothing is changed. It reports whether it was undone.
func (h *historian) undo(changes ...int64) bool {
	db := h.db()
	h.log = append(h.log, fmt.Sprintf("undo %d", changes))
	var list []int64
	objects := map[int64][]int64{}
	View(h.t, db, func(tx *objectdb.Tx) {
		changes = slices.DeleteFunc(changes, func(g int64) bool {
			_, err := tx.Change(g)
			return errors.Is(err, objectdb.ErrNotFound)
		})
		for _, g := range changes {
			for _, parts := range h.parts {
				if !slices.Contains(parts, g) {
					continue
				}
				for _, part := range parts {
					if _, err := tx.Change(part); err == nil {
						list = append(list, part)
					}
				}
			}
		}
		slices.Sort(list)
		list = slices.Compact(list)
		slices.Reverse(list)
		for _, g := range list {
			for o, err := range tx.ChangedObjects(g) {
				require.NoError(h.t, err)
				objects[g] = append(objects[g], o.ID)
			}
		}
	})
	if len(list) == 0 {
		return false
	}
	now := h.moments[h.newest]
	want, possible := maps.Clone(now), true
	for _, g := range list {
		possible = possible && want.takeBack(objects[g], h.moments[g-1], h.moments[g]) && want.possible()
	}
	h.clock = h.clock.Add(time.Minute)
	h.writer = objectdb.Origin{Person: h.whole || h.r.IntN(3) > 0}
	h.parts = append(h.parts, nil)
	run := []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked}[h.r.IntN(2)]
	var done objectdb.Undone
	err := run(context.Background(), func(tx *objectdb.Tx) (err error) {
		tx.Origin = h.writer
		done, err = tx.Undo(changes, objectdb.UndoOptions{})
		return err
	})
	conflict := new(objectdb.UndoConflict)
	if errors.As(err, &conflict) {
		h.log = append(h.log, "refused: "+err.Error())
	}
	story := h.story()
	for _, db := range h.dbs[1:] {
		View(h.t, db, func(tx *objectdb.Tx) {
			h.record(tx, true)
			if err == nil {
				require.True(h.t, h.read(tx, nil).same(h.moments[h.newest]), story)
			}
		})
	}
	if err != nil {
		require.ErrorAs(h.t, err, &conflict, story)
		require.NotEmpty(h.t, conflict.Objects, story)
		require.True(h.t, now.same(h.moments[h.newest]), story)
		require.False(h.t, h.whole && possible, story)
		h.refused++
		return false
	}
	require.True(h.t, possible, story)
	require.Equal(h.t, list, done.Changes)
	require.True(h.t, want.same(h.moments[h.newest]), story)
	h.m = want.model()
	h.undone++
	return true
}

// takeBack takes back what a change has done to objects, and reports whether they are
// still as it left them, or as they were before it.
func (m moment) takeBack(ids []int64, before, after moment) bool {
	stand := true
	for _, id := range ids {
		was, existed := before[id]
		is, exists := after[id]
		now, there := m[id]
		switch {
		case existed && !exists:
			if !there {
				m[id] = was
			}
		case !there:
			stand = stand && !existed
		case !existed:
			stand = stand && now.same(is)
			delete(m, id)
		default:
			stand = stand && (now.samePlace(is) || now.samePlace(was)) && (now.sameValue(is) || now.sameValue(was))
			m[id] = was
		}
	}
	return stand
}
