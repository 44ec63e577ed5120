package objectdb

import (
	"context"
	"slices"
	"time"
)

const (
	// A commit that writes more records of a table does not write the entries of its indexes: they are built anew.
	bulkRecords = 2000
	// Each commit goes on by so many records with an index that is not built yet; BuildIndexes by more.
	buildStep      = 100
	largeBuildStep = 1000
	// A commit goes on for this time, so that others wait no longer for the lock.
	buildTime = 100 * time.Millisecond
	// Each commit deletes so many entries of a dropped index; BuildIndexes more.
	purgeStep      = 500
	largePurgeStep = 20_000
)

// index plans what the commit changes in the indexes.
func (w *work) index(tx *Tx) error {
	x, err := tx.unreadIndexing()
	if err != nil || len(x.have) == 0 && len(x.want) == 0 {
		return err
	}
	read := tx.read
	tx.read = nil
	defer func() { tx.read = read }()
	i := indexer{work: w, tx: tx, step: buildStep, end: time.Now().Add(buildTime)}
	w.purgeStep = purgeStep
	if tx.building {
		i.step, w.purgeStep = largeBuildStep, largePurgeStep
	}
	var indexes []*keptIndex // those that stay
	for _, h := range x.have {
		wanted := func(t wantedIndex) bool { return t.table.id == h.Table && t.rule.String() == h.Rule }
		switch {
		case h.State == IndexDropped:
			w.purge = append(w.purge, h.ID)
		case !slices.ContainsFunc(x.want, wanted):
			i.drop(h)
		default:
			indexes = append(indexes, h)
		}
	}
	for _, t := range x.want {
		known := func(h *keptIndex) bool { return h.Table == t.table.id && h.Rule == t.rule.String() }
		if !slices.ContainsFunc(indexes, known) {
			indexes = append(indexes, i.make(t.table.id, t.rule))
		}
	}
	for _, h := range indexes {
		table := slices.IndexFunc(x.want, func(t wantedIndex) bool { return t.table.id == h.Table || w.id(t.table.id) == h.Table })
		if err := i.write(h, x.want[table].table); err != nil {
			return err
		}
	}
	if len(w.purge) > 0 || len(w.indexes) > 0 {
		w.written = append(w.written, &Node{fold: indexesFold})
	}
	return nil
}

// indexer plans the changes of indexes.
type indexer struct {
	*work
	tx   *Tx
	step int       // how many records of indexes that are built the commit may still look at
	end  time.Time // when it stops
}

// make makes a new index.
func (i *indexer) make(table int64, rule IndexRule) *keptIndex {
	i.last++
	return &keptIndex{Index{ID: i.last, Table: i.id(table), Rule: rule.String()}, rule}
}

// drop drops an index.
func (i *indexer) drop(h *keptIndex) {
	gone := h.Index
	gone.State = IndexDropped
	i.indexes = append(i.indexes, gone)
	i.changed = append(i.changed, Place{h.ID, ""})
}

// write writes the entries of the records that the transaction has written, and goes on with an index that is not
// built yet. t is the present node of the table.
func (i *indexer) write(h *keptIndex, t *Node) error {
	folds, err := i.tx.writtenRecords(t)
	if err != nil {
		return err
	}
	if len(folds) > bulkRecords {
		if h.ID <= i.tx.last { // it is not new
			i.drop(h)
			h = i.make(t.id, h.rule)
		}
		i.indexes = append(i.indexes, h.Index)
		return nil
	}
	places := len(i.changed)
	for fold := range folds {
		n, err := i.tx.at(t.id, []byte(fold), t)
		if err != nil {
			return err
		}
		if err := i.record(h, n, fold); err != nil {
			return err
		}
	}
	if h.rule.Words && len(i.changed) > places { // the words would fill the list of changes
		i.changed = append(i.changed[:places], Place{h.ID, ""})
	}
	if h.State == IndexBuilt {
		return nil
	}
	return i.build(h, t, folds)
}

// record writes the entries of one record.
func (i *indexer) record(h *keptIndex, n *Node, fold string) error {
	after, err := h.rule.keys(i.tx, n)
	if err != nil {
		return err
	}
	var before []IndexKey
	if h.ID <= i.tx.last {
		if before, err = i.tx.session.IndexKeys(i.tx.ctx, h.ID, fold); err != nil {
			return err
		}
	}
	if sameKeys(before, after) {
		return nil
	}
	write := IndexWrite{Index: h.ID, Fold: fold, Before: before, After: after}
	i.entries = append(i.entries, write)
	if h.State == IndexBuilt {
		gone, come := write.Entries()
		for _, place := range gone {
			i.changed = append(i.changed, Place{h.ID, place})
		}
		for _, e := range come {
			i.changed = append(i.changed, Place{h.ID, e.Place})
		}
	}
	return nil
}

// build goes on with an index that is not built yet. The records in written are done.
func (i *indexer) build(h *keptIndex, t *Node, written map[string]bool) error {
	found, stopped := 0, false
	n, next := i.step, h.Next
	if n <= 0 {
		if h.ID > i.tx.last {
			i.indexes = append(i.indexes, h.Index)
		}
		return nil
	}
	if t.id > 0 {
		err := i.tx.session.Page(i.tx.ctx, t.id, h.Next, noEnd, false, n, func(r Row) error {
			found++
			next = r.Fold + "\x00"
			if written[r.Fold] {
				return nil
			}
			i.pages = append(i.pages, r.node(t))
			return nil
		})
		if err != nil {
			return err
		}
	}
	for at, n := range i.pages {
		if at > 0 && time.Now().After(i.end) {
			found, next = 0, n.fold
			stopped = true
			break
		}
		if err := i.record(h, n, n.fold); err != nil {
			return err
		}
	}
	i.pages = i.pages[:0]
	if i.step -= found; stopped {
		i.step = 0
	}
	now := h.Index
	if now.Next = next; found < n && !stopped {
		now.State, now.Next = IndexBuilt, ""
	}
	i.indexes = append(i.indexes, now)
	return nil
}

// BuildIndexes builds the indexes that are declared and not built yet, and deletes the entries of those that are no
// longer declared. It does so in many transactions, each of which holds the writer's lock shortly. progress is called
// after each; it may be nil.
func (db *DB) BuildIndexes(ctx context.Context, progress func()) error {
	for {
		done := false
		err := db.View(ctx, func(tx *Tx) error {
			x, err := tx.unreadIndexing()
			done = err == nil && x.done()
			return err
		})
		if err != nil || done {
			return err
		}
		if err := db.UpdateLocked(ctx, func(tx *Tx) error {
			tx.building = true
			return nil
		}); err != nil {
			return err
		}
		if progress != nil {
			progress()
		}
	}
}

// done reports whether all declared indexes are built, and there are no others.
func (x *indexing) done() bool {
	for _, h := range x.have {
		if h.State != IndexBuilt {
			return false
		}
	}
	return len(x.have) == len(x.want)
}

// IndexInfo describes an index for people.
type IndexInfo struct {
	Table Address
	Rule  IndexRule
	Built bool
}

// IndexList returns the declared indexes of tables that exist.
func (tx *Tx) IndexList() ([]IndexInfo, error) {
	x, err := tx.db.indexing.Get(tx)
	if err != nil {
		return nil, err
	}
	var list []IndexInfo
	for _, t := range x.want {
		built := slices.ContainsFunc(x.have, func(h *keptIndex) bool {
			return h.Table == t.table.id && h.Rule == t.rule.String() && h.State == IndexBuilt
		})
		list = append(list, IndexInfo{tx.Address(t.table), t.rule, built})
	}
	return list, nil
}
