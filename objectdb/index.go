package objectdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// An Index is one that the store keeps of a table: the tables in it are records, and the objects in a record are its
// fields. Transactions that write records write the entries of their indexes, too.
type Index struct {
	ID    int64 // is never the id of another index or of an object
	Table int64
	Rule  string // see IndexRule.String
	State IndexState
	Next  string // while it is built: the folded name of the record with which that goes on
}

// IndexState is how far an index is.
type IndexState int

const (
	IndexBuilding IndexState = iota // entries of older records are missing
	IndexBuilt
	IndexDropped // its entries are deleted, little by little
)

// IndexKey is what an index has of a record. The entry of a key has the place Key + the folded name of the record.
type IndexKey struct {
	Key string // that is not the beginning of another one
	N   int64  // see WordWeight; 0 in an index of values
}

// IndexEntry is an entry of an index. Entries are in the order of the bytes of their places.
type IndexEntry struct {
	Place string
	N     int64
}

// IndexWrite is the change of the keys of one record.
type IndexWrite struct {
	Index         int64
	Fold          string // the folded name of the record
	Before, After []IndexKey
}

// Entries returns the places of the entries that go, and the entries that come or change.
func (w *IndexWrite) Entries() (gone []string, come []IndexEntry) {
	before := make(map[string]int64, len(w.Before))
	for _, k := range w.Before {
		before[k.Key] = k.N
	}
	for _, k := range w.After {
		if n, ok := before[k.Key]; !ok || n != k.N {
			come = append(come, IndexEntry{k.Key + w.Fold, k.N})
		}
		delete(before, k.Key)
	}
	for _, k := range w.Before {
		if _, ok := before[k.Key]; ok {
			gone = append(gone, k.Key+w.Fold)
		}
	}
	return gone, come
}

// EncodeIndexKeys returns the form in which a store keeps the keys of a record.
func EncodeIndexKeys(keys []IndexKey) []byte {
	b := []byte{}
	for _, k := range keys {
		b = binary.AppendUvarint(b, uint64(len(k.Key)))
		b = append(b, k.Key...)
		b = binary.AppendUvarint(b, uint64(k.N))
	}
	return b
}

// DecodeIndexKeys returns the keys that EncodeIndexKeys has encoded.
func DecodeIndexKeys(b []byte) ([]IndexKey, error) {
	var keys []IndexKey
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("%w: the keys of a record in an index cannot be read", ErrDamaged)
		}
		key := string(b[n:][:size])
		b = b[n+int(size):]
		weight, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, fmt.Errorf("%w: the keys of a record in an index cannot be read", ErrDamaged)
		}
		b = b[n:]
		keys = append(keys, IndexKey{key, int64(weight)})
	}
	return keys, nil
}

// IndexRule says what an index has of each record.
type IndexRule struct {
	Words  bool // the words in the fields; else the values of the fields, one after the other
	Fields []IndexField
}

// IndexField is a field in an index.
type IndexField struct {
	Name     string // folded
	Backward bool   // its values are in reverse order
}

// The limits of what is declared for a table.
const (
	MaxIndexes     = 16
	MaxIndexFields = 4
	MaxWordFields  = 8
)

// ParseIndex reads the declaration of an index of values, such as "name" or "name, -added".
func ParseIndex(s string) (IndexRule, error) {
	r := IndexRule{}
	for part := range strings.SplitSeq(s, ",") {
		name, backward := strings.CutPrefix(strings.TrimSpace(part), "-")
		name = strings.TrimSpace(name)
		if err := CheckName(name); err != nil {
			return r, fmt.Errorf("the index %q: %w", s, err)
		}
		if r.has(Fold(name)) {
			return r, fmt.Errorf("the index %q has the field %s twice", s, name)
		}
		r.Fields = append(r.Fields, IndexField{Fold(name), backward})
	}
	if len(r.Fields) > MaxIndexFields {
		return r, fmt.Errorf("the index %q has more than %d fields", s, MaxIndexFields)
	}
	return r, nil
}

// ParseWordIndex makes the rule of an index of the words in some fields.
func ParseWordIndex(fields []string) (IndexRule, error) {
	r := IndexRule{Words: true}
	for _, name := range fields {
		if err := CheckName(name); err != nil {
			return r, fmt.Errorf("the search: %w", err)
		}
		if r.has(Fold(name)) {
			return r, fmt.Errorf("the search has the field %s twice", name)
		}
		r.Fields = append(r.Fields, IndexField{Name: Fold(name)})
	}
	if len(r.Fields) == 0 || len(r.Fields) > MaxWordFields {
		return r, fmt.Errorf("the search must have 1 to %d fields", MaxWordFields)
	}
	return r, nil
}

