package history

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"scripter/objectdb"
	"scripter/valuetext"
)

// Filter says which changes List returns.
type Filter struct {
	At     objectdb.Address // only those of the object there and of all that is or was in it
	Since  Moment           // only those since a time, or after a change
	Before int64            // only those with a lower number, unless it is 0
	Who    string           // only those with this text in Who, in any case
	Most   int              // at most so many; 0 is all
	// Objects is how many objects of all the changes together are looked up for their summaries. The
	// summary of a change with more than what is left of it has only their number. 0 is no limit.
	Objects int
}

// Log is a list of changes.
type Log struct {
	Changes []Change // the newest first
	More    bool     // there are older ones, which Filter.Most has left out
	// Unkept is the object at Filter.At if its present value was written by a commit of which
	// nothing is kept.
	Unkept *objectdb.Node
}

// List returns the changes that a filter lets through, each with its summary. If there is no object
// at the address, now or in the history, the error is ErrNoObject.
func List(tx *objectdb.Tx, f Filter) (*Log, error) {
	changes, err := changesAt(tx, f.At)
	if err != nil {
		return nil, err
	}
	log, newest, seen, part := &Log{}, int64(0), undoings{}, strings.ToLower(f.Who)
	if f.Before > 0 && len(f.At) == 0 {
		// Of the newer changes, only the undos matter.
		for c, err := range tx.PersonChanges(0) {
			if err != nil {
				return nil, err
			}
			if c.Generation < f.Before {
				break
			}
			seen.see(c)
		}
		changes = tx.Changes(f.Before)
	}
	for c, err := range changes {
		if err != nil {
			return nil, err
		}
		newest = max(newest, c.Generation)
		change := seen.see(c)
		if f.Since.isAfter(&change) {
			break
		}
		if f.Before > 0 && c.Generation >= f.Before || !strings.Contains(strings.ToLower(Who(c.Origin)), part) {
			continue
		}
		if log.More = f.Most > 0 && len(log.Changes) == f.Most; log.More {
			break
		}
		log.Changes = append(log.Changes, change)
	}
	left := f.Objects
	for i, c := range log.Changes {
		if f.Objects > 0 && c.Count > left {
			log.Changes[i].Summary = &Summary{Count: c.Count}
			continue
		}
		left -= c.Count
		if log.Changes[i].Summary, err = Summarize(tx, c.Change); err != nil {
			return nil, err
		}
	}
	log.Unkept, err = writtenAfter(tx, f.At, newest)
	return log, err
}

// changesAt yields the changes of the object at an address and of all that is or was in it. If the
// address is empty, it yields the changes of the whole root.
func changesAt(tx *objectdb.Tx, a objectdb.Address) (iter.Seq2[objectdb.Change, error], error) {
	if len(a) == 0 {
		return tx.Changes(0), nil
	}
	ids, err := IDsAt(tx, a)
	if err != nil {
		return nil, err
	}
	list, err := tx.ChangesOf(ids)
	return func(yield func(objectdb.Change, error) bool) {
		for _, g := range list {
			c, err := tx.Change(g)
			if errors.Is(err, objectdb.ErrNotFound) {
				continue // it was dropped, and something that it has kept is still there
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}, err
}

// IDsAt returns the ids of the objects that are or were at and below an address. If there are none,
// the error is ErrNoObject.
func IDsAt(tx *objectdb.Tx, a objectdb.Address) ([]int64, error) {
	ids, err := tx.IDsAt(a)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		reach, made, err := tx.Reach()
		if err != nil {
			return nil, err
		}
		since := "change " + strconv.FormatInt(reach, 10)
		if made.UnixNano() > 0 {
			since += " of " + valuetext.Time(made)
		}
		return nil, &Error{fmt.Sprintf("there is no object %s, and the history back to %s has none", a, since),
			ErrNoObject}
	}
	return tx.IDsBelow(ids)
}

// writtenAfter returns the object at an address if its value was written after a change.
func writtenAfter(tx *objectdb.Tx, a objectdb.Address, newest int64) (*objectdb.Node, error) {
	if len(a) == 0 {
		return nil, nil
	}
	n, err := find(tx, a)
	if n == nil || err != nil || n.Kind() == objectdb.KindTable || n.Version() <= newest {
		return nil, err
	}
	return n, nil
}

// find returns the object at an address, or nil.
func find(tx *objectdb.Tx, a objectdb.Address) (*objectdb.Node, error) {
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	return n, err
}
