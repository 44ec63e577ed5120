package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/textdiff"
	"scripter/valuetext"
)

// Undo says which changes are to be taken back, and how.
type Undo struct {
	Changes []int64            // their numbers; if empty, the last change of a person
	Redo    bool               // make again what the last undo of a person took back; Changes is empty
	Only    []objectdb.Address // if not empty, only what the changes have done at and below these
	// Merge keeps later changes of a text, if they can be merged by line. A script that was merged
	// must compile, which Compiles checks.
	Merge    bool
	Compiles func(tx *objectdb.Tx, a objectdb.Address, s objectdb.Script) error
}

// Undone says what an undo has done.
type Undone struct {
	objectdb.Undone
	What    string  // the changes, in words
	Skipped []int64 // the last changes of persons of which nothing is left to take back
}

// IsEmpty reports whether nothing was left to take back.
func (u *Undone) IsEmpty() bool { return u.Changed+u.Restored+u.Removed == 0 }

// String returns what was done: "1 object changed, 2 objects added".
func (u *Undone) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{u.Changed, "changed"}, {u.Restored, "added"}, {u.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, valuetext.Count(p.n, "object")+" "+p.what)
		}
	}
	if len(u.Merged) > 0 {
		parts = append(parts, fmt.Sprintf("%d of them merged", len(u.Merged)))
	}
	return strings.Join(parts, ", ")
}

// Run takes the changes back in a transaction. If nothing is left of the last change of a person, it
// takes back the one before. If an object was changed since, the error is a Conflict and nothing is
// written. If there is no change to take back, it is ErrNothingToUndo of package objectdb.
func (u *Undo) Run(tx *objectdb.Tx) (did Undone, err error) {
	o := objectdb.UndoOptions{Only: u.Only}
	if u.Merge {
		o.Merge = func(a objectdb.Address, before, after, theirs objectdb.Value) (objectdb.Value, error) {
			return u.merge(tx, a, before, after, theirs)
		}
	}
	for {
		list, err := u.changes(tx, did.Skipped)
		if err != nil {
			return did, err
		}
		if did.What, err = u.describe(tx, list); err != nil {
			return did, err
		}
		did.Undone, err = tx.Undo(list, o)
		var conflict *objectdb.UndoConflict
		if errors.As(err, &conflict) {
			return did, u.conflict(tx, did.What, conflict)
		}
		if err == nil && len(did.Changes) > len(list) { // with other parts of the same transactions
			did.What, err = u.describe(tx, did.Changes)
		}
		if err != nil || len(u.Changes) > 0 || u.Redo || !did.IsEmpty() {
			return did, err
		}
		did.Skipped = append(did.Skipped, list...)
	}
}

// changes returns the changes that are to be taken back.
func (u *Undo) changes(tx *objectdb.Tx, skip []int64) ([]int64, error) {
	for _, n := range u.Changes {
		if _, err := Find(tx, n); err != nil {
			return nil, err
		}
	}
	if len(u.Changes) > 0 {
		return u.Changes, nil
	}
	last := func() (int64, error) { return tx.LastUndoable(skip...) }
	none := "there is nothing to take back: no change of a person is left"
	if u.Redo {
		last = tx.LastRedoable
		none = "there is nothing to make again: nothing was taken back since the last change of a person"
	}
	n, err := last()
	if errors.Is(err, objectdb.ErrNothingToUndo) {
		return nil, &Error{none, objectdb.ErrNothingToUndo}
	}
	return []int64{n}, err
}

// describe returns in words the changes that are taken back, or made again.
func (u *Undo) describe(tx *objectdb.Tx, list []int64) (string, error) {
	first, err := Find(tx, list[0])
	if err != nil {
		return "", err
	}
	if u.Redo {
		list = first.Undoes
		if first, err = tx.Change(list[0]); errors.Is(err, objectdb.ErrNotFound) {
			return "change " + Numbers(list), nil
		}
	}
	if err != nil || len(list) > 1 {
		return "changes " + Numbers(list), err
	}
	s, err := Summarize(tx, first)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("change %d (%s: %s)", list[0], what(first.Origin), s), nil
}

// merge returns a text with the changes made since a change, but without that change: see
// objectdb.UndoOptions.
func (u *Undo) merge(
	tx *objectdb.Tx, a objectdb.Address, before, after, theirs objectdb.Value,
) (objectdb.Value, error) {
	k := theirs.Kind()
	if before.Kind() != k || after.Kind() != k {
		return nil, errors.New("its kind was changed")
	}
	switch k {
	case objectdb.KindString, objectdb.KindText, objectdb.KindOutline, objectdb.KindScript:
	default:
		return nil, fmt.Errorf("a %s has no lines", k)
	}
	text, clean := textdiff.Merge(valuetext.Format(after), valuetext.Format(before), valuetext.Format(theirs))
	if !clean {
		return nil, errors.New("the same lines were changed since")
	}
	v, err := valuetext.Parse(k, text)
	if source, ok := v.(objectdb.Script); ok && err == nil {
		if err := u.Compiles(tx, a, source); err != nil {
			return nil, fmt.Errorf("the result does not compile: %w", err)
		}
	}
	return v, err
}

// Conflict is the error of an undo of objects that were changed since.
type Conflict struct {
	What    string // the changes that are not taken back, in words
	Redo    bool
	Objects []ConflictingObject
	Partial bool // other objects of the change can be taken back: see Undo.Only
}

// ConflictingObject is an object that was changed since.
type ConflictingObject struct {
	objectdb.ConflictingObject
	By string // who has made the change Since, or ""
}

func (u *Undo) conflict(tx *objectdb.Tx, what string, c *objectdb.UndoConflict) *Conflict {
	r := &Conflict{What: what, Redo: u.Redo}
	for _, o := range c.Objects {
		by := ""
		if later, err := tx.Change(o.Since); err == nil {
			by = Who(later.Origin)
		}
		r.Objects = append(r.Objects, ConflictingObject{o, by})
	}
	changed, err := tx.Change(c.Objects[0].Change)
	r.Partial = err == nil && changed.Count > len(c.Objects)
	return r
}

// MayMerge reports whether Undo.Merge may help.
func (c *Conflict) MayMerge() bool {
	return slices.ContainsFunc(c.Objects, func(o ConflictingObject) bool { return o.Merge })
}

func (c *Conflict) Error() string {
	not := " is not taken back: "
	if c.Redo {
		not = " is not made again: "
	}
	const most = 20
	var lines []string
	for _, o := range c.Objects[:min(most, len(c.Objects))] {
		line := o.Address.String() + " " + o.Why
		if o.Since > 0 {
			line += fmt.Sprintf(" (change %d", o.Since)
			if o.By != "" {
				line += ": " + o.By
			}
			line += ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		return c.What + not + lines[0]
	}
	if more := len(c.Objects) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return c.What + not + "\n\t" + strings.Join(lines, "\n\t")
}

// Fields returns the objects as programs read them.
func (c *Conflict) Fields() []any {
	list := []any{}
	for _, o := range c.Objects {
		m := map[string]any{"address": o.Address.String(), "change": o.Change, "why": o.Why}
		if o.Since > 0 {
			m["since"], m["sinceBy"] = o.Since, o.By
		}
		list = append(list, m)
	}
	return list
}
