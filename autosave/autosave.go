// Package autosave saves copies of a root: [Save] at once, an [Agent] when one is due
// (specification, 2.2, 2.3 and 8). It also sets and clears the dirty root flag.
//
// A program that keeps running calls [Agent.Start]. A program that answers one request and ends
// asks [Agent.IsDue], and has another process call [Agent.SaveIfDue].
package autosave

import (
	"context"
	"errors"

	"scripter/objectdb"
	"scripter/site"
)

// Save saves the environment (specification, 2.2 and 2.3): it saves a copy of the root
// and clears the dirty root flag, unless the flag was set again during the save. As many
// copies are kept as the setting maxSaves says. If o.Changed is set and the newest copy
// is up to date, that copy counts as saved.
func Save(ctx context.Context, db *objectdb.DB, o objectdb.SaveOptions) (objectdb.Copy, error) {
	var flag *objectdb.Node // as it was before the save; nil: not set
	err := db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		o.Keep = int(s.Number(site.MaxSaves))
		if s.Flag(site.FlDirtyRoot) {
			flag, err = tx.Find(site.FlDirtyRoot.Address())
		}
		return err
	})
	if err != nil {
		return objectdb.Copy{}, err
	}
	c, err := db.Save(ctx, o)
	if c.Path == "" || flag == nil {
		return c, err
	}
	return c, errors.Join(err, clearDirtyRoot(ctx, db, flag.Version()))
}

// SetDirtyRoot sets the dirty root flag. It writes the flag even if it is set: a save
// that is running clears the flag unless it was written during the save.
func SetDirtyRoot(tx *objectdb.Tx) error {
	return tx.Put(site.FlDirtyRoot.Address(), objectdb.Boolean(true))
}

// clearDirtyRoot clears the flag unless it was written since it had this version.
func clearDirtyRoot(ctx context.Context, db *objectdb.DB, version int64) error {
	return db.Update(ctx, func(tx *objectdb.Tx) error {
		flag, err := tx.Find(site.FlDirtyRoot.Address())
		switch {
		case objectdb.IsMissing(err):
			return nil // somebody removed it
		case err != nil:
			return err
		case flag.Version() != version:
			return nil
		}
		return tx.Put(site.FlDirtyRoot.Address(), objectdb.Boolean(false))
	})
}
