package records

import (
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
)

// plan is how a query uses an index.
type plan struct {
	index    *objectdb.TableIndex
	ranges   []byteRange
	equal    int    // the number of fields of which the values are known
	prefix   string // their values
	bounded  bool   // the field after them has bounds
	covered  bool   // all records of the entries fulfil the conditions
	sorted   bool   // the entries are in the order of the query
	grouped  bool   // but those with the same values are in the reverse order of keys
	backward bool   // the entries are read backward
}

// byteRange is a range of the places of entries.
type byteRange struct{ from, end string }

// everything is after all places.
const everything = "\xff\xff"

// maxRanges is the number of values of In that are looked up one by one.
const maxRanges = 100

// maxUnsorted is the number of entries that are read and sorted rather than read in order and filtered.
const maxUnsorted = 2000

// after returns what comes after all texts that begin with s.
func after(s string) string {
	b := []byte(s)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return string(b[:i+1])
		}
	}
	return everything
}

// choose returns the plan for the query, or nil if no index helps.
func (f *finder) choose() (*plan, error) {
	indexes, err := f.Tx.Indexes(f.Node)
	if err != nil || len(indexes) == 0 {
		return nil, err
	}
	var best, sorted *plan
	for _, x := range indexes {
		if x.Rule.Words {
			continue
		}
		p := f.planFor(x)
		if p == nil {
			continue
		}
		if best == nil || p.score() > best.score() {
			best = p
		}
		if p.sorted && (sorted == nil || p.score() > sorted.score()) {
			sorted = p
		}
	}
	if best == nil || best.sorted || sorted == nil || f.counting {
		return best, nil
	}
	few, err := f.few(best)
	if err != nil || few {
		return best, err
	}
	return sorted, nil
}

func (p *plan) score() int {
	score := 10 * p.equal
	if p.bounded {
		score += 5
	}
	if p.sorted {
		score += 3
	}
	return score
}

// few reports whether a plan has so few entries that they can be sorted.
func (f *finder) few(p *plan) (bool, error) {
	n := 0
	for _, r := range p.ranges {
		list, err := f.Tx.Entries(p.index, r.from, r.end, false, maxUnsorted+1-n)
		if err != nil {
			return false, err
		}
		f.charge(len(list))
		if n += len(list); n > maxUnsorted {
			return false, nil
		}
	}
	return true, nil
}

// planFor returns how the query can use an index, or nil.
func (f *finder) planFor(x *objectdb.TableIndex) *plan {
	p := &plan{index: x}
	exact := map[int]bool{} // conditions that the entries fulfil
	var prefix []byte
	for p.equal < len(x.Rule.Fields) {
		field := x.Rule.Fields[p.equal]
		i := f.conditionOf(field.Name, Equal, Is)
		if i < 0 {
			break
		}
		prefix = appendValue(prefix, f.where[i].Value, field.Backward)
		exact[i] = f.where[i].Op == Is || isExact(f.where[i].Value)
		p.equal++
	}
	p.prefix = string(prefix)
	p.ranges = []byteRange{{p.prefix, after(p.prefix)}}
	if p.equal < len(x.Rule.Fields) {
		f.bound(p, x.Rule.Fields[p.equal], exact)
	}
	f.sortedBy(p)
	p.covered = true
	for i := range f.where {
		p.covered = p.covered && exact[i]
	}
	if p.equal == 0 && !p.bounded && !p.sorted {
		return nil
	}
	return p
}

// conditionOf returns the number of the first condition for a field with one of some ways to compare, or -1.
func (f *finder) conditionOf(fold string, ops ...Op) int {
	for i := range f.where {
		for _, op := range ops {
			if f.where[i].Op == op && objectdb.Fold(f.where[i].Field) == fold && fold != KeyField {
				return i
			}
		}
	}
	return -1
}

// isExact reports whether values with the same place in an order as v are equal to it.
func isExact(v objectdb.Value) bool {
	switch v := v.(type) {
	case objectdb.Number:
		return v == v // NaN equals nothing
	case nil, objectdb.Boolean, objectdb.Date:
		return true
	}
	return false
}

func appendValue(b []byte, v objectdb.Value, backward bool) []byte {
	if backward {
		return objectdb.AppendReversed(b, v)
	}
	return objectdb.AppendOrdered(b, v)
}

// bound bounds the ranges of a plan by the conditions for a field. exact gets those that the entries fulfil then.
func (f *finder) bound(p *plan, field objectdb.IndexField, exact map[int]bool) {
	if i := f.conditionOf(field.Name, In); i >= 0 && len(f.where[i].Values) <= maxRanges {
		p.bounded, p.ranges = true, nil
		seen := map[string]bool{}
		exact[i] = true
		for _, v := range f.where[i].Values {
			from := string(appendValue([]byte(p.prefix), v, field.Backward))
			if !seen[from] {
				p.ranges = append(p.ranges, byteRange{from, after(from)})
			}
			seen[from] = true
			exact[i] = exact[i] && isExact(v)
		}
		return
	}
	whole := p.ranges[0]
	for i := range f.where {
		c := &f.where[i]
		if objectdb.Fold(c.Field) != field.Name {
			continue
		}
		r, ok := rangeOf(c, field.Backward)
		if !ok {
			continue
		}
		exact[i] = c.Op != Begins
		p.bounded = true
		whole.from, whole.end = max(whole.from, p.prefix+r.from), min(whole.end, p.prefix+r.end)
	}
	p.ranges[0] = whole
}

