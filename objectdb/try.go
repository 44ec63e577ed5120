package objectdb

import "slices"

// attempts are the calls of Try under way, the innermost last.
type attempts struct {
	from  []int    // where the steps of each begin in steps
	steps []func() // undo what was written, from the last to the first
	// failed is set for good when something was undone: then a node that the
	// transaction has written may stand for nothing any more.
	failed bool
}

// Try runs fn and returns its error. After an error the root is, for the rest of
// the transaction, as it was when Try was called, but for what a Flush within fn
// has committed. What fn has read still counts as read. Attempts may be made
// inside of attempts. One that writes nothing costs nothing.
func (tx *Tx) Try(fn func() error) error {
	tx.tries.from = append(tx.tries.from, len(tx.tries.steps))
	kept := false
	defer func() {
		if last := len(tx.tries.from) - 1; kept && last > 0 {
			tx.tries.from = tx.tries.from[:last] // the outer one may still fail
		} else {
			tx.tries.end(kept)
			if !kept {
				tx.wrote++
			}
		}
	}()
	err := fn()
	kept = err == nil
	return err
}

// end ends the innermost attempt, and undoes it unless it is kept.
func (a *attempts) end(keep bool) {
	last := len(a.from) - 1
	from := a.from[last]
	if !keep {
		for _, undo := range slices.Backward(a.steps[from:]) {
			undo()
			a.failed = true
		}
	}
	clear(a.steps[from:])
	a.from, a.steps = a.from[:last], a.steps[:from]
}

// undoable records how a write is undone, within an attempt.
func (tx *Tx) undoable(undo func()) {
	if len(tx.tries.from) > 0 {
		tx.tries.steps = append(tx.tries.steps, undo)
	}
}

// committed makes what was written so far stay.
func (a *attempts) committed() {
	clear(a.steps)
	a.steps = a.steps[:0]
	clear(a.from)
}
