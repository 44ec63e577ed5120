package objectdb

// snapshot chooses the state that the transaction sees. If the transaction may be run
// again, and the cache is as new as the store, it begins no session: most of what it
// reads is in the cache. The session begins when the transaction writes or reads
// something that is not in the cache: see reader.
func (tx *Tx) snapshot() error {
	if tx.mode == optimistic && !tx.flushed {
		losses := tx.db.cache.losses.Load()
		if gen, ok := tx.db.store.Newest(losses, tx.recent); ok && gen <= tx.db.cache.generation() {
			tx.gen, tx.losses = gen, losses
			return nil
		}
	}
	_, err := tx.beginRead()
	if err == nil && tx.lost { // after a flush: its nodes may stand for other objects
		err = ErrConflict
	}
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
	tx.session = s
	tx.sees(state)
	return state.Changes, nil
}

// sees sets the state of the transaction to that of a new session.
func (tx *Tx) sees(s State) {
	tx.lost = tx.lost || tx.gen > 0 && tx.losses != s.Losses
	tx.gen, tx.last, tx.losses = s.Generation, s.LastID, s.Losses
	tx.db.follow(s)
}

// reader returns the session to read with, and begins it if need be. Another
// transaction may then have committed since this one began. If nothing that this one
// has read is different, it sees the newer state from now on. Else the error is
// ErrConflict, as at a commit, and the transaction is run again.
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
	if tx.gen != seen || tx.lost {
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
	if tx.lost {
		return false, nil
	}
	if ok, err := tx.derivedStands(seen, changes); err != nil || !ok {
		return false, err
	}
	changed := changes.after(seen)
	if !tx.rangesStand(changed) {
		return false, nil
	}
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

// sameNode reports whether a node is as it was. It compares more than a commit does,
// because the transaction still has the node: the name must lead to the same object
// with the same content. Of a table the transaction knows only the name, because it
// begins a session before it reads what is in a table or writes in it.
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