// rangeOf returns the ordered values for which a condition can hold.
func rangeOf(c *Condition, backward bool) (byteRange, bool) {
	v := string(appendValue(nil, c.Value, backward))
	if c.Op == Begins {
		text, _ := textOf(c.Value)
		b := objectdb.AppendOrderedPrefix(nil, text)
		for i := range b {
			if backward {
				b[i] = ^b[i]
			}
		}
		return byteRange{string(b), after(string(b))}, true
	}
	kind := byteRange{v[:1], after(v[:1])}
	op := c.Op
	if backward {
		op = map[Op]Op{Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual}[op]
	}
	switch op {
	case Less:
		return byteRange{kind.from, v}, true
	case LessEqual:
		return byteRange{kind.from, after(v)}, true
	case Greater:
		return byteRange{after(v), kind.end}, true
	case GreaterEqual:
		return byteRange{v, kind.end}, true
	}
	return byteRange{}, false
}

// sortedBy says whether the entries of a plan are in the order of the query.
func (f *finder) sortedBy(p *plan) {
	fields, order := p.index.Rule.Fields[p.equal:], f.sorter.order
	if len(p.ranges) != 1 || len(fields) != len(order) {
		return
	}
	if len(order) == 0 {
		p.sorted, p.backward = true, f.sorter.backward
		return
	}
	for i, o := range order {
		flip := fields[i].Backward != o.Backward
		if fields[i].Name != objectdb.Fold(o.Field) || i > 0 && flip != p.backward {
			return
		}
		p.backward = flip
	}
	p.sorted, p.grouped = true, fields[0].Backward
}

// start narrows the range of a sorted plan to what comes after the cursor.
func (f *finder) start(p *plan) {
	if !p.sorted || f.after == nil {
		return
	}
	r := &p.ranges[0]
	if !p.grouped {
		place := p.prefix + string(f.after)
		if p.backward {
			r.end = min(r.end, place)
		} else {
			r.from = max(r.from, place+"\x00")
		}
		return
	}
	group := []byte(p.prefix)
	rest := f.after
	for _, o := range f.sorter.order {
		n := objectdb.OrderedLength(string(rest), o.Backward != f.sorter.backward)
		for _, c := range rest[:n] {
			group = append(group, ^c)
		}
		if rest = rest[n:]; len(rest) == 0 {
			return // no cursor that we have made
		}
	}
	if p.backward {
		r.end = min(r.end, after(string(group)))
	} else {
		r.from = max(r.from, string(group))
	}
}

// scan looks at the records of the entries of a plan.
func (f *finder) scan(p *plan) error {
	f.start(p)
	f.inOrder = p.sorted && !p.grouped
	for _, r := range p.ranges {
		if err := f.scanRange(p, r); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) scanRange(p *plan, r byteRange) error {
	last := ""
	for n := min(max(f.most, firstPage), largePage); ; n = largePage {
		entries, err := f.Tx.Entries(p.index, r.from, r.end, p.backward, n)
		if err != nil {
			return err
		}
		f.charge(len(entries))
		for _, e := range entries {
			if f.counting && p.covered {
				f.count++
				continue
			}
			fold := p.index.Rule.FoldAt(e.Place)
			group := e.Place[:len(e.Place)-len(fold)]
			if p.sorted && p.grouped && !f.counting && len(f.matches) >= f.most && group != last {
				return nil
			}
			last = group
			node, err := f.Tx.Child(f.Node, fold)
			if err != nil {
				if errors.Is(err, objectdb.ErrNotFound) {
					err = fmt.Errorf("%w: the index %s has the record %q, which is not there", objectdb.ErrDamaged,
						p.index.Rule, fold)
				}
				return err
			}
			if more, err := f.look(node); err != nil || !more {
				return err
			}
		}
		if len(entries) < n {
			return nil
		}
		if place := entries[n-1].Place; p.backward {
			r.end = place
		} else {
			r.from = place + "\x00"
		}
	}
}

// Explain says for people how a query is answered.
func (t Table) Explain(q Query) (string, error) {
	if err := q.check(); err != nil {
		return "", err
	}
	f := newFinder(t, &q)
	p, err := f.choose()
	if err != nil {
		return "", err
	}
	order := ", and sorts what it has found"
	if len(f.sorter.order) == 0 {
		order = ", in the order of their keys"
	}
	if p == nil {
		return "looks at all records" + order + "; no index helps", nil
	}
	how := "reads the index " + Describe(p.index.Rule)
	switch {
	case p.equal > 0 || p.bounded:
		how += fmt.Sprintf(" where it has the values of %s", strings.Join(names(p), ", "))
	default:
		how += " as a whole"
	}
	if p.sorted {
		return how + ", which is in order", nil
	}
	return how + ", and sorts what it has found", nil
}

// names returns the fields of which a plan knows the values.
func names(p *plan) (list []string) {
	n := p.equal
	if p.bounded {
		n++
	}
	for _, f := range p.index.Rule.Fields[:n] {
		list = append(list, f.Name)
	}
	return list
}

// Describe returns a rule as people declare it.
func Describe(r objectdb.IndexRule) string {
	var list []string
	for _, f := range r.Fields {
		name := f.Name
		if f.Backward {
			name = "-" + name
		}
		list = append(list, name)
	}
	return `"` + strings.Join(list, ", ") + `"`
}
