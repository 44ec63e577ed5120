package records

import (
	"slices"

	"scripter/objectdb"
	"scripter/records"
	"scripter/script"
)

func explain(c *script.Call) error {
	o, t := tableOf(c, false)
	q := queryOf(c, 2, true)
	if o == nil {
		c.Return("there is no such table")
		return nil
	}
	how, err := t.Explain(q)
	c.Return(how)
	return err
}

func index(c *script.Call) error {
	a := c.Address(1)
	if len(a) == 0 {
		c.Bad(1, "the root itself cannot be used here")
	}
	tx := c.Thread().Tx()
	indexes, search, err := records.DeclaredIndexes(tx, a)
	if err != nil {
		return err
	}
	given := false
	for i, list := range []*[]string{&indexes, &search} {
		if t := c.OptTable(i + 2); t != nil {
			*list, given = texts(c, i+2, t), true
		}
	}
	if given {
		if err := records.DeclareIndexes(tx, a, indexes, search); err != nil {
			return err
		}
		c.Thread().Changed()
	}
	c.Return(append([]string{}, indexes...), append([]string{}, search...))
	return nil
}

// texts returns argument i, a list of texts.
func texts(c *script.Call, i int, t *script.Table) (list []string) {
	if len(t.Names()) > 0 {
		c.Bad(i, "a list of texts is wanted")
	}
	for n := 1; n <= t.Len(); n++ {
		s, ok := t.Index(n).(string)
		if !ok {
			c.Bad(i, "a list of texts is wanted")
		}
		list = append(list, s)
	}
	return list
}

// indexUnique declares an index for each field of a shape that must be unique.
func indexUnique(c *script.Call, a objectdb.Address, shape *script.Table) error {
	tx := c.Thread().Tx()
	indexes, search, err := records.DeclaredIndexes(tx, a)
	if err != nil {
		return err
	}
	n := len(indexes)
	for _, name := range shape.Names() {
		unique, _ := shape.Get(name).(*script.Table).Lookup("unique")
		begins := func(s string) bool {
			r, err := objectdb.ParseIndex(s)
			return err == nil && r.Fields[0].Name == objectdb.Fold(name)
		}
		if unique == true && !slices.ContainsFunc(indexes, begins) {
			indexes = append(indexes, name)
		}
	}
	if len(indexes) == n {
		return nil
	}
	defer c.Thread().Changed()
	return records.DeclareIndexes(tx, a, indexes, search)
}