func (r *IndexRule) has(fold string) bool {
	return slices.ContainsFunc(r.Fields, func(f IndexField) bool { return f.Name == fold })
}

// String returns the form in which a store keeps the rule.
func (r IndexRule) String() string {
	list := make(List, len(r.Fields))
	for i, f := range r.Fields {
		name := f.Name
		if f.Backward {
			name = "-" + name
		}
		list[i] = String(name)
	}
	kind := "values"
	if r.Words {
		kind = "words"
	}
	return kind + string(AppendJSON(nil, list))
}

// parseIndexRule reads what String has returned.
func parseIndexRule(s string) (IndexRule, error) {
	r := IndexRule{}
	text, words := strings.CutPrefix(s, "words")
	if r.Words = words; !words {
		text = strings.TrimPrefix(s, "values")
	}
	v, err := ParseJSON(text)
	list, ok := v.(List)
	if err != nil || !ok || len(list) == 0 {
		return r, fmt.Errorf("%w: an index with the rule %q", ErrDamaged, s)
	}
	for _, v := range list {
		name, _ := v.(String)
		fold, backward := strings.CutPrefix(string(name), "-")
		if backward = backward && !words; !backward {
			fold = string(name)
		}
		r.Fields = append(r.Fields, IndexField{fold, backward})
	}
	return r, nil
}

// FoldAt returns the folded name of the record of an entry.
func (r *IndexRule) FoldAt(place string) string {
	if r.Words {
		_, fold, _ := strings.Cut(place, "\x00")
		return fold
	}
	at := 0
	for _, f := range r.Fields {
		at += OrderedLength(place[at:], f.Backward)
	}
	return place[at:]
}

// keys returns the keys of a record. n is its present node, of any kind.
func (r *IndexRule) keys(tx *Tx, n *Node) ([]IndexKey, error) {
	if !n.exists() || n.kind != KindTable {
		return nil, nil
	}
	if r.Words {
		return r.words(tx, n)
	}
	var key []byte
	for _, f := range r.Fields {
		v, err := tx.fieldOf(n, f.Name)
		if err != nil {
			return nil, err
		}
		if f.Backward {
			key = AppendReversed(key, v)
		} else {
			key = AppendOrdered(key, v)
		}
	}
	return []IndexKey{{string(key), 0}}, nil
}

// fieldOf returns the value of a field of a record, or nil.
func (tx *Tx) fieldOf(record *Node, fold string) (Value, error) {
	n, err := tx.at(record.id, []byte(fold), record)
	if err != nil || !n.exists() || n.kind == KindTable {
		return nil, err
	}
	if n.later != nil {
		return n.later()
	}
	if n.value != nil {
		return n.value, nil
	}
	return tx.fetch(n)
}

// IndexDeclarations is the table that has the declared indexes of tables, by their addresses. In each of its tables,
// "indexes" is a list of texts (see ParseIndex), and "search" a list of fields (see ParseWordIndex).
var IndexDeclarations = Address{"user", "records", "tables"}

// ReadIndexes returns the rules that are declared for a table; what is wrong is left out.
func (tx *Tx) ReadIndexes(declaration *Node) ([]IndexRule, error) {
	var rules []IndexRule
	for _, name := range []string{"indexes", "search"} {
		n, err := tx.step(declaration, name)
		if err != nil || !n.exists() || n.kind != KindList {
			if err != nil {
				return nil, err
			}
			continue
		}
		v, err := tx.Value(n)
		if err != nil {
			return nil, err
		}
		var texts []string
		for _, item := range v.(List) {
			if s, ok := item.(String); ok {
				texts = append(texts, string(s))
			}
		}
		if name == "search" {
			if r, err := ParseWordIndex(texts); err == nil {
				rules = append(rules, r)
			}
			continue
		}
		for _, s := range texts[:min(len(texts), MaxIndexes)] {
			if r, err := ParseIndex(s); err == nil {
				rules = append(rules, r)
			}
		}
	}
	return rules, nil
}

// indexing is what a state of the root says of its indexes.
type indexing struct {
	have []*keptIndex
	want []wantedIndex
}

// keptIndex is an index with its rule.
type keptIndex struct {
	Index
	rule IndexRule
}

