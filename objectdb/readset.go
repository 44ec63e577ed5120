package objectdb

// readSet is what a transaction has read and what must still be so when it commits:
// places, and of some of them the content.
type readSet struct {
	places   nodeList
	contents nodeList
	derived  []*dependencies // of Derived values
	ranges   []indexRange
	own      bool // the transaction has read in a table in which it has written
}

// size returns about the number of things read.
func (r *readSet) size() int {
	n := len(r.places.nodes) + len(r.contents.nodes) + len(r.ranges)
	for _, d := range r.derived {
		n += len(d.places) + len(d.contents)
	}
	return n
}

// nodeList is a list of nodes with few duplicates.
type nodeList struct {
	nodes  []*Node
	recent [64]*Node
	tidy   int // the length at which duplicates are searched for
}

func (s *nodeList) add(n *Node) {
	slot := &s.recent[uint64(n.id+n.parent)%uint64(len(s.recent))]
	if *slot == n {
		return
	}
	*slot = n
	if len(s.nodes) >= max(s.tidy, 4096) {
		s.compact()
	}
	s.nodes = append(s.nodes, n)
}

func (s *nodeList) compact() {
	seen := make(map[Place]bool, len(s.nodes)/4)
	unique := s.nodes[:0]
	for _, n := range s.nodes {
		if !seen[n.place()] {
			seen[n.place()] = true
			unique = append(unique, n)
		}
	}
	clear(s.nodes[len(unique):])
	s.nodes = unique
	s.tidy = 2 * len(unique)
}

// readsPlace adds the place of n to the read set: the transaction has found n, or nothing, there.
func (tx *Tx) readsPlace(n *Node) {
	if tx.read != nil && n.ver >= 0 && n.parent >= 0 {
		tx.read.places.add(n)
	}
}

// readsContent adds the content of n to the read set.
func (tx *Tx) readsContent(n *Node) {
	if tx.read != nil && n.ver >= 0 && n.parent >= 0 {
		tx.read.contents.add(n)
	}
}

// readsObject adds the content of n to the read set. That of a table is read when it is
// listed: see readsNames.
func (tx *Tx) readsObject(n *Node) {
	if n.kind != KindTable {
		tx.readsContent(n)
	}
}
