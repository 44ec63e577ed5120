package history

import (
	"context"
	"errors"

	"scripter/objectdb"
)

// Commit commits what fn changes, in one transaction that runs once, and returns the number of the
// change, or 0 if fn changed nothing. [Kept] tells whether the change can be taken back.
func Commit(ctx context.Context, db *objectdb.DB, fn func(tx *objectdb.Tx) error) (number int64, err error) {
	written := false
	err = db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		number = tx.Generation() + 1 // the lock is held
		err := fn(tx)
		written = tx.Written()
		return err
	})
	if err != nil || !written {
		return 0, err
	}
	return number, nil
}

// Kept reports whether anything is kept of what a commit has replaced. If not, it is no change in
// the history, and to undo the last change would take back another one.
func Kept(ctx context.Context, db *objectdb.DB, number int64) (bool, error) {
	err := db.View(ctx, func(tx *objectdb.Tx) error {
		_, err := tx.Change(number)
		return err
	})
	if errors.Is(err, objectdb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
