package objectdb

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"iter"
	"math/bits"
	"slices"
)

// A Sum says what a root has in one of its top tables, which are the tables in the root table.
type Sum struct {
	// Table is the name of the table. "" stands for all that is in none of them: the root table itself, objects in it
	// that are no tables, the changes of the history, kept states of what is gone with its top table, and what the root
	// says of itself.
	Table   string
	Objects int64
	States  int64 // kept states of objects
	// Checksum is made of everything that the root keeps of them. It does not depend on the store.
	Checksum [sha256.Size]byte
}

// Transfer is the part of copying a root that all stores share. It calls write with a dump that write reads to its end,
// and then back, which dumps what was written. It compares the checksums of both, and returns them.
func Transfer(d *Dump, write func(*Dump) error, back func() (*Dump, error)) ([]Sum, error) {
	p := &transfer{report: d.Progress, all: 2 * (d.Count + d.History.Objects + d.History.Changes)}
	from := newSummer(d)
	if err := write(from.over(d, p)); err != nil {
		return nil, err
	}
	if !from.complete {
		return nil, errors.New("it was not read to its end")
	}
	d, err := back()
	if err != nil {
		return nil, err
	}
	to := newSummer(d)
	again := to.over(d, p)
	if err := errors.Join(drain(again.Objects), drain(again.Past), drain(again.Changes)); err != nil {
		return nil, fmt.Errorf("what was written cannot be read: %w", err)
	}
	sums := from.sums()
	if p.report != nil {
		p.report(p.all, p.all)
	}
	return sums, compare(sums, to.sums())
}

