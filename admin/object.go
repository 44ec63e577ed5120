package admin

import (
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/valuetext"
)

// objectRoutes lists the pages of objects and of the tree.
func (s *Server) objectRoutes() {
	s.page("GET /tree", readers, (*call).treePart)
	s.page("GET /tree/{address...}", readers, (*call).treePart)
	s.page("GET /at", readers, (*call).objectPage)
	s.page("GET /at/{address...}", readers, (*call).objectPage)
	s.page("POST /at", readers, (*call).changeObject)
	s.page("POST /at/{address...}", readers, (*call).changeObject)
}

// object is an object for people and programs.
type object struct {
	Address  objectdb.Address `json:"-"`
	Dotted   string           `json:"address"`
	Name     string           `json:"name"`
	Kind     string           `json:"kind"`
	Version  int64            `json:"version"`
	Created  time.Time        `json:"created"`
	Modified time.Time        `json:"modified"`
	Size     int64            `json:"size"`
	Type     string           `json:"type,omitempty"`
	Preview  string           `json:"preview,omitempty"` // the beginning of its value
	Secret   bool             `json:"secret,omitempty"`  // its value is not shown
}

// step is a part of the path to an object.
type step struct {
	Name    string
	Address objectdb.Address
}

// objectData is the page of an object.
type objectData struct {
	object
	Kinds      []string         `json:"-"` // that a new object can have
	Free       objectdb.Address `json:"-"` // where a copy may go
	Table      *tableData       `json:"table,omitempty"`
	*valueData                  // of an object that is no table
}

// MayShowAll reports whether the page can show all of the value.
func (d *objectData) MayShowAll() bool { return d.Size <= maxEdited }

// objectPage shows an object.
func (c *call) objectPage() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	return c.showObject(a)
}

// showObject returns the page of the object at an address.
func (c *call) showObject(a objectdb.Address) (*result, error) {
	data := &objectData{}
	if len(a) > 0 {
		data.Free = a.Parent().Child(a.Name() + " copy")
	}
	err := c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil {
			return err
		}
		data.object = c.describe(tx, a, n)
		if n.Kind() != objectdb.KindTable {
			data.valueData, err = c.valuePart(tx, a, n)
			return err
		}
		if !c.role.MaySee(a) {
			data.valueData = &valueData{Masked: true}
			return nil
		}
		for _, k := range kinds {
			data.Kinds = append(data.Kinds, k.String())
		}
		data.Table = &tableData{}
		return c.readTable(tx, a, n, data.Table)
	})
	if err != nil {
		return nil, err
	}
	return &result{template: "object", title: name(a), data: data}, nil
}

// breadcrumbs returns the steps from the root to an object.
func breadcrumbs(a objectdb.Address) []step {
	var list []step
	for i, n := range a {
		list = append(list, step{n, a[:i+1]})
	}
	return list
}

// describe returns an object without its whole value. It does not return the size of a secret.
func (c *call) describe(tx *objectdb.Tx, a objectdb.Address, n *objectdb.Node) object {
	o := object{Address: a, Dotted: a.String(), Name: n.Name(), Kind: n.Kind().String(), Version: n.Version(),
		Created: n.Created(), Modified: n.Modified()}
	if o.Secret = !c.maySeeValue(a, n.Kind()); o.Secret {
		return o
	}
	if o.Size, o.Type = n.Size(), n.Type(); n.Kind() == objectdb.KindTable {
		return o
	}
	if n.Size() <= maxPreview {
		if v, err := tx.Value(n); err == nil {
			o.Preview = preview(v)
		}
	}
	return o
}

// maxPreview is the size in bytes of the largest value that is read for its preview.
const maxPreview = 64 << 10

// preview returns the beginning of a value on one line.
func preview(v objectdb.Value) string {
	if b, ok := v.(objectdb.Binary); ok {
		return b.Type
	}
	return short(oneLine(valuetext.Format(v)), 120)
}

// oneLine returns a text as one line, with a blank in place of any white space.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
}

// short returns the beginning of a text, with at most that number of characters.
func short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
