package objectdb

import (
	"context"
	"database/sql/driver"
)

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
	// After a Revert an object may be here again, or be another kind of thing,
	// under the id that was read.
	var row [1]driver.Value
	if err := tx.conn.one(row[:], sqlReverted); err != nil {
		return metaError(err)
	}
	if reverted, _ := row[0].(int64); reverted > seen {
		return ErrConflict
	}
	ok, err := tx.unchanged(tx.marks.places.nodes, tx.marks.contents.nodes)
	for i := 0; ok && err == nil && i < len(tx.marks.derived); i++ {
		ok, err = tx.stands(tx.marks.derived[i])
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrConflict
	}
	return tx.validateWrites()
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
