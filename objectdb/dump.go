package objectdb

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// A Dump is everything in a root, in one state, as a copy in another store needs it. Each sequence is read once, in the
// order of the fields, and at most one at a time. After an error a sequence ends.
type Dump struct {
	Generation int64
	LastID     int64 // see State
	Reverted   int64 // see Changes
	// Created is when the root was made, in nanoseconds since 1970; see Info for the others.
	Created            int64
	MadeBy, MigratedBy string
	History            HistoryInfo // without ThinnedObjects and ThinnedBytes
	Count              int64       // the number of present objects

	Objects iter.Seq2[Past, error]           // the present ones, in the order of their ids
	Past    iter.Seq2[Past, error]           // in the order of their ids, and then of Until
	Changes iter.Seq2[RecordedChange, error] // the oldest first

	// Progress, if it is set, is called now and then by Transfer, with what is done and how much there is to do.
	Progress func(done, all int64)
}

// RecordedChange is a change with all that a root keeps of it.
type RecordedChange struct {
	Change
	Thinned bool // all that it has kept is thinned
	Objects []Replaced
}

// Dump calls fn with everything in the root. The dump is valid until fn returns.
func (db *DB) Dump(ctx context.Context, fn func(*Dump) error) error {
	if db.past {
		return &Error{Op: "copy", Path: db.Path(), Err: errPast}
	}
	return db.View(ctx, func(tx *Tx) error {
		s, err := tx.reader()
		if err != nil {
			return err
		}
		d, err := s.Dump(ctx)
		if err != nil {
			return err
		}
		return fn(d)
	})
}

// Move calls fn with everything in the root, to move it to another place. From the moment of the dump on, every write of
// any process is refused (ErrMoved), and the error names target. If fn returns an error, the root can be written again.
func (db *DB) Move(ctx context.Context, target string, fn func(*Dump) error) (err error) {
	defer func() {
		if known := new(Error); err != nil && !errors.As(err, &known) {
			err = &Error{Op: "move", Path: db.Path(), Err: err}
		}
	}()
	var s Session
	_, err = db.store.Mark(ctx, target, func() (err error) {
		s, _, err = db.store.BeginRead(ctx, 0, db.patience())
		return err
	})
	if s != nil {
		defer s.End()
	}
	if err != nil {
		return err
	}
	d, err := s.Dump(ctx)
	if err == nil {
		err = fn(d)
	}
	if err != nil {
		if _, back := db.Unmark(context.WithoutCancel(ctx)); back != nil {
			return fmt.Errorf("%w; and it stays marked as moved: %w", err, back)
		}
	}
	return err
}

// Unmark makes a root that was moved writable again, and returns where it was moved to, or "" if it was not.
func (db *DB) Unmark(ctx context.Context) (target string, err error) {
	if target, err = db.store.Mark(ctx, "", nil); err != nil {
		err = &Error{Op: "make writable", Path: db.Path(), Err: err}
	}
	return target, err
}