// wantedIndex is an index that is declared for a table.
type wantedIndex struct {
	table *Node
	rule  IndexRule
}

// indexesFold is the folded name of a place that no object has. Commits that change the list of the indexes say that
// they have changed it.
const indexesFold = "indexes"

// readIndexing is the function of DB.indexing.
func readIndexing(tx *Tx) (*indexing, error) {
	n, err := tx.base(0, []byte(indexesFold), nil)
	if err != nil {
		return nil, err
	}
	tx.readsPlace(n)
	session, err := tx.reader()
	if err != nil {
		return nil, err
	}
	list, err := session.Indexes(tx.ctx)
	if err != nil {
		return nil, err
	}
	x := &indexing{}
	for _, i := range list {
		rule, err := parseIndexRule(i.Rule)
		if err != nil {
			return nil, err
		}
		x.have = append(x.have, &keptIndex{i, rule})
	}
	return x, x.declared(tx)
}

// declared reads which indexes are declared.
func (x *indexing) declared(tx *Tx) error {
	t, err := tx.find(IndexDeclarations)
	if err != nil || t.kind != KindTable {
		return err
	}
	list, err := tx.Children(t)
	if err != nil {
		return err
	}
	for _, d := range list {
		a, err := ParseAddress(d.name)
		if err != nil || d.kind != KindTable || len(a) == 0 {
			continue
		}
		rules, err := tx.ReadIndexes(d)
		if err != nil {
			return err
		}
		if len(rules) == 0 {
			continue
		}
		table, err := tx.find(a)
		if err != nil {
			return err
		}
		for _, r := range rules {
			known := func(w wantedIndex) bool { return w.table.id == table.id && w.rule.String() == r.String() }
			if table.kind == KindTable && !slices.ContainsFunc(x.want, known) {
				x.want = append(x.want, wantedIndex{table, r})
			}
		}
	}
	return nil
}

// unread returns the indexing as the transaction sees it, without adding it to the read set.
func (tx *Tx) unreadIndexing() (*indexing, error) {
	read := tx.read
	tx.read = nil
	defer func() { tx.read = read }()
	return tx.db.indexing.Get(tx)
}

// TableIndex is an index of a table that a transaction can use.
type TableIndex struct {
	Rule  IndexRule
	index *keptIndex
	table *Node
	// What the transaction has written itself, when its number of writes was wrote.
	own   *ownEntries
	wrote int64
}

// Indexes returns the indexes of a table that can be used. There are none of the past, nor of a table that the
// transaction has made.
func (tx *Tx) Indexes(t *Node) ([]*TableIndex, error) {
	t, err := tx.table(t)
	if err != nil || t.id < 0 || t.revived || tx.db.past || tx.uncached {
		return nil, err
	}
	// The session begins before that. Otherwise another transaction could drop an index that is in the list, before
	// its entries are read.
	if _, err := tx.reader(); err != nil {
		return nil, err
	}
	x, err := tx.db.indexing.Get(tx)
	if err != nil {
		return nil, err
	}
	var list []*TableIndex
	for _, i := range x.have {
		if i.Table != t.id || i.State != IndexBuilt {
			continue
		}
		known := slices.IndexFunc(tx.indexes, func(k *TableIndex) bool { return k.index.ID == i.ID })
		if known < 0 {
			known = len(tx.indexes)
			tx.indexes = append(tx.indexes, &TableIndex{Rule: i.rule, index: i})
		}
		tx.indexes[known].table = t
		list = append(list, tx.indexes[known])
	}
	return list, nil
}

// ownEntries are the entries of the records that a transaction has written.
type ownEntries struct {
	folds   map[string]bool // of these records
	entries []IndexEntry
}

// written returns what the transaction has written itself, or nil.
func (x *TableIndex) written(tx *Tx) (*ownEntries, error) {
	if tx.over == nil {
		return nil, nil
	}
	if x.own != nil && x.wrote == tx.wrote {
		return x.own, nil
	}
	read := tx.read
	tx.read = nil
	defer func() { tx.read = read }()
	folds, err := tx.writtenRecords(x.table)
	if err != nil {
		return nil, err
	}
	own := &ownEntries{folds: folds}
	for fold := range own.folds {
		n, err := tx.at(x.table.id, []byte(fold), x.table)
		if err != nil {
			return nil, err
		}
		keys, err := x.Rule.keys(tx, n)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			own.entries = append(own.entries, IndexEntry{k.Key + fold, k.N})
		}
	}
	slices.SortFunc(own.entries, func(a, b IndexEntry) int { return strings.Compare(a.Place, b.Place) })
	x.own, x.wrote = own, tx.wrote
	if read != nil && len(own.folds) > 0 {
		read.own = true
	}
	return own, nil
}

