package admin

import (
	"cmp"
	"slices"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// readData says what a request or a run has read in the root.
type readData struct {
	Site     []readObject `json:"site"`
	Supplied []readObject `json:"supplied"`         // objects that come with a new root, and settings
	More     int          `json:"more,omitempty"`   // how many objects more were read
	Hidden   int          `json:"hidden,omitempty"` // how many of them the person may not see
}

// readObject is an object that was read.
type readObject struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	Table   bool             `json:"table,omitempty"` // its names were listed or counted
	IsThere bool             `json:"-"`               // now
}

// newReadData returns what was read, as far as the person may see it, in the order of the addresses; nil if it is
// not known.
func (c *call) newReadData(tx *objectdb.Tx, r *requestlog.Reads) *readData {
	if r == nil {
		return nil
	}
	data := &readData{Site: []readObject{}, Supplied: []readObject{}, More: r.More}
	add := func(list []objectdb.Address, table bool) {
		for _, a := range list {
			if !c.maySeeRead(a) {
				data.Hidden++
				continue
			}
			_, err := tx.Find(a)
			o := readObject{a, a.String(), table, err == nil}
			if requestlog.IsSupplied(a) {
				data.Supplied = append(data.Supplied, o)
			} else {
				data.Site = append(data.Site, o)
			}
		}
	}
	add(r.Tables, true)
	add(r.Values, false)
	for _, list := range [][]readObject{data.Site, data.Supplied} {
		slices.SortStableFunc(list, func(a, b readObject) int { return cmp.Compare(a.Dotted, b.Dotted) })
	}
	return data
}

// maySeeRead reports whether the person may see that an object was read. Who may not see all
// objects does not see those whose address cannot be judged, because a name of a table in it is masked.
func (c *call) maySeeRead(a objectdb.Address) bool {
	if c.role.Kind == site.RoleOwner {
		return true
	}
	return c.role.MaySee(a) && !slices.Contains(a[:max(0, len(a)-1)], requestlog.Masked)
}

// Shown returns the address for people.
func (o readObject) Shown() string { return name(o.Address) }

// IsLong reports whether the objects of the site are shown only when they are asked for.
func (d *readData) IsLong() bool { return len(d.Site) > 12 }
