package admin

import (
	"scripter/objectdb"
)

// homeData is the first page.
type homeData struct {
	Objects []object `json:"objects"` // at the top of the root
}

// home shows the first page.
func (c *call) home() (*result, error) {
	data := &homeData{}
	err := c.view(func(tx *objectdb.Tx) error {
		list, _, err := pageOf(tx, tx.Root(), "", tableRows)
		for _, n := range list {
			data.Objects = append(data.Objects, c.describe(tx, objectdb.Address{n.Name()}, n))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &result{template: "home", title: text("nav.home"), data: data}, nil
}
