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
	// Objects limits the number of objects that are looked up for the summaries of all changes together. The
	// summary of a change with more objects than are left of this limit has only their number. If more objects than
	// the limit are or were at At, List examines the objects of one change after the other, up to the limit in all,
	// and finds the changes of objects that were at At at that time: see Log.Next. 0 is no limit.
	Objects int
}

// Log is a list of changes.
type Log struct {
	Changes []Change // the newest first
	More    bool     // there are older ones, which Filter.Most has left out
	// Next is the Filter.Before for the next call of List: changes below it were not examined. 0: there are none.
	Next int64
	// Unkept is the object at Filter.At if its present value was written by a commit of which
	// nothing is kept.
	Unkept *objectdb.Node
}

// List returns the changes that a filter lets through, each with its summary. If there is no object
// at the address, now or in the history, the error is ErrNoObject.
func List(tx *objectdb.Tx, f Filter) (*Log, error) {
	at, err := findPlace(tx, f)
	if err != nil {
		return nil, err
	}
	log, newest, seen, part := &Log{}, int64(0), undoings{}, strings.ToLower(f.Who)
	changes := at.changes(tx)
	if f.Before > 0 && at.changed == nil {
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
		is, looked, err := at.has(tx, c)
		if err != nil {
			return nil, err
		}
		if !looked {
			log.More, log.Next = true, c.Generation+1
			break
		}
		if !is {
			continue
		}
		if log.More = f.Most > 0 && len(log.Changes) == f.Most; log.More {
			log.Next = log.Changes[f.Most-1].Generation
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

// place finds the changes of the object at an address and of all that is or was in it.
type place struct {
	changed []int64        // the generations of its changes, the newest first; nil: they are not known
	ids     map[int64]bool // of the objects at the address, if changed is not known; nil: it is the root
	most    int            // the number of objects that are examined
	left    int            // the number of them that are left
}

// findPlace finds the object of a filter.
func findPlace(tx *objectdb.Tx, f Filter) (*place, error) {
	p := &place{most: f.Objects, left: f.Objects}
	if len(f.At) == 0 {
		return p, nil
	}
	at, err := idsAt(tx, f.At)
	if err != nil {
		return nil, err
	}
	ids, complete, err := tx.IDsBelow(at, f.Objects)
	if err != nil {
		return nil, err
	}
	if complete {
		list, err := tx.ChangesOf(ids)
		p.changed = append([]int64{}, list...)
		return p, err
	}
	p.ids = map[int64]bool{}
	for _, id := range at {
		p.ids[id] = true
	}
	return p, nil
}

// changes yields the changes of the place, or all changes of the root if they are not known.
func (p *place) changes(tx *objectdb.Tx) iter.Seq2[objectdb.Change, error] {
	if p.changed == nil {
		return tx.Changes(0)
	}
	return func(yield func(objectdb.Change, error) bool) {
		for _, g := range p.changed {
			c, err := tx.Change(g)
			if errors.Is(err, objectdb.ErrNotFound) {
				continue // it was dropped, and something that it has kept is still there
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// has reports whether a change belongs to the place. looked is false if too many objects were examined before. A
// change with more objects than may be examined in all counts, because it may belong to the place.
func (p *place) has(tx *objectdb.Tx, c objectdb.Change) (is, looked bool, err error) {
	if p.ids == nil {
		return true, true, nil
	}
	if p.left <= 0 {
		return false, false, nil
	}
	is, n, err := tx.ChangedBelow(c.Generation, p.ids, p.left)
	rest := !is && n < c.Count
	if rest && p.left < p.most { // the next list looks at more of it
		return false, false, err
	}
	p.left -= max(n, 1)
	return is || rest, true, err
}

// IDsAt returns the ids of the objects that are or were at and below an address. If there are none,
// the error is ErrNoObject.
func IDsAt(tx *objectdb.Tx, a objectdb.Address) ([]int64, error) {
	ids, err := idsAt(tx, a)
	if err == nil {
		ids, _, err = tx.IDsBelow(ids, 0)
	}
	return ids, err
}

// idsAt returns the ids of the objects that are or were at an address.
func idsAt(tx *objectdb.Tx, a objectdb.Address) ([]int64, error) {
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
	return ids, nil
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
	if objectdb.IsMissing(err) {
		return nil, nil
	}
	return n, err
}