// drain reads a sequence to its end.
func drain[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrDiffers says that a copy is not equal to its original.
var ErrDiffers = errors.New("the copy differs from the original")

// compare returns an error that names the first table that differs.
func compare(from, to []Sum) error {
	missing := map[string]Sum{}
	for _, b := range to {
		missing[b.Table] = b
	}
	for _, a := range from {
		b := missing[a.Table]
		delete(missing, a.Table)
		if a != b {
			return differs(a.Table, a, b)
		}
	}
	for name, b := range missing {
		return differs(name, Sum{}, b)
	}
	return nil
}

func differs(table string, a, b Sum) error {
	where := "outside of all tables"
	if table != "" {
		where = fmt.Sprintf("in the table %q", table)
	}
	return fmt.Errorf("%w %s: the original has %d objects and %d past states there, and the copy %d and %d",
		ErrDiffers, where, a.Objects, a.States, b.Objects, b.States)
}

// transfer counts what was read.
type transfer struct {
	report    func(done, all int64)
	done, all int64
}

func (t *transfer) step() {
	if t.done++; t.done%500 == 0 && t.report != nil {
		t.report(min(t.done, t.all), t.all)
	}
}

// A summer makes the checksums of a dump while it is read. The objects come in the order of their ids, and it is known
// only at the end in which top table they are. So it adds the hashes of objects up by their tables. The sum does not
// depend on the order.
type summer struct {
	hash     hash.Hash
	buffer   []byte
	tables   map[int64]*summedTable
	rest     summed // of no table
	complete bool
}

type summedTable struct {
	summed
	parent int64
	until  int64 // 0 if it is a present table
	known  bool  // its own row was read
	name   string
	fold   string
}

// summed is the sum of hashes, modulo 2^256.
type summed struct {
	sum             [4]uint64
	objects, states int64
}

func newSummer(d *Dump) *summer {
	s := &summer{hash: sha256.New(), tables: map[int64]*summedTable{}}
	h := &d.History
	s.numbers(d.Generation, d.LastID, d.Reverted, d.Created, h.Reach, h.ReachTime, h.Thinned, h.Bytes)
	s.text(StorableText(d.MadeBy))
	s.text(StorableText(d.MigratedBy))
	s.addTo(&s.rest)
	return s
}

// over returns a dump with the sequences of d. They add what is read from them to the sums.
func (s *summer) over(d *Dump, p *transfer) *Dump {
	same := *d
	same.MadeBy, same.MigratedBy = StorableText(d.MadeBy), StorableText(d.MigratedBy)
	same.Objects, same.Past = s.pasts(d.Objects, p), s.pasts(d.Past, p)
	same.Changes = func(yield func(RecordedChange, error) bool) {
		for c, err := range d.Changes {
			if err == nil {
				o := &c.Origin
				o.Who, o.Why, o.Path = StorableText(o.Who), StorableText(o.Why), StorableText(o.Path)
				s.change(&c)
				p.step()
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
		s.complete = true
	}
	return &same
}

func (s *summer) pasts(seq iter.Seq2[Past, error], p *transfer) iter.Seq2[Past, error] {
	return func(yield func(Past, error) bool) {
		for o, err := range seq {
			if err == nil {
				s.object(&o)
				p.step()
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func (s *summer) object(o *Past) {
	s.numbers(o.ID, o.Parent, int64(o.Kind), o.Version, o.Created, o.Modified, o.Size, o.Kept, o.Since, o.Until)
	s.text(o.Name)
	s.text(o.Fold)
	s.text(o.Type)
	s.flag(o.Thinned)
	s.flag(o.Hash != nil)
	s.text(string(o.Hash))
	s.flag(o.Value != nil)
	if o.Value != nil {
		s.text(EncodeText(o.Value))
	}
	at := o.Parent
	if o.Kind == KindTable {
		at = o.ID
	}
	t := s.tables[at]
	if t == nil {
		t = &summedTable{}
		s.tables[at] = t
	}
	if o.Kind == KindTable && (!t.known || t.until != 0 && o.Until > t.until) {
		t.known, t.parent, t.until, t.name, t.fold = true, o.Parent, o.Until, o.Name, o.Fold
	}
	if o.Until == 0 {
		t.objects++
	} else {
		t.states++
	}
	s.addTo(&t.summed)
}

func (s *summer) change(c *RecordedChange) {
	s.numbers(c.Generation, c.Time, c.First, int64(c.Count), int64(len(c.Undoes)), int64(len(c.Objects)))
	s.numbers(c.Undoes...)
	s.flag(c.Origin.Person)
	s.text(c.Origin.Who)
	s.text(c.Origin.Why)
	s.text(c.Origin.Path)
	s.flag(c.Thinned)
	for _, o := range c.Objects {
		s.numbers(o.ID, int64(o.How))
	}
	s.addTo(&s.rest)
}

func (s *summer) numbers(list ...int64) {
	s.buffer = s.buffer[:0]
	for _, n := range list {
		s.buffer = binary.BigEndian.AppendUint64(s.buffer, uint64(n))
	}
	s.hash.Write(s.buffer)
}

func (s *summer) flag(b bool) {
	n := int64(0)
	if b {
		n = 1
	}
	s.numbers(n)
}

// text adds a text in parts, because a value may be long.
func (s *summer) text(t string) {
	s.numbers(int64(len(t)))
	for len(t) > 0 {
		n := min(len(t), 4096)
		s.buffer = append(s.buffer[:0], t[:n]...)
		s.hash.Write(s.buffer)
		t = t[n:]
	}
}

// addTo adds the hash of what was given since the last call.
func (s *summer) addTo(to *summed) {
	s.buffer = s.hash.Sum(s.buffer[:0])
	s.hash.Reset()
	var words [4]uint64
	for i := range words {
		words[i] = binary.BigEndian.Uint64(s.buffer[8*i:])
	}
	to.add(&words)
}

func (t *summed) add(words *[4]uint64) {
	var carry uint64
	for i := 3; i >= 0; i-- {
		t.sum[i], carry = bits.Add64(t.sum[i], words[i], carry)
	}
}

func (t *summed) join(other *summed) {
	t.add(&other.sum)
	t.objects += other.objects
	t.states += other.states
}

// result returns the Sum of a table.
func (t *summed) result(name string) Sum {
	r := Sum{Table: name, Objects: t.objects, States: t.states}
	for i, word := range t.sum {
		binary.BigEndian.PutUint64(r.Checksum[8*i:], word)
	}
	return r
}

// sums returns the sums of the top tables, in the order of their folded names; the first one is that of no table.
func (s *summer) sums() []Sum {
	rest := s.rest
	top := map[int64]*summed{}
	for id, t := range s.tables {
		at := s.topOf(id)
		if at == 0 {
			rest.join(&t.summed)
			continue
		}
		if top[at] == nil {
			top[at] = &summed{}
		}
		top[at].join(&t.summed)
	}
	ids := make([]int64, 0, len(top))
	for id := range top {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(s.tables[a].fold, s.tables[b].fold) })
	list := []Sum{rest.result("")}
	for _, id := range ids {
		list = append(list, top[id].result(s.tables[id].name))
	}
	return list
}

// topOf returns the id of the top table that a table is in, or was in at last; 0 if there is none now.
func (s *summer) topOf(id int64) int64 {
	for range maxDepth {
		t := s.tables[id]
		switch {
		case id == RootID || t == nil || !t.known:
			return 0
		case t.parent == RootID && t.until == 0:
			return id
		}
		id = t.parent
	}
	return 0
}
