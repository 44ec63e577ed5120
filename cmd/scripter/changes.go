package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// change is a change, with the later change that has undone it.
type change struct {
	objectdb.Change
	undoneBy int64 // the change that has undone it, or 0
}

// findChange returns a change by its number.
func findChange(tx *objectdb.Tx, number int64) (objectdb.Change, error) {
	c, err := tx.Change(number)
	if !errors.Is(err, objectdb.ErrNotFound) {
		return c, err
	}
	if err := isRemembered(tx, number); err != nil {
		return c, err
	}
	return c, hintError{fmt.Errorf("there is no change %d: that commit replaced nothing that is kept", number),
		`"scripter log" lists the changes`}
}

// who says who has made a change: "scripter put (ada)", "POST /guestbook.fcgi (eve)".
func who(o objectdb.Origin) string {
	text := strings.TrimSpace(o.Why + " " + o.Path)
	if text == "" {
		text = "scripter"
	}
	if o.Who != "" {
		text += " (" + o.Who + ")"
	}
	return text
}

// marks says what a change undoes, what has undone it, and with which change it was made in
// one transaction.
func (c *change) marks() string {
	var parts []string
	if len(c.Undoes) > 0 {
		parts = append(parts, "undoes "+numbers(c.Undoes))
	}
	if c.undoneBy > 0 {
		parts = append(parts, fmt.Sprintf("undone by %d", c.undoneBy))
	}
	if c.First != c.Generation {
		parts = append(parts, fmt.Sprintf("goes with %d", c.First))
	}
	return strings.Join(parts, ", ")
}

func numbers(list []int64) string {
	const most = 5
	var b strings.Builder
	for i, n := range list[:min(most, len(list))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// undoings finds out which changes are undone. It must see all changes, the newest first.
type undoings map[int64]int64

// see returns a change with the later change that has undone it.
func (u undoings) see(c objectdb.Change) change {
	by := u[c.Generation]
	if by == 0 { // an undo that is itself undone has no effect
		for _, g := range c.Undoes {
			if u[g] == 0 {
				u[g] = c.Generation
			}
		}
	}
	return change{c, by}
}

// howText says in words what a change has done to an object.
func howText(o *objectdb.ChangedObject) string {
	switch o.How {
	case objectdb.Inserted:
		return "added"
	case objectdb.Deleted:
		return "removed"
	case objectdb.Moved:
		return "moved"
	case objectdb.MovedAndWritten:
		if o.Before != nil && o.After != nil && o.Before.Address.String() != o.After.Address.String() {
			return "moved and changed"
		}
	}
	return "changed"
}

// addressIn returns the address of an object after a change, or before the change if it is gone. It
// returns nil if nothing of the object is kept.
func addressIn(o *objectdb.ChangedObject) objectdb.Address {
	switch {
	case o.After != nil:
		return o.After.Address
	case o.Before != nil:
		return o.Before.Address
	}
	return nil
}

// whatLimit is the greatest number of objects of a change whose places log looks up.
const whatLimit = 20000

// summary says what a change has changed.
type summary struct {
	how  string           // as howText, if it is the same for all objects
	from objectdb.Address // the old address of one object that was moved
	at   objectdb.Address // the one object, or the table that all are in
	all  bool             // at is known
}

// summarize looks up where the objects of a change are.
func summarize(tx *objectdb.Tx, c objectdb.Change) (s summary, err error) {
	if c.Count > whatLimit {
		return s, nil
	}
	n := 0
	for o, err := range tx.ChangedObjects(c.Generation) {
		if err != nil {
			return s, err
		}
		a, how := addressIn(&o), howText(&o)
		if len(a) == 0 { // unknown, or the root table, which a revert also replaces
			continue
		}
		if n++; n == 1 {
			s.at, s.how, s.all = slices.Clone(a), how, true
			if o.Before != nil && strings.HasPrefix(how, "moved") && c.Count == 1 {
				s.from = o.Before.Address
			}
			continue
		}
		if how != s.how {
			s.how = ""
		}
		if s.at = commonTable(s.at, a); len(s.at) == 0 {
			s.how = ""
			break
		}
	}
	return s, nil
}

// commonTable returns the table that two objects are in, or the one that is in the other.
func commonTable(a, b objectdb.Address) objectdb.Address {
	n := 0
	for n < min(len(a), len(b)) && objectdb.Fold(a[n]) == objectdb.Fold(b[n]) {
		n++
	}
	return a[:n]
}

// text returns the summary of a change of some objects as log prints it.
func (s *summary) text(count int) string {
	switch name := s.at.String(); {
	case count == 1 && s.from != nil:
		return s.how + " " + s.from.String() + " to " + name
	case count == 1 && s.all:
		return s.how + " " + name
	case !s.all:
		return thousands(count, "object")
	default:
		if len(s.at) == 0 {
			name = "the root"
		}
		return strings.TrimSpace(s.how + " " + thousands(count, "object") + " in " + name)
	}
}

// fields returns a change as programs read it.
func (c *change) fields(s *summary) map[string]any {
	m := map[string]any{
		"number": c.Generation, "time": time.Unix(0, c.Time).UTC(), "person": c.Origin.Person, "user": c.Origin.Who,
		"why": c.Origin.Why, "path": c.Origin.Path, "objects": c.Count,
		"undoes": append([]int64{}, c.Undoes...),
	}
	if c.undoneBy > 0 {
		m["undoneBy"] = c.undoneBy
	}
	if c.First != c.Generation {
		m["first"] = c.First
	}
	if s != nil && s.all {
		m["address"] = s.at.String()
		if s.how != "" {
			m["change"] = s.how
		}
		if s.from != nil {
			m["from"] = s.from.String()
		}
	}
	return m
}
