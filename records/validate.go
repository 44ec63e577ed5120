package records

import (
	"maps"
	"slices"
	"time"

	"scripter/objectdb"
)

// Given is a field of a record that is added or changed. Its value is nil if the field shall go, and objectdb.Record
// if it is a table.
type Given struct {
	Name  string
	Value objectdb.Value
}

// Checked is what Shape.Check returns.
type Checked struct {
	Fields   map[string]objectdb.Value // by their names; nil if a field shall go
	Problems []*Problem                // in the order of the names
}

// Check checks the fields of a record that is added, or some fields of one that is changed. It does not check whether
// they are unique.
func (s Shape) Check(given []Given, adding bool, now time.Time) Checked {
	c := Checked{Fields: map[string]objectdb.Value{}}
	seen := map[string]bool{}
	for _, g := range given {
		fold := objectdb.Fold(g.Name)
		seen[fold] = true
		f := s[fold]
		switch {
		case fold == KeyField:
			c.Problems = append(c.Problems, &Problem{Field: g.Name, Rule: "key"})
		case s == nil:
			c.Fields[g.Name] = g.Value
		case f == nil:
			c.Problems = append(c.Problems, &Problem{Field: g.Name, Rule: "unknown"})
		default:
			c.field(f, g.Value)
		}
	}
	for _, fold := range slices.Sorted(maps.Keys(s)) {
		f := s[fold]
		switch {
		case !adding || seen[fold] && c.Fields[f.Name] != nil:
		case f.Now:
			c.add(f, objectdb.Date{Time: now.UTC()})
		case f.Default != nil:
			c.add(f, f.Default)
		case !seen[fold]:
			if p := f.missing(); p != nil {
				c.Problems = append(c.Problems, p)
			}
		}
	}
	slices.SortStableFunc(c.Problems, func(a, b *Problem) int {
		return compare(objectdb.String(a.Field), objectdb.String(b.Field))
	})
	return c
}

// add gives a field its default, unless something is wrong with what was given.
func (c *Checked) add(f *Field, v objectdb.Value) {
	wrong := func(p *Problem) bool { return p.Field == f.Name && p.Rule != "required" }
	if slices.ContainsFunc(c.Problems, wrong) {
		return
	}
	c.Problems = slices.DeleteFunc(c.Problems, func(p *Problem) bool { return p.Field == f.Name })
	c.Fields[f.Name] = v
}

func (c *Checked) field(f *Field, v objectdb.Value) {
	var p *Problem
	if v == nil {
		p = f.missing()
	} else if _, table := v.(objectdb.Record); table {
		if f.Kind != objectdb.KindTable && f.Kind != 0 {
			p = &Problem{Field: f.Name, Rule: "kind", Kind: f.Kind, own: f.Message}
		}
	} else {
		v, p = f.check(v)
	}
	if p != nil {
		c.Problems = append(c.Problems, p)
		return
	}
	c.Fields[f.Name] = v
}

// Taken returns the problems of fields that must be unique and are not. key is that of the record, "" if it is new.
func (s Shape) Taken(t Table, fields map[string]objectdb.Value, key string) ([]*Problem, error) {
	var problems []*Problem
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, v := s[objectdb.Fold(name)], fields[name]
		if f == nil || !f.Unique || v == nil || objectdb.EncodeText(v) == "" {
			continue
		}
		found, err := t.Find(Query{Where: []Condition{{Field: name, Op: Is, Value: v}}, Limit: 2})
		if err != nil {
			return nil, err
		}
		for _, n := range found.Records {
			if n.Name() != key {
				problems = append(problems, &Problem{Field: f.Name, Rule: "unique", own: f.Message})
				break
			}
		}
	}
	return problems, nil
}
