package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// model is a root in the plainest form: objects by folded address.
// The keys' names are joined by a byte that the names of these tests lack.
type model map[string]modelObject

type modelObject struct {
	name  string
	value objectdb.Value // nil: a table
}

func key(a objectdb.Address) string {
	folded := make([]string, len(a))
	for i, name := range a {
		folded[i] = objectdb.Fold(name)
	}
	return strings.Join(folded, "\x00")
}

func (m model) clone() model {
	c := model{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (m model) find(a objectdb.Address) (modelObject, bool) {
	if len(a) == 0 {
		return modelObject{}, true
	}
	o, ok := m[key(a)]
	return o, ok
}

func below(k, parent string) bool { return strings.HasPrefix(k, parent+"\x00") }

func (m model) put(a objectdb.Address, v objectdb.Value) error {
	if len(a) == 0 {
		return objectdb.ErrIsTable
	}
	old, ok := m.find(a)
	if ok && old.value == nil {
		return objectdb.ErrIsTable
	}
	if err := m.tables(a[:len(a)-1]); err != nil {
		return err
	}
	name := a.Name()
	if ok {
		name = old.name
	}
	m[key(a)] = modelObject{name, v}
	return nil
}

func (m model) tables(a objectdb.Address) error {
	for i := range a {
		if o, ok := m.find(a[:i+1]); ok && o.value != nil {
			return objectdb.ErrNotTable
		}
	}
	for i := range a {
		if _, ok := m.find(a[:i+1]); !ok {
			m[key(a[:i+1])] = modelObject{a[i], nil}
		}
	}
	return nil
}

func (m model) newTable(a objectdb.Address) error {
	if o, ok := m.find(a); ok && o.value != nil && len(a) > 0 {
		return objectdb.ErrExists
	}
	return m.tables(a)
}

func (m model) delete(a objectdb.Address) error {
	if len(a) == 0 {
		return objectdb.ErrRoot
	}
	if _, ok := m.find(a); !ok {
		return objectdb.ErrNotFound
	}
	for k := range m {
		if k == key(a) || below(k, key(a)) {
			delete(m, k)
		}
	}
	return nil
}

var errAny = errors.New("any error")

func (m model) transfer(from, to objectdb.Address, move bool) error {
	if len(from) == 0 || len(to) == 0 {
		return objectdb.ErrRoot
	}
	o, ok := m.find(from)
	if !ok {
		return objectdb.ErrNotFound
	}
	if _, there := m.find(to); there && (!move || key(from) != key(to)) {
		return objectdb.ErrExists
	}
	if move && o.value == nil && below(key(to), key(from)) {
		return errAny
	}
	taken := model{}
	for k, v := range m {
		if k == key(from) || below(k, key(from)) {
			taken[key(to)+strings.TrimPrefix(k, key(from))] = v
		}
	}
	if err := m.tables(to[:len(to)-1]); err != nil {
		return err
	}
	if move {
		_ = m.delete(from)
	}
	for k, v := range taken {
		m[k] = v
	}
	m[key(to)] = modelObject{to.Name(), o.value}
	return nil
}

func (m model) children(a objectdb.Address) (names []string) {
	var keys []string
	for k := range m {
		parent := ""
		if i := strings.LastIndexByte(k, 0); i >= 0 {
			parent = k[:i]
		}
		if parent == key(a) && (len(a) > 0 || !strings.Contains(k, "\x00")) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		names = append(names, m[k].name)
	}
	return names
}

// replace puts a value or a new table at an address, in the place of whatever is there.
func (m model) replace(a objectdb.Address, v objectdb.Value) error {
	if len(a) == 0 {
		return objectdb.ErrRoot
	}
	if t, ok := m.find(a.Parent()); !ok {
		return objectdb.ErrNotFound
	} else if t.value != nil {
		return objectdb.ErrNotTable
	}
	name := a.Name()
	if old, ok := m.find(a); ok {
		name = old.name
		_ = m.delete(a)
	}
	m[key(a)] = modelObject{name, v}
	return nil
}

func replace(tx *objectdb.Tx, a objectdb.Address, v objectdb.Value) error {
	if len(a) == 0 {
		return objectdb.ErrRoot
	}
	t, err := tx.Find(a.Parent())
	if err == nil && v == nil {
		_, err = tx.SetTable(t, a.Name())
	} else if err == nil {
		err = tx.Set(t, a.Name(), v)
	}
	return err
}

// player makes the same random changes to a root and to a model.
type player struct {
	t   *T
	r   *rand.Rand
	m   model
	log []string

	before  []model // what is gone back to: when the transaction fails, then each attempt
	handles []*objectdb.Node

	values  []objectdb.Value   // that are put
	flushed func(*objectdb.Tx) // called after each Flush; may be nil
}

func (p *player) address() objectdb.Address {
	pool := []string{"a", "B", "b", "ä", "Ä", "c.d", "A"}
	a := make(objectdb.Address, p.r.IntN(4))
	for i := range a {
		a[i] = pool[p.r.IntN(len(pool))]
	}
	return a
}

func (p *player) value() objectdb.Value { return p.values[p.r.IntN(len(p.values))] }

func (p *player) step(tx *objectdb.Tx) {
	a, b, v := p.address(), p.address(), p.value()
	var want, got error
	var what string
	switch p.r.IntN(11) {
	case 0, 1, 2:
		what = fmt.Sprintf("put %s %s", a, v.Kind())
		want, got = p.m.put(a, v), tx.Put(a, v)
	case 3:
		what = fmt.Sprintf("table %s", a)
		want, got = p.m.newTable(a), tx.NewTable(a)
	case 4:
		what = fmt.Sprintf("delete %s", a)
		want, got = p.m.delete(a), tx.Delete(a)
	case 5, 6:
		what = fmt.Sprintf("move %s %s", a, b)
		want, got = p.m.transfer(a, b, true), tx.Move(a, b)
	case 7:
		if len(p.m) > 200 {
			return
		}
		what = fmt.Sprintf("copy %s %s", a, b)
		want, got = p.m.transfer(a, b, false), tx.Copy(a, b)
	case 8:
		if p.r.IntN(2) == 0 {
			v = nil
		}
		what = fmt.Sprintf("replace %s", a)
		want, got = p.m.replace(a, v), replace(tx, a, v)
	default:
		p.look(tx, a)
		return
	}
	p.log = append(p.log, fmt.Sprintf("%s: %v", what, got))
	if want == errAny {
		require.Error(p.t, got, strings.Join(p.log, "\n"))
	} else if want == nil {
		require.NoError(p.t, got, strings.Join(p.log, "\n"))
	} else {
		require.ErrorIs(p.t, got, want, strings.Join(p.log, "\n"))
	}
}

// look compares one address.
func (p *player) look(tx *objectdb.Tx, a objectdb.Address) {
	story := strings.Join(append(p.log, "look "+a.String()), "\n")
	want, ok := p.m.find(a)
	got, err := tx.Find(a)
	if !ok {
		require.ErrorIs(p.t, err, objectdb.ErrNotFound, story)
		return
	}
	require.NoError(p.t, err, story)
	p.handles = append(p.handles, got)
	require.Equal(p.t, want.name, got.Name(), story)
	require.True(p.t, tx.Address(got).Equal(a), story)
	v, err := tx.Get(a)
	if want.value != nil {
		require.NoError(p.t, err, story)
		require.True(p.t, objectdb.Equal(want.value, v), story)
		return
	}
	require.ErrorIs(p.t, err, objectdb.ErrIsTable, story)
	last, err := tx.Last(got, "b", "d")
	inside := slices.DeleteFunc(p.m.children(a), func(name string) bool {
		return objectdb.Fold(name) < "b" || "d" <= objectdb.Fold(name)
	})
	if len(inside) == 0 {
		require.ErrorIs(p.t, err, objectdb.ErrNotFound, story)
	} else {
		require.NoError(p.t, err, story)
		require.Equal(p.t, inside[len(inside)-1], last.Name(), story)
	}
	nodes, err := tx.Children(got)
	require.NoError(p.t, err, story)
	var names []string
	for i, n := range nodes {
		names = append(names, n.Name())
		nth, err := tx.Nth(got, i+1)
		require.NoError(p.t, err)
		require.Equal(p.t, n, nth, story)
	}
	require.Equal(p.t, p.m.children(a), names, story)
	count, err := tx.Len(got)
	require.NoError(p.t, err)
	require.Equal(p.t, len(names), count, story)
	p.lookAtPage(tx, got, nodes, story)
}

// lookAtPage compares a random page of a table with the list of what is in it.
func (p *player) lookAtPage(tx *objectdb.Tx, t *objectdb.Node, nodes []*objectdb.Node, story string) {
	bounds := []string{"", "a", "a\x00", "b", "c", "c.d", "c.e", "ä", "\xff"}
	from, end := bounds[p.r.IntN(len(bounds))], bounds[p.r.IntN(len(bounds))]
	backward, n := p.r.IntN(2) == 0, p.r.IntN(5)
	story += fmt.Sprintf("\npage %q %q %v %d", from, end, backward, n)
	var want []string
	for _, n := range nodes {
		if fold := objectdb.Fold(n.Name()); from <= fold && (end == "" || fold < end) {
			want = append(want, n.Name())
		}
	}
	count, err := tx.CountUpTo(t, from, end, n)
	require.NoError(p.t, err, story)
	require.Equal(p.t, min(len(want), n), count, story)
	if len(want) > n && backward {
		want = want[len(want)-n:]
	} else if len(want) > n {
		want = want[:n]
	}
	page, err := tx.Page(t, from, end, backward, n)
	require.NoError(p.t, err, story)
	var got []string
	for _, n := range page {
		got = append(got, n.Name())
	}
	require.Equal(p.t, strings.Join(want, " "), strings.Join(got, " "), story)
}

func (p *player) lookEverywhere(tx *objectdb.Tx) {
	p.look(tx, objectdb.Address{})
	count := 0
	require.NoError(p.t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
		if len(a) > 0 {
			count++
			p.look(tx, a)
		}
		return nil
	}))
	require.Equal(p.t, len(p.m), count, strings.Join(p.log, "\n"))
}

