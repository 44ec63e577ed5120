package xml

import (
	"strings"

	"scripter/script"
)

func find(v *script.Call) error {
	list := script.NewList()
	for _, e := range Find(v, v.Table(1), v.String(2)) {
		list.Append(e)
	}
	v.Return(list)
	return nil
}

func text(v *script.Call) error {
	e := v.Table(1)
	if path := v.OptString(2, ""); path != "" {
		found := Find(v, e, path)
		if len(found) == 0 {
			v.Return(nil)
			return nil
		}
		e = found[0]
	}
	v.ReturnText(Text(v, e))
	return nil
}

// Find returns the elements at a path below e: names with slashes between them.
func Find(v *script.Call, e *script.Table, path string) []*script.Table {
	found := []*script.Table{e}
	for name := range strings.SplitSeq(path, "/") {
		var next []*script.Table
		for _, e := range found {
			for i := 1; i <= e.Len(); i++ {
				v.Charge(1)
				child, ok := e.Index(i).(*script.Table)
				if ok && isNamed(child, name) {
					next = append(next, child)
				}
			}
		}
		found = next
	}
	return found
}

// isNamed reports whether an element has a name, which may be "*" or lack the element's prefix.
func isNamed(e *script.Table, name string) bool {
	tag, ok := e.Get("tag").(string)
	if !ok || name == "*" || tag == name {
		return ok
	}
	_, local, prefixed := strings.Cut(tag, ":")
	return prefixed && local == name
}

// Text returns all text in an element.
func Text(v *script.Call, e *script.Table) string {
	var b strings.Builder
	addText(v, &b, e, 0)
	return b.String()
}

func addText(v *script.Call, b *strings.Builder, e *script.Table, depth int) {
	for i := 1; i <= e.Len(); i++ {
		v.Charge(1)
		switch x := e.Index(i).(type) {
		case string:
			if b.WriteString(x); b.Len() > maxText {
				v.Bad(1, "the text is longer than %d bytes", maxText)
			}
		case *script.Table:
			if depth >= maxDepth {
				v.Bad(1, "elements nest deeper than %d, or in a circle", maxDepth)
			}
			addText(v, b, x, depth+1)
		}
	}
}
