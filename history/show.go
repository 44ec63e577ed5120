package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Details is a change with the objects that it has changed.
type Details struct {
	Change
	Objects   []objectdb.ChangedObject // in the order of their addresses
	Forgotten int                      // the number of objects of which nothing is kept
	More      int                      // the number of objects beyond the most that was asked for
}

// Show returns a change by its number, with at most so many of its objects; 0 is all. See Find.
func Show(tx *objectdb.Tx, number int64, most int) (*Details, error) {
	found, err := Find(tx, number)
	if err != nil {
		return nil, err
	}
	d := &Details{Change: Change{Change: found}}
	for o, err := range tx.ChangedObjects(number) {
		if err != nil {
			return nil, err
		}
		if most > 0 && len(d.Objects)+d.Forgotten == most {
			d.More = found.Count - most
			break
		}
		switch {
		case len(addressIn(&o)) > 0:
			d.Objects = append(d.Objects, o)
		case o.ID != objectdb.RootID: // a revert replaces the root table
			d.Forgotten++
		}
	}
	if d.UndoneBy, err = undoneBy(tx, found, d.Objects); err != nil {
		return nil, err
	}
	slices.SortStableFunc(d.Objects, func(a, b objectdb.ChangedObject) int {
		return slices.CompareFunc(addressIn(&a), addressIn(&b), func(a, b string) int {
			return strings.Compare(objectdb.Fold(a), objectdb.Fold(b))
		})
	})
	return d, nil
}

// undoneBy returns the change that has undone another one, or 0. It looks among the later
// changes of the same objects.
func undoneBy(tx *objectdb.Tx, of objectdb.Change, list []objectdb.ChangedObject) (int64, error) {
	const most = 1000
	var ids []int64
	for _, o := range list[:min(most, len(list))] {
		ids = append(ids, o.ID)
	}
	later, err := tx.ChangesOf(ids)
	if err != nil {
		return 0, err
	}
	seen := undoings{}
	for _, g := range later {
		if g <= of.Generation {
			break
		}
		c, err := tx.Change(g)
		if errors.Is(err, objectdb.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		seen.see(c)
	}
	return seen[of.Generation], nil
}

// DiffOf returns what a change has done to one of its objects.
func DiffOf(tx *objectdb.Tx, number int64, o *objectdb.ChangedObject) (*Diff, error) {
	d := &Diff{How: howText(o)}
	var err error
	if d.Before, err = sideAt(tx, o.ID, number-1, o.Before, fmt.Sprintf("before change %d", number)); err != nil {
		return nil, err
	}
	if d.After, err = sideAt(tx, o.ID, number, o.After, fmt.Sprintf("change %d", number)); err != nil {
		return nil, err
	}
	if d.Before == nil && o.How != objectdb.Inserted {
		was := *d.After
		was.Value, was.Note, was.Why = nil, "", "no longer kept"
		d.Before = &was
	}
	return d, nil
}