var errUndone = errors.New("undone")

func testRandomOperations(t *T) {
	for seed := range t.sequences(25, 3) {
		t.Run(fmt.Sprint(seed), func(t *T) {
			t.Parallel()
			options := objectdb.Options{Relaxed: true, BusyTimeout: Patience, LockTime: -1} // a busy machine takes its time
			if seed%3 == 1 {
				options.CacheBytes = 4000 // hardly anything stays
			} else if seed%3 == 2 {
				options.CacheBytes = -1
			}
			db := openWith(t, options)
			other, err := t.Open(db.Path(), options)
			require.NoError(t, err)
			defer other.Close()
			p := &player{t: t, r: rand.New(rand.NewPCG(seed, 1)), m: model{}, values: oddValues}
			for range 60 {
				p.transaction(db)
				if p.r.IntN(4) == 0 {
					p.transaction(other) // as another process would
				}
			}
			requireCacheTrue(t, db)
			requireCacheTrue(t, other)
		})
	}
}

// transaction makes a few changes, and undoes them or not.
func (p *player) transaction(db *objectdb.DB) {
	p.before, p.handles = []model{p.m.clone()}, nil
	run := []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked}[p.r.IntN(2)]
	undo := p.r.IntN(5) == 0
	p.log = append(p.log, "begin")
	err := run(context.Background(), func(tx *objectdb.Tx) error {
		p.steps(tx)
		p.lookEverywhere(tx)
		if undo {
			return errUndone
		}
		return nil
	})
	if undo {
		require.Equal(p.t, errUndone, err)
		p.m = p.before[0]
		p.log = append(p.log, "undone")
	} else {
		require.NoError(p.t, err, strings.Join(p.log, "\n"))
	}
	require.NoError(p.t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		p.lookEverywhere(tx)
		p.search(tx)
		return nil
	}))
}

