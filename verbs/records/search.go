package records

import (
	"scripter/records"
	"scripter/script"
)

func search(c *script.Call) error {
	o, t := tableOf(c, false)
	s := records.Search{Words: c.String(2)}
	if options := c.OptTable(3); options != nil {
		readOptions(c, options, &s)
	}
	list := script.NewList()
	if o == nil {
		c.Return(list, 0)
		return nil
	}
	hits, total, err := t.Search(s)
	if err != nil {
		return err
	}
	for _, h := range hits {
		record, err := fieldsOf(c, o.Child(h.Record))
		if err != nil {
			return err
		}
		hit := script.NewTableFor(3)
		hit.Set("key", h.Record.Name())
		hit.Set("record", record)
		hit.Set("snippet", h.Snippet)
		list.Append(hit)
	}
	c.Return(list, total)
	return nil
}

// readOptions reads the options of a search, argument 3.
func readOptions(c *script.Call, t *script.Table, s *records.Search) {
	for _, name := range t.Names() {
		switch v := t.Get(name).(type) {
		case *script.Table:
			if name != "fields" {
				c.Bad(3, "%q is no option; there are fields and limit", name)
			}
			s.Fields = texts(c, 3, v)
		case float64:
			if name != "limit" {
				c.Bad(3, "%q is no option; there are fields and limit", name)
			}
			if v != float64(int(v)) || v < 1 || v > records.MaxHits {
				c.Bad(3, "limit must be 1 to %d", records.MaxHits)
			}
			s.Limit = int(v)
		default:
			if name == "fields" {
				c.Bad(3, "fields must be a list of texts")
			}
			c.Bad(3, "%q is no option; there are fields and limit", name)
		}
	}
}
