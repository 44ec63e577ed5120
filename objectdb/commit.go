package objectdb

import (
	"cmp"
	"context"
)

// catchUpSize is the size above which a read set is compared with the newest state
// before the writer's lock is taken, so that others wait less for the lock.
const catchUpSize = 2000

// commit commits what the transaction has written, under the writer's lock. last says
// that the transaction ends with this commit.
func (tx *Tx) commit(last bool) error {
	if err := tx.usable(); err != nil {
		return err
	}
	if tx.over == nil && tx.building {
		tx.over = &overlay{tables: map[int64]*delta{}, objects: map[int64]*Node{}}
	}
	if tx.over == nil {
		if tx.mode == optimistic && !tx.flushed && tx.losses != tx.db.cache.losses.Load() {
			return ErrConflict // its reads from the cache may come from two states
		}
		return nil
	}
	if err := context.Cause(tx.ctx); err != nil {
		return err
	}
	if tx.writer == nil {
		if err := tx.lockAndValidate(); err != nil {
			return err
		}
	}
	w, err := tx.plan()
	if err != nil {
		return err
	}
	flush, err := tx.publish(w)
	if err != nil {
		return err
	}
	tx.real = w.real
	tx.first, tx.committed = cmp.Or(tx.first, w.gen), w.gen
	tx.endSession()
	if flush == nil {
		return nil
	}
	if last && tx.beforeSync != nil {
		tx.beforeSync()
	}
	return flush(tx.ctx)
}

// publish commits in the store and tells the cache.
func (tx *Tx) publish(w *work) (flush func(context.Context) error, err error) {
	tx.db.publishing.Lock()
	defer tx.db.publishing.Unlock()
	if flush, err = tx.writer.Commit(tx.locked, w.commit(tx.Origin)); err != nil {
		return nil, err
	}
	w.publish(tx.db.cache)
	return flush, nil
}

// BeforeSync sets a function that the transaction calls at its end, after the commit
// and before it waits for the disk. Others see by then what was written. fn is not
// called if there is nothing to wait for.
func (tx *Tx) BeforeSync(fn func()) { tx.beforeSync = fn }

// lockAndValidate takes the writer's lock. It returns ErrConflict if something that was
// read has changed.
func (tx *Tx) lockAndValidate() error {
	if tx.read.size() > catchUpSize {
		if err := tx.catchUp(); err != nil {
			return err
		}
	}
	seen := tx.gen
	changes, err := tx.lock()
	if err != nil || tx.gen == seen && !tx.lost {
		return err
	}
	return tx.validate(seen, &changes)
}

// catchUp moves the transaction to the newest state. It returns ErrConflict if
// something that was read is different there.
func (tx *Tx) catchUp() error {
	seen := tx.gen
	tx.endSession()
	changes, err := tx.beginRead()
	if err != nil || tx.gen == seen && !tx.lost {
		return err
	}
	return tx.validate(seen, &changes)
}

// validate returns ErrConflict if something that was read in generation seen is
// different in the present state. The transaction has also read every place that it has
// written.
func (tx *Tx) validate(seen int64, changes *Changes) error {
	if tx.lost {
		return ErrConflict
	}
	changed := changes.after(seen)
	ok, err := tx.derivedStands(seen, changes)
	if ok = ok && tx.rangesStand(changed); ok && err == nil {
		ok, err = tx.unchanged(changed, tx.read.places.nodes, tx.read.contents.nodes)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrConflict
	}
	return tx.validateWrites(changed)
}

// derivedStands reports whether the derived values that were read in generation seen
// are still right. It returns false after a Revert, because an id may then name an
// object that is back, or an object of another kind.
func (tx *Tx) derivedStands(seen int64, changes *Changes) (bool, error) {
	if changes.Reverted > seen {
		return false, nil
	}
	changed := changes.after(seen)
	for _, d := range tx.read.derived {
		if ok, err := tx.stands(d, changed); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// unchanged reports whether the same objects are still at places, and whether contents
// have the same content.
func (tx *Tx) unchanged(changed changedPlaces, places, contents []*Node) (bool, error) {
	ok, err := changed.among(places, func(n *Node) (bool, error) {
		now, err := tx.base(n.parent, []byte(n.fold), nil)
		return err == nil && now.id == n.id, err
	})
	if err != nil || !ok {
		return false, err
	}
	return changed.among(contents, func(n *Node) (bool, error) {
		now, err := tx.base(n.parent, []byte(n.fold), nil)
		return err == nil && now.id == n.id && now.ver == n.ver, err
	})
}

// validateWrites replaces what each write was based on by the present state. It returns
// ErrConflict if another object is now there.
func (tx *Tx) validateWrites(changed changedPlaces) error {
	for id, d := range tx.over.tables {
		if id < 0 {
			continue
		}
		for fold, c := range d.names {
			if !changed.mayHold(id, fold) {
				continue
			}
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