func (p *player) steps(tx *objectdb.Tx) {
	for range p.r.IntN(12) {
		p.step(tx)
		switch p.r.IntN(30) {
		case 0:
			p.log = append(p.log, "flush")
			require.NoError(p.t, tx.Flush())
			for i := range p.before {
				p.before[i] = p.m.clone()
			}
			if p.flushed != nil {
				p.flushed(tx)
			}
		case 1, 2, 3:
			p.attempt(tx)
		}
	}
}

// attempt makes a few changes within the transaction, and undoes them or not.
func (p *player) attempt(tx *objectdb.Tx) {
	p.log = append(p.log, "try")
	p.before = append(p.before, p.m.clone())
	last := len(p.before) - 1
	fails := p.r.IntN(2) == 0
	err := tx.Try(func() error {
		p.steps(tx)
		if fails {
			return errUndone
		}
		return nil
	})
	if fails {
		require.Equal(p.t, errUndone, err)
		p.m = p.before[last]
		p.log = append(p.log, "failed")
		p.lookEverywhere(tx)
		p.lookAtHandles(tx)
	} else {
		require.NoError(p.t, err)
		p.log = append(p.log, "tried")
	}
	p.before = p.before[:last]
}

// lookAtHandles compares the objects of the handles that are still valid.
func (p *player) lookAtHandles(tx *objectdb.Tx) {
	for _, n := range p.handles {
		story := strings.Join(append(p.log, "handle "+n.Name()), "\n")
		v, err := tx.Value(n)
		if errors.Is(err, objectdb.ErrNotFound) {
			continue
		}
		a := tx.Address(n)
		if found, err := tx.Find(a); err != nil || found.ID() != n.ID() {
			continue // a table above it is gone
		}
		want, ok := p.m.find(a)
		require.True(p.t, ok, story)
		if want.value == nil {
			require.ErrorIs(p.t, err, objectdb.ErrIsTable, story)
			continue
		}
		require.NoError(p.t, err, story)
		require.True(p.t, objectdb.Equal(want.value, v), story)
	}
}
