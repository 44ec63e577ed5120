package objectdb

// marks is what a transaction has read and what must still stand when it is
// committed: places, and of some of them the content.
type marks struct {
	places   markSet
	contents markSet
	derived  []*basis // what Derived values were made of
}

// markSet is a list that lets few things in twice.
type markSet struct {
	nodes  []*Node
	recent [64]*Node
	tidy   int // the length at which duplicates are searched for
}

func (s *markSet) add(n *Node) {
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

func (s *markSet) compact() {
	seen := make(map[place]bool, len(s.nodes)/4)
	kept := s.nodes[:0]
	for _, n := range s.nodes {
		if !seen[n.place()] {
			seen[n.place()] = true
			kept = append(kept, n)
		}
	}
	clear(s.nodes[len(kept):])
	s.nodes = kept
	s.tidy = 2 * len(kept)
}

// sees notes that the transaction has found n, or nothing, where it looked.
func (tx *Tx) sees(n *Node) {
	if tx.marks != nil && n.ver >= 0 && n.parent >= 0 {
		tx.marks.places.add(n)
	}
}

// reads notes that the transaction knows what is in n.
func (tx *Tx) reads(n *Node) {
	if tx.marks != nil && n.ver >= 0 && n.parent >= 0 {
		tx.marks.contents.add(n)
	}
}