// writtenRecords returns the folded names of the records of a table that the transaction has written, or in which it has
// written.
func (tx *Tx) writtenRecords(t *Node) (map[string]bool, error) {
	folds := map[string]bool{}
	for _, d := range tx.over.tables {
		if d.table.id == t.id {
			for fold := range d.names {
				folds[fold] = true
			}
			continue
		}
		now, written := tx.over.objects[d.table.id]
		if !written { // another transaction may have moved it
			var err error
			if now, err = tx.byID(d.table.id, d.table); err != nil && err != ErrNotFound {
				return nil, err
			}
		}
		if now != nil && now.exists() && now.parent == t.id {
			folds[now.fold] = true
		}
	}
	return folds, nil
}

// Entries returns the first n entries of an index whose places are from or after one, and before end, in the order of
// their places. If backward is true, it returns the last n of them, in the reverse order. What lies between the bounds,
// as far as it was returned, must still be so when the transaction commits.
func (tx *Tx) Entries(x *TableIndex, from, end string, backward bool, n int) ([]IndexEntry, error) {
	own, err := x.written(tx)
	if err != nil {
		return nil, err
	}
	session, err := tx.reader()
	if err != nil {
		return nil, err
	}
	var list []IndexEntry
	for from, end, more := from, end, true; more && len(list) < n; {
		want, got, last := n-len(list), 0, ""
		if own != nil {
			want += min(len(own.folds), 100)
		}
		err := session.Entries(tx.ctx, x.index.ID, from, end, backward, want, func(e IndexEntry) error {
			got, last = got+1, e.Place
			if own == nil || !own.folds[x.Rule.FoldAt(e.Place)] {
				list = append(list, e)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if more = got == want; backward {
			end = last
		} else {
			from = last + "\x00"
		}
	}
	if own != nil {
		list = own.add(list, from, end, backward)
	}
	whole := len(list) <= n
	list = list[:min(len(list), n)]
	if tx.read != nil {
		r := indexRange{x.index.ID, from, end}
		if !whole && backward {
			r.from = list[len(list)-1].Place
		} else if !whole {
			r.end = list[len(list)-1].Place + "\x00"
		}
		tx.read.ranges = append(tx.read.ranges, r)
	}
	return list, nil
}

// add adds the own entries between two places to a list, which is in order.
func (o *ownEntries) add(list []IndexEntry, from, end string, backward bool) []IndexEntry {
	for _, e := range o.entries {
		if from <= e.Place && e.Place < end {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b IndexEntry) int {
		if backward {
			a, b = b, a
		}
		return cmp.Compare(a.Place, b.Place)
	})
	return list
}

// Keys returns the keys that the index has of a record, by its folded name.
func (tx *Tx) Keys(x *TableIndex, fold string) ([]IndexKey, error) {
	own, err := x.written(tx)
	if err != nil {
		return nil, err
	}
	if own != nil && own.folds[fold] {
		n, err := tx.at(x.table.id, []byte(fold), x.table)
		if err != nil {
			return nil, err
		}
		return x.Rule.keys(tx, n)
	}
	session, err := tx.reader()
	if err != nil {
		return nil, err
	}
	return session.IndexKeys(tx.ctx, x.index.ID, fold)
}

// indexRange is a part of an index that a transaction has read.
type indexRange struct {
	index     int64
	from, end string
}

// stands reports whether a part of an index is as it was. Where nothing is known of the changes, it may not be.
func (r *indexRange) stands(changed changedPlaces) bool {
	if changed == nil {
		return false
	}
	places := changed[r.index]
	if len(places) == 0 {
		return true
	}
	if places[0] == "" { // the whole index
		return false
	}
	i, _ := slices.BinarySearch(places, r.from)
	return i == len(places) || places[i] >= r.end
}

// rangesStand reports whether all parts of indexes that were read are as they were.
func (tx *Tx) rangesStand(changed changedPlaces) bool {
	for i := range tx.read.ranges {
		if !tx.read.ranges[i].stands(changed) {
			return false
		}
	}
	return true
}

// sameKeys reports whether two records have the same keys in an index.
func sameKeys(a, b []IndexKey) bool {
	return len(a) == len(b) && bytes.Equal(EncodeIndexKeys(a), EncodeIndexKeys(b))
}
