// Package history tells what was changed in a root: what the commands and the web page show of
// changes and differences.
//
// List returns the changes, of the whole root or at an address. Show returns what one change has
// done, and DiffOf what it has done to an object. Compare compares two states of the root. Undo
// takes changes back, and Commit makes one. Past is the root as it was.
//
// Values whose names mean a secret are masked in all texts and fields that the package returns.
// Diff and Side have the values themselves.
package history

import "errors"

// What can be wrong with a change, an address or a moment that a person has named. The text of an
// error that is one of these says more. The others are those of package objectdb, as ErrReach and
// ErrNothingToUndo.
var (
	ErrNoChange = errors.New("no such change")
	ErrNoObject = errors.New("no such object, now or in the history")
	ErrMoment   = errors.New("neither a change nor a time")
	ErrFuture   = errors.New("still to come")
)

// An Error says in words what is wrong.
type Error struct {
	Text string
	Err  error // one of those above
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }
