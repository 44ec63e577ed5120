package objectdb

import "context"

// commit applies what the transaction has written, under the writer's lock. Last
// is true when nothing follows in the transaction.
func (tx *Tx) commit(last bool) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.over == nil {
		return nil
	}
	if err := context.Cause(tx.ctx); err != nil {
		return err
	}
	if !tx.locked {
		seen := tx.gen
		if err := tx.lock(); err != nil {
			return err
		}
		if tx.gen != seen {
			if err := tx.validate(seen); err != nil {
				return err
			}
		}
	}
	w, err := tx.plan()
	if err != nil {
		return err
	}
	if err := w.apply(tx.conn); err != nil {
		return err
	}
	if err := tx.publish(w); err != nil {
		return err
	}
	tx.real = w.real
	return tx.settle(last)
}

// publish commits in the file and tells the cache.
func (tx *Tx) publish(w *work) error {
	tx.db.publishing.Lock()
	defer tx.db.publishing.Unlock()
	if err := tx.conn.commit(); err != nil {
		return err
	}
	w.publish(tx.db.cache)
	return nil
}

// validate looks whether what was read still stands, now that the lock is held
// and the newest state is seen. Whatever was written is at a place that was read.
func (tx *Tx) validate(seen int64) error {
	ok, err := tx.standsSince(seen)
	if ok && err == nil {
		ok, err = tx.unchanged(tx.marks.places.nodes, tx.marks.contents.nodes)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrConflict
	}
	return tx.validateWrites()
}

// standsSince tells whether what was read in generation seen can be compared with the
// state that is seen now, and what was derived from it stands. After a Revert an
// object may be here again, or be another kind of thing, under the id that was read.
func (tx *Tx) standsSince(seen int64) (bool, error) {
	reverted, err := tx.conn.reverted()
	if err != nil || reverted > seen {
		return false, err
	}
	for _, b := range tx.marks.derived {
		if ok, err := tx.stands(b); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// unchanged tells whether what was seen at places is there, and whether contents
// were not written since.
func (tx *Tx) unchanged(places, contents []*Node) (bool, error) {
	for _, n := range places {
		now, err := tx.base(n.parent, []byte(n.fold), nil)
		if err != nil || now.id != n.id {
			return false, err
		}
	}
	for _, n := range contents {
		now, err := tx.base(n.parent, []byte(n.fold), nil)
		if err != nil || now.id != n.id || now.ver != n.ver {
			return false, err
		}
	}
	return true, nil
}

func (tx *Tx) validateWrites() error {
	for id, d := range tx.over.tables {
		if id < 0 {
			continue
		}
		for fold, c := range d.names {
			now, err := tx.base(id, []byte(fold), nil)
			if err != nil {
				return err
			}
			if now.id != c.base.id {
				return ErrConflict
			}
			if c.now.id == now.id && c.now.name == c.base.name {
				c.now.name = now.name // its spelling was changed meanwhile
			}
			c.base = now
		}
	}
	return nil
}
