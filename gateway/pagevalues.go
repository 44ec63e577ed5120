package gateway

import (
	"slices"
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
)

// pageValues are the texts of those markers of a page that are nothing but the
// name of a value in the root. They are found once for all requests, and again
// when something was written on the way to one of them.
type pageValues struct {
	texts []string // by Marker.Index
	known []bool
	names []string // the first names; where one means something else, nothing counts
}

// keptPageValues is of how many pages they are kept; longestPageValue is the
// longest text that is, in bytes.
const (
	keptPageValues   = 1000
	longestPageValue = 64 << 10
)

// pageValues finds the values of a page that is kept.
func (c *attempt) pageValues(page *cachedPage) *pageValues {
	if !page.kept || c.g.values == nil || c.Tx.Written() {
		return nil
	}
	v, err := c.g.values.Get(c.Tx, page, func(tx *objectdb.Tx) (*pageValues, error) { return c.g.readPageValues(tx, page) })
	if err != nil || !c.Thread.Untouched(v.names...) {
		return nil
	}
	return v
}

// readPageValues finds them in a thread of its own, which remembers nothing.
func (g *Gateway) readPageValues(tx *objectdb.Tx, page *cachedPage) (*pageValues, error) {
	markers := page.Markers()
	p := &pageValues{texts: make([]string, len(markers)), known: make([]bool, len(markers))}
	t := g.runner.Engine().NewThread(tx.Context(), script.ThreadOptions{Tx: tx})
	defer t.Close()
	for i, m := range markers {
		name, ok := m.Expr.(macros.Name)
		if !ok {
			continue
		}
		v, address, err := t.Stored(name.Path)
		if err != nil {
			return nil, err
		}
		if pageSecrets.covers(address) || withURL.covers(address) {
			continue
		}
		text, ok := plainText(t, v)
		if !ok || len(text) > longestPageValue {
			continue
		}
		p.texts[i], p.known[i] = text, true
		if !slices.Contains(p.names, name.Path[0]) {
			p.names = append(p.names, name.Path[0])
		}
	}
	return p, nil
}

// plainText gives the text of a value that has one wherever it is used.
func plainText(t *script.Thread, v objectdb.Value) (string, bool) {
	switch v.(type) {
	case objectdb.String, objectdb.Text, objectdb.Number, objectdb.Boolean:
		text, err := t.Text(v)
		return text, err == nil
	}
	return "", false
}

// expanded is a page with its markers replaced.
func (c *attempt) expanded(page *cachedPage, e *evaluator) (string, error) {
	var b strings.Builder
	b.Grow(page.room())
	if err := page.ExpandTo(&b, e); err != nil {
		return "", err
	}
	page.last.Store(int64(b.Len()))
	return b.String(), nil
}

// room is how many bytes the expanded page will take, as far as can be known.
func (p *cachedPage) room() int {
	if n := p.last.Load(); n > 0 {
		return int(n)
	}
	return p.size
}
