package admin

import (
	"scripter/objectdb"
)

// treeItem is an object in the tree at the side.
type treeItem struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	Name    string           `json:"name"`
	Kind    string           `json:"kind"`
	Current bool             `json:"-"` // the page of this object is shown
	Open    bool             `json:"-"` // Items are shown
	Items   []*treeItem      `json:"items,omitempty"`
	More    string           `json:"next,omitempty"` // the name at which the rest of Items begins, or ""
	IsTable bool             `json:"table"`
}

// treePage is how many objects of a table the tree shows before "more".
const treePage = 100

// tree returns the objects at the top, with those on the path to the object of the page.
func (c *call) tree() ([]*treeItem, error) {
	var current objectdb.Address
	if a, err := c.address(); err == nil {
		current = a
	}
	var top *treeItem
	err := c.view(func(tx *objectdb.Tx) (err error) {
		top = &treeItem{}
		return c.openTree(tx, tx.Root(), top, current, "")
	})
	if err != nil {
		return nil, err
	}
	return top.Items, nil
}

// openTree reads what is in a table, and in the tables on the path to an object. The items begin
// with the name from.
func (c *call) openTree(
	tx *objectdb.Tx, n *objectdb.Node, item *treeItem, current objectdb.Address, from string,
) error {
	list, next, err := pageOf(tx, n, from, treePage)
	if err != nil {
		return err
	}
	item.Open, item.More = true, next
	var on *objectdb.Node // the next object on the path
	if len(current) > 0 {
		if on, err = tx.Child(n, current[0]); err != nil {
			on = nil
		}
	}
	shown := false
	for _, child := range list {
		shown = shown || on != nil && child.ID() == on.ID()
	}
	if on != nil && !shown {
		list = append(list, on) // it is further down: shown out of turn
	}
	for _, child := range list {
		sub := &treeItem{Address: append(item.Address[:len(item.Address):len(item.Address)], child.Name()),
			Name: child.Name(), Kind: child.Kind().String()}
		sub.Dotted = sub.Address.String()
		sub.IsTable = child.Kind() == objectdb.KindTable && c.role.MaySee(sub.Address)
		if on != nil && child.ID() == on.ID() {
			sub.Current = len(current) == 1
			if sub.IsTable {
				if err := c.openTree(tx, child, sub, current[1:], ""); err != nil {
					return err
				}
			}
		}
		item.Items = append(item.Items, sub)
	}
	return nil
}

// treePart answers with what is in one table, for the tree.
func (c *call) treePart() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	item := &treeItem{Address: a, Dotted: a.String()}
	err = c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil {
			return err
		}
		item.Name, item.Kind = n.Name(), n.Kind().String()
		if n.Kind() != objectdb.KindTable || !c.role.MaySee(a) {
			return nil
		}
		item.IsTable = true
		return c.openTree(tx, n, item, nil, c.query("from"))
	})
	if err != nil {
		return nil, err
	}
	return &result{part: "tree", data: item}, nil
}

// pageOf returns at most most objects of a table, from a name on, and the name that the next page
// begins with, or "".
func pageOf(tx *objectdb.Tx, t *objectdb.Node, from string, most int) (list []*objectdb.Node, next string, err error) {
	list, err = tx.Page(t, objectdb.Fold(from), "", false, most+1)
	if len(list) > most {
		list, next = list[:most], list[most].Name()
	}
	return list, next, err
}
