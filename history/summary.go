package history

import (
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/valuetext"
)

// Summary says what a change has changed.
type Summary struct {
	Count int              // how many objects
	How   string           // what was done, in a word such as "added", if it is the same for all objects
	From  objectdb.Address // the old address of one object that was moved
	At    objectdb.Address // the one object, or the table that all are in
	Known bool             // At is known
}

// mostSummarized is the greatest number of objects of a change whose places are looked up.
const mostSummarized = 20000

// Summarize looks up where the objects of a change are.
func Summarize(tx *objectdb.Tx, c objectdb.Change) (*Summary, error) {
	s := &Summary{Count: c.Count}
	if c.Count > mostSummarized {
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
			s.At, s.How, s.Known = slices.Clone(a), how, true
			if o.Before != nil && strings.HasPrefix(how, "moved") && c.Count == 1 {
				s.From = o.Before.Address
			}
			continue
		}
		if how != s.How {
			s.How = ""
		}
		if s.At = commonTable(s.At, a); len(s.At) == 0 {
			s.How = ""
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

// String returns the summary in words: "added 3 objects in user".
func (s *Summary) String() string {
	switch name := s.At.String(); {
	case s.Count == 1 && s.From != nil:
		return s.How + " " + s.From.String() + " to " + name
	case s.Count == 1 && s.Known:
		return s.How + " " + name
	case !s.Known:
		return valuetext.Count(s.Count, "object")
	default:
		if len(s.At) == 0 {
			name = "the root"
		}
		return strings.TrimSpace(s.How + " " + valuetext.Count(s.Count, "object") + " in " + name)
	}
}

// howText returns in words what a change has done to an object.
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
