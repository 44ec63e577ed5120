package objectdb

import "iter"

// recordedReads is what RecordReads remembers.
type recordedReads struct {
	flushed []*readSet        // what was read before each Flush
	tables  map[int64]Address // addresses of tables, by id
}

// maxRecordedTables is the number of tables whose addresses are looked up before a Flush, which may delete the tables.
const maxRecordedTables = 1000

// RecordReads makes the transaction remember for [Tx.Reads] what it reads. It is called before anything is read. A
// transaction that can lose a race remembers it anyway. With RecordReads the others do so too: those that hold the
// writer's lock from their start, those that only read, and those that go on after a Flush.
func (tx *Tx) RecordReads() {
	if tx.recorded != nil {
		return
	}
	tx.recorded = &recordedReads{tables: map[int64]Address{}}
	if tx.read == nil {
		tx.read = new(readSet)
	}
}

// Reads returns the objects that the transaction has read, each once, about in the order of the first reads:
// values, and tables whose names it has listed or counted. Listing a table reads the values in it too. What the
// transaction has written itself does not count, and a table through which a path leads is not read. What the
// values of a [DerivedMap] are made from counts, but not what a [Derived] is made from, because that is the same in
// all transactions. Without RecordReads there are none.
func (tx *Tx) Reads() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if tx.recorded == nil {
			return
		}
		seen := map[int64]bool{} // by id
		for _, read := range append(tx.recorded.flushed[:len(tx.recorded.flushed):len(tx.recorded.flushed)], tx.read) {
			lists := [][]*Node{read.contents.nodes}
			for _, d := range read.derived {
				if d.keyed {
					lists = append(lists, d.contents)
				}
			}
			for _, nodes := range lists {
				for _, n := range nodes {
					if seen[n.id] {
						continue
					}
					seen[n.id] = true
					if !yield(n) {
						return
					}
				}
			}
		}
	}
}

// keepReads keeps for Reads what was read before a Flush.
func (tx *Tx) keepReads() {
	if tx.recorded == nil {
		return
	}
	tx.recorded.flushed = append(tx.recorded.flushed, tx.read)
	places := tx.read.places.nodes
	for _, n := range places[:min(len(places), maxRecordedTables)] {
		tx.tableRead(n)
	}
}

// AddressRead returns the address that an object of Reads had before the transaction has written anything, or nil
// if it is not known.
func (tx *Tx) AddressRead(n *Node) Address {
	if n.id == RootID {
		return Address{}
	}
	table := tx.tableRead(n)
	if table == nil {
		return nil
	}
	return table.Child(n.name)
}

// tableRead returns the address of the table of n, or nil.
func (tx *Tx) tableRead(n *Node) Address {
	if n.parent == RootID {
		return Address{}
	}
	if a := tx.recorded.tables[n.parent]; a != nil {
		return a
	}
	table := (*Node)(nil)
	if up := n.up; up != nil && up.id == n.parent && up.parent >= 0 {
		// Mostly in the cache, so that no session begins for this. The table may have another name now.
		if now, err := tx.base(up.parent, []byte(up.fold), nil); err == nil && now.id == up.id {
			table = now
		}
	}
	if table == nil {
		var err error
		if table, err = tx.byID(n.parent, nil); err != nil {
			return nil
		}
	}
	a := tx.AddressRead(table)
	if a != nil {
		tx.recorded.tables[n.parent] = a
	}
	return a
}
