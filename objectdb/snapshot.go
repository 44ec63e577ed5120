package objectdb

// snapshot begins what the transaction sees. One that may be run again begins no session
// when the store knows the newest generation and the cache stands for it: most of what
// it asks for is in the cache. The session begins when something is missed there, or
// written: see reader.
func (tx *Tx) snapshot() error {
	if tx.mode == optimistic && !tx.flushed {
		if gen, ok := tx.db.store.Newest(); ok && gen <= tx.db.cache.generation() {
			tx.gen = gen
			return nil
		}
	}
	_, err := tx.beginRead()
	return err
}

func (tx *Tx) beginRead() (Changes, error) {
	since := tx.db.cache.generation()
	if tx.gen > 0 {
		since = min(since, tx.gen)
	}
	s, state, err := tx.db.store.BeginRead(tx.ctx, since, tx.wait)
	if err != nil {
		return Changes{}, err
	}
	tx.session, tx.gen, tx.last = s, state.Generation, state.LastID
	tx.db.follow(state)
	return state.Changes, nil
}

// reader returns the session to read with. Where it begins only now, another one may
// have committed since the transaction began. Then the transaction sees the
// newer state from now on, if nothing is different there of what it has read; else it is
// in conflict, as if that had been found at its end, and is run again.
func (tx *Tx) reader() (Session, error) {
	if tx.session != nil {
		return tx.session, nil
	}
	if err := tx.usable(); err != nil {
		return nil, err
	}
	seen := tx.gen
	changes, err := tx.beginRead()
	if err != nil {
		return nil, err
	}
	if tx.gen != seen {
		same, err := tx.sameAs(seen, &changes)
		if err == nil && !same {
			err = ErrConflict
		}
		if err != nil {
			tx.err, tx.overtaken = err, true
			return nil, err
		}
		tx.newer = true
	}
	return tx.session, nil
}

// sameAs reports whether all that the transaction has read is the same in the state that
// it sees now as in generation seen. It has written nothing.
func (tx *Tx) sameAs(seen int64, changes *Changes) (bool, error) {
	if ok, err := tx.derivedStands(seen, changes); err != nil || !ok {
		return false, err
	}
	changed := changes.after(seen)
	read := [][]*Node{tx.read.places.nodes, tx.read.contents.nodes}
	if tx.root != nil {
		read = append(read, []*Node{tx.root})
	}
	for _, nodes := range read {
		if same, err := changed.among(nodes, tx.sameNode); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameNode reports whether a node is as it was. That is more than what counts at a
// commit, because the transaction has the node still: not only must a name lead to the same
// object, but to the same content of it. Of a table the transaction
// knows only the name yet: it begins a session before it reads what is in it, or when it was
// written.
func (tx *Tx) sameNode(n *Node) (bool, error) {
	now, err := tx.base(n.parent, []byte(n.fold), nil)
	switch {
	case err != nil:
		return false, err
	case now.id != n.id || now.kind != n.kind || now.name != n.name:
		return false, nil
	}
	return now.ver == n.ver || n.kind == KindTable, nil
}
