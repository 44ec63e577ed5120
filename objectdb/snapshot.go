package objectdb

// snapshot begins what the transaction sees. One that may be run again does not
// begin SQLite's read transaction when the root is as the last one has found it: what
// it asks for is in the cache most of the time, which holds for that generation
// too. It begins when something is missed there, or written: see reader.
func (tx *Tx) snapshot() error {
	if tx.mode == optimistic && !tx.flushed {
		if gen, ok := tx.conn.newest(); ok && gen <= tx.db.cache.generation() {
			tx.gen, tx.late = gen, true
			return nil
		}
	}
	return tx.beginRead()
}

func (tx *Tx) beginRead() error {
	err := tx.patiently(func() (err error) {
		tx.gen, err = tx.conn.beginRead()
		return err
	})
	if err == nil {
		tx.late = false
		err = tx.db.follow(tx.conn, tx.gen)
	}
	return err
}

// reader gives the connection to read with. Where the read transaction begins only
// now, another one may have committed since the transaction began. Then it sees the
// newer state from now on, if nothing is different there of what it has read; else it is
// in conflict, as if it had been found at its end, and is run again.
func (tx *Tx) reader() (*conn, error) {
	if !tx.late {
		return tx.conn, nil
	}
	seen := tx.gen
	if err := tx.beginRead(); err != nil {
		return nil, err
	}
	if tx.gen != seen {
		same, err := tx.sameAs(seen)
		if err == nil && !same {
			err = ErrConflict
		}
		if err != nil {
			tx.err, tx.overtaken = err, true
			return nil, err
		}
		tx.newer = true
	}
	return tx.conn, nil
}

// sameAs tells whether all that the transaction has read is the same in the state that
// it sees now as in generation seen. It has written nothing.
func (tx *Tx) sameAs(seen int64) (bool, error) {
	if ok, err := tx.standsSince(seen); err != nil || !ok {
		return false, err
	}
	read := [][]*Node{tx.marks.places.nodes, tx.marks.contents.nodes}
	if tx.root != nil {
		read = append(read, []*Node{tx.root})
	}
	for _, nodes := range read {
		if same, err := tx.sameNodes(nodes); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameNodes tells whether nodes are as they were. That is more than what counts at a
// commit, because the transaction has them still: not only must a name lead to the same
// object, but to the same content of it. Of a table nothing is known yet but its
// name: who asks what is in it, or when it was written, begins to read first.
func (tx *Tx) sameNodes(nodes []*Node) (bool, error) {
	for _, n := range nodes {
		now, err := tx.base(n.parent, []byte(n.fold), nil)
		switch {
		case err != nil:
			return false, err
		case now.id != n.id || now.kind != n.kind || now.name != n.name:
			return false, nil
		case now.ver != n.ver && n.kind != KindTable:
			return false, nil
		}
	}
	return true, nil
}
