package objectdb

import (
	"context"
	"fmt"
	"slices"
)

// A Problem is something in a root that should not be.
type Problem struct {
	Address Address // as far as it is known
	ID      int64   // 0 when the root as a whole is meant
	Message string
}

func (p Problem) String() string {
	switch {
	case p.ID == 0:
		return p.Message
	case len(p.Address) == 0:
		return fmt.Sprintf("object %d: %s", p.ID, p.Message)
	}
	return fmt.Sprintf("object %d (%s): %s", p.ID, p.Address, p.Message)
}

// Check checks a root: the store must be intact, every object must lie in a table and
// be reached from the root, and names, kinds, versions and values must be valid. It
// returns the problems that it found, or an error if it could not check.
func (db *DB) Check(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	err := db.View(ctx, func(tx *Tx) error {
		c := &checker{tx: tx, nodes: map[int64]*Node{}}
		if err := tx.session.Check(ctx, func(message string) { c.report(0, "%s", message) }); err != nil {
			return err
		}
		if err := c.objects(ctx); err != nil {
			return err
		}
		if err := c.indexes(); err != nil {
			return err
		}
		c.tree()
		problems = c.problems
		return nil
	})
	return problems, err
}

type checker struct {
	tx       *Tx
	nodes    map[int64]*Node
	ids      []int64
	problems []Problem
}

func (c *checker) report(id int64, format string, args ...any) {
	c.problems = append(c.problems, Problem{ID: id, Message: fmt.Sprintf(format, args...)})
}

// objects looks at each row by itself.
func (c *checker) objects(ctx context.Context) error {
	return c.tx.session.All(ctx, func(row Row, err error) {
		if err != nil {
			c.report(row.ID, "%v", err)
			return
		}
		c.object(row.node(nil))
	})
}

func (c *checker) object(n *Node) {
	if n.id != RootID {
		if err := CheckName(n.name); err != nil {
			c.report(n.id, "%v", err)
		}
	}
	if n.fold != Fold(n.name) {
		c.report(n.id, "its folded name is %q and should be %q", n.fold, Fold(n.name))
	}
	if n.id < 1 || n.id > c.tx.last {
		c.report(n.id, "its id is not in 1 to %d", c.tx.last)
	}
	if n.ver < 1 || n.ver > c.tx.gen {
		c.report(n.id, "its version %d is not in 1 to %d", n.ver, c.tx.gen)
	}
	if n.typ != "" && n.kind != KindBinary {
		c.report(n.id, "it is a %s and has the MIME type %q", n.kind, n.typ)
	}
	c.value(n)
	n.value = nil
	c.nodes[n.id] = n
	c.ids = append(c.ids, n.id)
}

func (c *checker) value(n *Node) {
	switch {
	case n.kind == KindTable && n.value != nil:
		c.report(n.id, "it is a table and has a value")
	case n.kind == KindTable:
	case n.value == nil:
		c.report(n.id, "it is a %s and has no value", n.kind)
	default:
		if _, size, err := own(n.value); err != nil {
			c.report(n.id, "%v", err)
		} else if size != n.size {
			c.report(n.id, "its size is said to be %d and is %d", n.size, size)
		}
	}
}

// indexes compares the indexes with the records.
func (c *checker) indexes() error {
	x, err := c.tx.unreadIndexing()
	if err != nil || c.tx.db.past {
		return err
	}
	for _, h := range x.have {
		if h.State != IndexBuilt {
			continue
		}
		if err := c.index(h); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) index(h *keptIndex) error {
	t, err := c.tx.byID(h.Table, nil)
	if err == ErrNotFound {
		c.report(h.Table, "it is gone, and has the index %s", h.Rule)
		return nil
	} else if err != nil {
		return err
	}
	const some = 1000
	s, ctx := c.tx.session, c.tx.ctx
	found := map[string][]IndexKey{}
	for from, n := "", some; n == some; {
		n = 0
		err := s.Entries(ctx, h.ID, from, noEnd, false, some, func(e IndexEntry) error {
			fold := h.rule.FoldAt(e.Place)
			found[fold] = append(found[fold], IndexKey{e.Place[:len(e.Place)-len(fold)], e.N})
			n, from = n+1, e.Place+"\x00"
			return nil
		})
		if err != nil {
			return err
		}
	}
	for from, n := "", some; n == some; {
		nodes, err := c.tx.Page(t, from, "", false, some)
		if err != nil {
			return err
		}
		n = len(nodes)
		for _, r := range nodes {
			from = r.fold + "\x00"
			want, err := h.rule.keys(c.tx, r)
			if err != nil {
				return err
			}
			said, err := s.IndexKeys(ctx, h.ID, r.fold)
			if err != nil {
				return err
			}
			if !sameKeys(want, said) || !sameKeys(want, found[r.fold]) {
				c.report(r.id, "its entries in the index %s of %s are wrong", h.Rule, t.name)
			}
			delete(found, r.fold)
		}
	}
	for fold := range found {
		c.report(h.Table, "its index %s has entries of %q, which is not there", h.Rule, fold)
	}
	return nil
}

// Check calls report with what is wrong with a kept state.
func (p *Past) Check(report func(message string)) {
	wrong := func(format string, args ...any) {
		report(fmt.Sprintf("history: object %d until change %d: ", p.ID, p.Until) + fmt.Sprintf(format, args...))
	}
	switch {
	case p.ID != RootID && CheckName(p.Name) != nil:
		wrong("%v", CheckName(p.Name))
	case p.Fold != Fold(p.Name):
		wrong("its folded name is %q and should be %q", p.Fold, Fold(p.Name))
	}
	table, hash := p.Kind == KindTable, p.Hash != nil
	if (p.Value == nil) != (table || hash) || table && hash {
		wrong("it is a %s, and it is wrong whether it has a value or the hash of one", p.Kind)
	}
}

// tree checks that every object is reached from the root, and gives the
// problems their addresses.
func (c *checker) tree() {
	if root := c.nodes[RootID]; root == nil || root.kind != KindTable || root.parent != 0 || root.name != "" {
		c.report(RootID, "there is no root table")
	}
	for _, id := range c.ids {
		n := c.nodes[id]
		switch parent := c.nodes[n.parent]; {
		case id == RootID:
		case parent == nil:
			c.report(id, "the table that it is in, %d, does not exist", n.parent)
		case parent.kind != KindTable:
			c.report(id, "it lies in %d, which is a %s", n.parent, parent.kind)
		default:
			if _, reached := c.address(id); !reached {
				c.report(id, "it lies below itself")
			}
		}
	}
	for i, p := range c.problems {
		c.problems[i].Address, _ = c.address(p.ID)
	}
}

// address walks up from an object. reached is false if the object lies below itself.
func (c *checker) address(id int64) (a Address, reached bool) {
	a = Address{}
	for n := c.nodes[id]; n != nil && n.id != RootID; n = c.nodes[n.parent] {
		if len(a) > len(c.nodes) {
			return Address{}, false
		}
		a = append(a, n.name)
	}
	slices.Reverse(a)
	return a, true
}
