package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/valuetext"
)

// State is the root at one moment. The zero State is the root before the first commit.
type State struct {
	Generation int64  // the commit that left it so, unless it is the present one
	Now        bool   // it is the present state
	Label      string // names it: "change 16", "now"
}

// Now returns the present state.
func Now() State { return State{Now: true, Label: "now"} }

// State returns the state of the root that a moment stands for.
func (m Moment) State(tx *objectdb.Tx) (State, error) {
	g, err := m.Generation(tx)
	if m.Change > 0 {
		return State{Generation: g, Label: fmt.Sprintf("change %d", m.Change)}, err
	}
	return State{Generation: g, Label: fmt.Sprintf("%s, change %d", valuetext.Time(m.Time), g)}, err
}

// BeforeLast returns the state before the last change of the object at an address, or of anything
// that is or was in it. If no change is kept, the error is ErrNoChange.
func BeforeLast(tx *objectdb.Tx, a objectdb.Address) (s State, err error) {
	p, err := findPlace(tx, Filter{At: a})
	if err != nil {
		return s, err
	}
	for c, err := range p.changes(tx) {
		if err != nil {
			return s, err
		}
		s = State{Generation: c.Generation - 1, Label: fmt.Sprintf("before change %d", c.Generation)}
		if c.Generation > 1 {
			err = IsRemembered(tx, c.Generation-1)
		}
		return s, err
	}
	return s, &Error{fmt.Sprintf("no change of %s is kept", a), ErrNoChange}
}

// Compare yields each object at and below an address that differs between two states of the root.
// If there is no object at the address in either, the error is ErrNoObject.
func Compare(ctx context.Context, db *objectdb.DB, a objectdb.Address, from, to State) iter.Seq2[*Diff, error] {
	return func(yield func(*Diff, error) bool) {
		d := &comparison{from: opened{State: from}, to: opened{State: to}}
		d.found = func(diff *Diff) error {
			if !yield(diff, nil) {
				return errStopped
			}
			return nil
		}
		err := d.from.view(ctx, db, func() error {
			return d.to.view(ctx, db, func() error { return d.run(a) })
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// errStopped says that the caller of Compare wants no more.
var errStopped = errors.New("the caller has stopped")

// comparison compares two states of the root.
type comparison struct {
	from, to opened
	found    func(*Diff) error // is called with each object that differs
}

// opened is a state of the root in a transaction.
type opened struct {
	State
	tx *objectdb.Tx // nil before the first commit
}

// view calls fn in a transaction that sees the root in the state.
func (s *opened) view(ctx context.Context, db *objectdb.DB, fn func() error) error {
	switch {
	case s.Now:
	case s.Generation == 0:
		return fn()
	default:
		db = db.At(s.Generation, nil)
	}
	return db.View(ctx, func(tx *objectdb.Tx) error {
		s.tx = tx
		return fn()
	})
}

// run compares the objects at an address, with all that is in them.
func (d *comparison) run(a objectdb.Address) error {
	before, err := d.from.find(a)
	if err != nil {
		return err
	}
	after, err := d.to.find(a)
	if err != nil {
		return err
	}
	if before == nil && after == nil {
		return &Error{fmt.Sprintf("there is no object %s in %s, and none in %s", a, d.from.Label, d.to.Label),
			ErrNoObject}
	}
	return d.compare(before, after)
}

// find returns the object at an address, or nil.
func (s *opened) find(a objectdb.Address) (*objectdb.Node, error) {
	if s.tx == nil {
		return nil, nil
	}
	return find(s.tx, a)
}

// compare compares two objects with all that is in them; one may be nil.
func (d *comparison) compare(before, after *objectdb.Node) error {
	b, err := d.from.side(before)
	if err != nil {
		return err
	}
	a, err := d.to.side(after)
	if err != nil {
		return err
	}
	diff := &Diff{How: "changed", Before: b, After: a}
	switch {
	case b == nil:
		diff.How = "added"
	case a == nil:
		diff.How = "removed"
	case b.Kind == a.Kind && b.Address.Name() == a.Address.Name() && sameValue(b, a):
		diff.How = ""
	}
	if diff.How != "" && len(diff.Last().Address) > 0 {
		if err := d.found(diff); err != nil {
			return err
		}
	}
	return d.children(before, after)
}

func sameValue(a, b *Side) bool {
	if a.Value == nil || b.Value == nil {
		return a.Value == nil && b.Value == nil && a.Why == b.Why
	}
	return objectdb.Equal(a.Value, b.Value)
}

// children compares the objects in two tables. A node that is nil, or not a table, counts as an
// empty table.
func (d *comparison) children(before, after *objectdb.Node) error {
	old, err := d.from.children(before)
	if err != nil {
		return err
	}
	now, err := d.to.children(after)
	if err != nil {
		return err
	}
	for len(old) > 0 || len(now) > 0 {
		var b, a *objectdb.Node
		switch order := firstOf(old, now); {
		case order < 0:
			b, old = old[0], old[1:]
		case order > 0:
			a, now = now[0], now[1:]
		default:
			b, old, a, now = old[0], old[1:], now[0], now[1:]
		}
		if err := d.compare(b, a); err != nil {
			return err
		}
	}
	return nil
}

// firstOf compares the names of the first nodes of two lists.
func firstOf(a, b []*objectdb.Node) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return strings.Compare(objectdb.Fold(a[0].Name()), objectdb.Fold(b[0].Name()))
}

// children returns what is in a table, in the order of the names.
func (s *opened) children(n *objectdb.Node) ([]*objectdb.Node, error) {
	if n == nil || n.Kind() != objectdb.KindTable {
		return nil, nil
	}
	list, err := s.tx.Children(n)
	return slices.Clone(list), err
}

// side returns an object in this state.
func (s *opened) side(n *objectdb.Node) (*Side, error) {
	if n == nil {
		return nil, nil
	}
	o := &Side{Address: s.tx.Address(n), Kind: n.Kind(), Size: n.Size(), Label: s.Label}
	if o.Kind == objectdb.KindTable {
		return o, nil
	}
	var err error
	o.Value, err = s.tx.Value(n)
	switch {
	case errors.Is(err, objectdb.ErrNotKept):
		o.Why = fmt.Sprintf("only the length and a hash were kept: %s", valuetext.Count(int(o.Size), "byte"))
		return o, nil
	case err == nil && !s.Now && n.Version() > s.Generation:
		o.Note = fmt.Sprintf("the value of %s in %s was not kept: this is that of commit %d",
			o.Address, s.Label, n.Version())
	}
	return o, err
}
