package objectdb

import (
	"context"
	"errors"
	"time"
)

// Copy is a saved copy of a root: one complete file that is not written any
// more. Its name is that of the root with the time: site.root has
// site.saved-20260131-183000.root.
type Copy struct {
	Path string
	// Time is when it was saved, to the second, as its name says. It orders
	// the copies: when the clock was set back, it goes on from the newest one.
	Time time.Time
	// Fresh is when the copy was last as new as the root, by the clock of
	// then: the file's time of modification.
	Fresh time.Time
	Size  int64 // bytes
	// Version is that of a root before it was brought up to date, in a copy
	// made for that; such a copy is never removed. Else it is 0.
	Version int
}

// Info is what a root, or a saved copy, says of itself.
type Info struct {
	Version    int       // of the form in which the store keeps the root
	Outdated   bool      // there is a newer form, to which the root is brought when it is next used
	Generation int64     // raised by each commit
	Objects    int64     // the root table is one of them
	Created    time.Time // when the root was made; its copies have the same
	// MadeBy is the program that made the root, as it called itself
	// (Options.Program), MigratedBy the one that last brought it to a newer
	// version; "" when it is not known, or none did.
	MadeBy, MigratedBy string
	// Moved is where the root was moved to; "" if it was not, and can be written.
	Moved string
}

// SaveOptions says how to save a copy. The zero value saves a copy at once.
type SaveOptions struct {
	// Keep is the number of copies that remain: when the new one is finished, the
	// oldest beyond that number are removed. 0 removes none. Copies made before a root
	// was brought up to date are neither counted nor removed.
	Keep int
	// Wait is how long Save waits for another program that is saving a copy of the same
	// root. After that the error is ErrSaving.
	Wait time.Duration
	// Changed returns the newest copy and ErrUnchanged, instead of a new copy, when
	// nothing was committed since it was saved.
	Changed bool
	// Due, if it is set, is called once no other program can save. If it returns an
	// error, the save ends before anything is done.
	Due func() error
	// Progress is called now and then, and at the end, with how much is written and about how much there will be.
	Progress func(done, all int64)
	// Origin is that of the commit that Revert makes. The zero value stands for Options.Origin.
	Origin Origin
}

// RevertOptions says how a store reverts.
type RevertOptions struct {
	SaveOptions
	Whole  int64         // see Commit
	Bounds HistoryBounds // see Commit
	Unkept []int64       // nothing is kept of these objects, nor of the objects below them
}

// A Restorer is a Store that can go back to the objects of a saved copy, which another package keeps.
type Restorer interface {
	Store
	// Restore does what DB.Revert does, to the objects of a dump. It calls save once, while nobody else can write, to save
	// the present state.
	Restore(ctx context.Context, d *Dump, o RevertOptions, save func() (Copy, error)) (Reverted, error)
}

var (
	// ErrUnchanged says that the newest copy holds what the root holds.
	ErrUnchanged = errors.New("nothing was changed since the newest copy was saved")
	// ErrSaving says that another program is just saving a copy of the root.
	ErrSaving = errors.New("a copy of the root is being saved already")
)

// A Failure is a save that was not finished.
type Failure struct {
	Time time.Time // of its last sign of life; zero when there was no failure
	Why  string    // "" while it is still at work
}

// Reverted is what Revert has done.
type Reverted struct {
	Before   Copy  // the state before, which Revert goes back to as to any copy
	Restored int64 // objects that were changed or gone
	Removed  int64 // objects that had not been there
	// Generation is that of the commit: the number of the change, if anything is kept of what
	// was replaced.
	Generation int64
}

// Save makes a saved copy of the root, of one state, while others go on reading and
// writing. The copy appears whole or not at all, and is on the disk when Save returns.
// When the copy was made and old ones could not be removed, there are a Copy and an
// error.
func (db *DB) Save(ctx context.Context, o SaveOptions) (Copy, error) { return db.store.Save(ctx, o) }

// Revert makes the root what it was when the copy at path was saved. The
// copy is checked first, and the present state is saved. Then, in one transaction
// of the root itself, all that differs is replaced: a process that has the root open
// can go on, and sees the one state or the other. A transaction that has begun
// before and writes is run again. Objects that are the same keep their version,
// all others get a new one; the generation goes on.
//
// Writers wait while it works. o.Wait and o.Progress mean what they mean in Save; the other
// fields that say when to save a copy have no effect.
func (db *DB) Revert(ctx context.Context, path string, o SaveOptions) (Reverted, error) {
	r := RevertOptions{SaveOptions: o}
	if r.Origin == (Origin{}) {
		r.Origin = db.options.Origin
	}
	err := db.View(ctx, func(tx *Tx) error {
		rules, err := tx.historyRules()
		if err != nil {
			return err
		}
		r.Whole, r.Bounds, r.Unkept = rules.Whole, rules.Bounds, nil
		for _, rule := range rules.Subtrees {
			if rule.Keep != KeepNone {
				continue
			}
			n, err := tx.find(rule.Address)
			if err != nil {
				return err
			}
			if n.exists() {
				r.Unkept = append(r.Unkept, n.id)
			}
		}
		return nil
	})
	if err != nil {
		return Reverted{}, err
	}
	return db.store.Revert(ctx, path, r)
}

// Copies lists the saved copies of the root, the newest first.
func (db *DB) Copies() ([]Copy, error) { return db.store.Copies() }

// LastFailure returns what became of the last save of the root when it was not
// finished: it failed, was killed, or is still at work.
func (db *DB) LastFailure() Failure { return db.store.LastFailure() }
