package records

import (
	"errors"
	"strings"

	"scripter/objectdb"
	"scripter/records"
	"scripter/script"
)

func isNotFound(err error) bool { return errors.Is(err, objectdb.ErrNotFound) }

// queryOf returns argument i as a query; nil is an empty one. If whole is false, it has only conditions.
func queryOf(c *script.Call, i int, whole bool) (q records.Query) {
	t := c.OptTable(i)
	if t == nil {
		return q
	}
	if t.Len() > 0 {
		c.Bad(i, "a query has the names where, order, limit and after")
	}
	for _, name := range t.Names() {
		v := t.Get(name)
		text, isText := v.(string)
		switch {
		case name == "where":
			q.Where = conditions(c, i, v)
		case !whole:
			c.Bad(i, "%q is no name of a query to count; it has where", name)
		case name == "order" && isText:
			order, err := records.ParseOrder(text)
			if err != nil {
				c.Bad(i, "%v", err)
			}
			q.Order = order
		case name == "limit":
			n, ok := v.(float64)
			if !ok || n != float64(int(n)) || n < 1 || n > records.MaxLimit {
				c.Bad(i, "limit must be 1 to %d", records.MaxLimit)
			}
			q.Limit = int(n)
		case name == "after" && isText:
			q.After = text
		case name == "order" || name == "after":
			c.Bad(i, "%s must be a string", name)
		default:
			c.Bad(i, "%q is no name of a query; it has where, order, limit and after", name)
		}
	}
	return q
}

// conditions returns the conditions of a table where.
func conditions(c *script.Call, i int, v script.Value) (list []records.Condition) {
	t, ok := v.(*script.Table)
	if !ok || t.Len() > 0 {
		c.Bad(i, "where must be a table with the names of fields")
	}
	for _, field := range t.Names() {
		v := t.Get(field)
		if value, ok := scalar(v); ok {
			list = append(list, records.Condition{Field: field, Value: value})
			continue
		}
		pairs, ok := v.(*script.Table)
		if !ok || pairs.Len() == 0 || pairs.Len()%2 != 0 {
			c.Bad(i, `where: %s: a value or a comparison such as {">", 18} is wanted`, field)
		}
		for n := 1; n <= pairs.Len(); n += 2 {
			list = append(list, condition(c, i, field, pairs.Index(n), pairs.Index(n+1)))
		}
	}
	return list
}

func condition(c *script.Call, i int, field string, op, v script.Value) records.Condition {
	name, _ := op.(string)
	o, err := records.ParseOp(name)
	if err != nil {
		c.Bad(i, "where: %s: %v", field, err)
	}
	condition := records.Condition{Field: field, Op: o}
	if o != records.In {
		value, ok := scalar(v)
		if !ok {
			c.Bad(i, "where: %s: %s wants a value", field, strings.TrimSpace(name))
		}
		condition.Value = value
		return condition
	}
	values, ok := v.(*script.Table)
	if !ok {
		c.Bad(i, "where: %s: in wants a list of values", field)
	}
	for n := 1; n <= values.Len(); n++ {
		value, ok := scalar(values.Index(n))
		if !ok {
			c.Bad(i, "where: %s: in wants a list of values", field)
		}
		condition.Values = append(condition.Values, value)
	}
	return condition
}
