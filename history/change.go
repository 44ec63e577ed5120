package history

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/objectdb"
)

// Change is a change, with what lists of changes show of it.
type Change struct {
	objectdb.Change
	UndoneBy int64    // the change that has undone it, or 0
	Summary  *Summary // where its objects are; nil if that was not looked up
}

// Find returns a change by its number. If there is none, the error is ErrNoChange, or ErrReach of
// package objectdb.
func Find(tx *objectdb.Tx, number int64) (objectdb.Change, error) {
	c, err := tx.Change(number)
	if !errors.Is(err, objectdb.ErrNotFound) {
		return c, err
	}
	if err := IsRemembered(tx, number); err != nil {
		return c, err
	}
	return c, &Error{fmt.Sprintf("there is no change %d: that commit replaced nothing that is kept", number),
		ErrNoChange}
}

// Who returns what has made a change, and for which user: "scripter put (ada)", "POST
// /guestbook.fcgi (eve)".
func Who(o objectdb.Origin) string {
	text := what(o)
	if text == "" {
		text = "scripter"
	}
	if o.Who != "" {
		text += " (" + o.Who + ")"
	}
	return text
}

// what returns the command or the request that has made a change.
func what(o objectdb.Origin) string { return strings.TrimSpace(o.Why + " " + o.Path) }

// When returns the time of a change.
func (c *Change) When() time.Time { return time.Unix(0, c.Time).UTC() }

// Marks returns which changes a change undoes, which change has undone it, and which change is the
// first of the same transaction: "undoes 3, undone by 7, goes with 5".
func (c *Change) Marks() string {
	var parts []string
	if len(c.Undoes) > 0 {
		parts = append(parts, "undoes "+Numbers(c.Undoes))
	}
	if c.UndoneBy > 0 {
		parts = append(parts, fmt.Sprintf("undone by %d", c.UndoneBy))
	}
	if c.First != c.Generation {
		parts = append(parts, fmt.Sprintf("goes with %d", c.First))
	}
	return strings.Join(parts, ", ")
}

// Numbers returns the first numbers of changes as a text.
func Numbers(list []int64) string {
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

// Fields returns a change as programs read it.
func (c *Change) Fields() map[string]any {
	m := map[string]any{
		"number": c.Generation, "time": c.When(), "person": c.Origin.Person, "user": c.Origin.Who,
		"why": c.Origin.Why, "path": c.Origin.Path, "objects": c.Count,
		"undoes": append([]int64{}, c.Undoes...),
	}
	if c.UndoneBy > 0 {
		m["undoneBy"] = c.UndoneBy
	}
	if c.First != c.Generation {
		m["first"] = c.First
	}
	if s := c.Summary; s != nil && s.Known {
		m["address"] = s.At.String()
		if s.How != "" {
			m["change"] = s.How
		}
		if s.From != nil {
			m["from"] = s.From.String()
		}
	}
	return m
}

// undoings finds out which changes are undone. It must see all changes, the newest first.
type undoings map[int64]int64

// see returns a change with the later change that has undone it.
func (u undoings) see(c objectdb.Change) Change {
	by := u[c.Generation]
	if by == 0 { // an undo that is itself undone has no effect
		for _, g := range c.Undoes {
			if u[g] == 0 {
				u[g] = c.Generation
			}
		}
	}
	return Change{Change: c, UndoneBy: by}
}
