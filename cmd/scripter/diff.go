package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
)

func (t *tool) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff ADDRESS [FROM [TO]]",
		Short: "compare an object with what it was",
		Long: `Diff compares the object at ADDRESS, or all that is in the table there, at two
moments: FROM (by default just before its last change) and TO (by default now). It
prints a unified difference for each object that differs, by line for texts. Values
whose names mean a secret are masked.

` + momentHelp,
		Args:              args(1, 3),
		ValidArgsFunction: t.arguments(addressOf(), changeNumbers, changeNumbers),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			var moments []moment
			for _, text := range args[1:] {
				m, err := parseMoment(text, time.Now())
				if err != nil {
					return err
				}
				moments = append(moments, m)
			}
			return t.with(forReading, func(db *objectdb.DB) error { return t.diff(c.Context(), db, a, moments) })
		},
	}
}

// rootState is the root at one moment.
type rootState struct {
	tx         *objectdb.Tx // nil before the first commit
	generation int64        // of the past; see now
	now        bool
	label      string
}

func (t *tool) diff(ctx context.Context, db *objectdb.DB, a objectdb.Address, moments []moment) error {
	var states [2]rootState
	err := db.View(ctx, func(tx *objectdb.Tx) (err error) {
		states, err = momentsOf(tx, a, moments)
		return err
	})
	if err != nil {
		return err
	}
	d := &differ{from: &states[0], to: &states[1]}
	objects := []any{}
	d.found = func(o *objectDiff) {
		if d.count++; t.json {
			objects = append(objects, o.fields())
		} else {
			t.printObjectDiff(o)
		}
	}
	err = inState(ctx, db, d.from, func() error {
		return inState(ctx, db, d.to, func() error { return d.run(a) })
	})
	switch {
	case err != nil:
		return err
	case t.json:
		return t.printJSON(map[string]any{"from": d.from.label, "to": d.to.label, "changed": objects})
	case d.count == 0:
		fmt.Fprintf(t.out, "%s is the same in %s and in %s\n", a, d.from.label, d.to.label)
	}
	return nil
}

// momentsOf returns the generations of the moments of the command line.
func momentsOf(tx *objectdb.Tx, a objectdb.Address, moments []moment) (states [2]rootState, err error) {
	states[1] = rootState{now: true, label: "now"}
	for i, m := range moments {
		g, err := m.generationIn(tx)
		if err != nil {
			return states, err
		}
		states[i] = rootState{generation: g, label: m.label(g)}
	}
	if len(moments) > 0 {
		return states, nil
	}
	changes, err := changesOf(tx, a)
	if err != nil {
		return states, err
	}
	for c, err := range changes {
		states[0] = rootState{generation: c.Generation - 1, label: fmt.Sprintf("before change %d", c.Generation)}
		if err == nil && c.Generation > 1 {
			err = isRemembered(tx, c.Generation-1)
		}
		return states, err
	}
	return states, hintError{fmt.Errorf("no change of %s is kept", a),
		"give a moment that it is to be compared with, such as 1h or yesterday"}
}

// label names a moment in what is printed.
func (m moment) label(generation int64) string {
	if m.change > 0 {
		return fmt.Sprintf("change %d", m.change)
	}
	return fmt.Sprintf("%s, change %d", shownTime(m.time), generation)
}

// inState calls fn in a transaction that sees the root in a state.
func inState(ctx context.Context, db *objectdb.DB, s *rootState, fn func() error) error {
	switch {
	case s.now:
	case s.generation == 0:
		return fn()
	default:
		db = db.At(s.generation, nil)
	}
	return db.View(ctx, func(tx *objectdb.Tx) error {
		s.tx = tx
		return fn()
	})
}

// differ compares two states of the root.
type differ struct {
	from, to *rootState
	found    func(*objectDiff) // is called with each object that differs
	count    int               // the number of objects that differ
}

// run compares the objects at an address, with all that is in them.
func (d *differ) run(a objectdb.Address) error {
	before, err := d.from.find(a)
	if err != nil {
		return err
	}
	after, err := d.to.find(a)
	if err != nil {
		return err
	}
	if before == nil && after == nil {
		return hintError{fmt.Errorf("there is no object %s in %s, and none in %s", a, d.from.label, d.to.label),
			`"scripter log ` + shellWord(a.String()) + `" lists its changes`}
	}
	return d.compare(before, after)
}

// find returns the object at an address, or nil.
func (s *rootState) find(a objectdb.Address) (*objectdb.Node, error) {
	if s.tx == nil {
		return nil, nil
	}
	n, err := s.tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	return n, err
}

// compare compares two objects with all that is in them; one may be nil.
func (d *differ) compare(before, after *objectdb.Node) error {
	b, err := d.from.side(before)
	if err != nil {
		return err
	}
	a, err := d.to.side(after)
	if err != nil {
		return err
	}
	diff := objectDiff{how: "changed", before: b, after: a}
	switch {
	case b == nil:
		diff.how = "added"
	case a == nil:
		diff.how = "removed"
	case b.kind == a.kind && b.address.Name() == a.address.Name() && sameValue(b, a):
		diff.how = ""
	}
	if diff.how != "" && (len(diff.last().address) > 0) {
		d.found(&diff)
	}
	return d.children(before, after)
}

func sameValue(a, b *objectSide) bool {
	if a.value == nil || b.value == nil {
		return a.value == nil && b.value == nil && a.why == b.why
	}
	return objectdb.Equal(a.value, b.value)
}

// children compares the objects in two tables. A node that is nil, or not a table, counts as an
// empty table.
func (d *differ) children(before, after *objectdb.Node) error {
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
func (s *rootState) children(n *objectdb.Node) ([]*objectdb.Node, error) {
	if n == nil || n.Kind() != objectdb.KindTable {
		return nil, nil
	}
	list, err := s.tx.Children(n)
	return slices.Clone(list), err
}

// side returns an object in this state.
func (s *rootState) side(n *objectdb.Node) (*objectSide, error) {
	if n == nil {
		return nil, nil
	}
	o := &objectSide{address: s.tx.Address(n), kind: n.Kind(), size: n.Size(), label: s.label}
	if o.kind == objectdb.KindTable {
		return o, nil
	}
	var err error
	o.value, err = s.tx.Value(n)
	switch {
	case errors.Is(err, objectdb.ErrNotKept):
		o.why = fmt.Sprintf("only the length and a hash were kept: %s", thousands(int(o.size), "byte"))
		return o, nil
	case err == nil && !s.now && n.Version() > s.generation:
		o.note = fmt.Sprintf("the value of %s in %s was not kept: this is that of commit %d", o.address, s.label, n.Version())
	}
	return o, err
}
