package gateway

import (
	"cmp"
	"time"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
)

// MarkerTrace says what the markers of one request have inserted: see [ReplayOptions].Markers.
type MarkerTrace struct {
	Expansions []*Expansion
	Left       int // how many markers more were expanded

	markers int
	current *TracedMarker
}

// maxTraced is how many markers are traced.
const maxTraced = 2000

// Expansion is a page, or another text with markers, that was expanded.
type Expansion struct {
	Name    string        // the path of a file, the address of a text, or the verb that got the text
	Source  string        // with the markers
	Text    string        // with what they have inserted; "" if the request ended before
	In      *TracedMarker // the marker that included it, or whose script expanded it; nil: there is none
	Markers []*TracedMarker
}

// TracedMarker is a marker that was expanded.
type TracedMarker struct {
	*macros.Marker
	Number int // from 1, in the order in which the markers began
	// Found says where the name of the marker was found; "" = nowhere, or it was not looked for.
	Found   FoundIn
	Address objectdb.Address // of an object, else nil
	Verb    string           // the name of a verb, else ""
	Start   int              // of what was inserted, in Expansion.Text; -1: it is not there, but in the layout
	Text    string           // that was inserted
	Err     error            // why the marker failed
	Took    time.Duration
}

// FoundIn says where the name of a marker was found.
type FoundIn string

const (
	InRoot     FoundIn = "root"     // an object, or a verb
	InRequest  FoundIn = "request"  // a parameter
	InArgument FoundIn = "argument" // the script that expands the page has passed it
	InVariable FoundIn = "variable" // a global that a script of this request has assigned
	InLua      FoundIn = "lua"      // a function of Lua's libraries
	InItem     FoundIn = "item"     // the item of a loop, or in it
)

var foundIn = map[script.Origin]FoundIn{
	script.FromRoot: InRoot, script.FromRequest: InRequest, script.FromRun: InVariable, script.FromLua: InLua,
}

// expansionTrace traces the markers of one page.
type expansionTrace struct {
	of      *MarkerTrace
	to      *Expansion
	current *TracedMarker
	start   int // of the expanded text in what it is written to
	kept    int // blocks around the marker that are kept for the layout
}

// traceExpansion returns what traces the markers of a page whose text begins at start, or nil if
// nobody asks for it.
func (c *attempt) traceExpansion(page *cachedPage, name string, start int) *expansionTrace {
	if c.traced == nil || c.traced.markers >= maxTraced {
		return nil
	}
	e := &Expansion{Name: name, Source: page.Source(), In: c.traced.current}
	c.traced.Expansions = append(c.traced.Expansions, e)
	return &expansionTrace{of: c.traced, to: e, start: start}
}

// end notes the text of the page, which is the last that was written to out.
func (t *expansionTrace) end(out *pageText) {
	if t != nil {
		t.to.Text = out.String()[t.start:]
	}
}

// isIn notes that the text of the page is what the current marker of another page inserts.
func (t *expansionTrace) isIn(layout *expansionTrace) {
	if t != nil && layout != nil {
		t.to.In = layout.current
	}
}

// keep notes that what is written next is kept for the layout, until end is called.
func (t *expansionTrace) keep() (end func()) {
	if t == nil {
		return func() {}
	}
	t.kept++
	return func() { t.kept-- }
}

// marker calls eval, which evaluates a marker and writes what it inserts to out, and notes what came
// of it. It returns what eval returns: why the marker has failed, and what ends the request.
func (t *expansionTrace) marker(
	m *macros.Marker, out *pageText, eval func() (failed, err error),
) (failed, err error) {
	if t == nil {
		return eval()
	}
	if t.of.markers >= maxTraced {
		t.of.Left++
		return eval()
	}
	t.of.markers++
	outer, before := t.of.current, out.Len()
	now := &TracedMarker{Marker: m, Number: t.of.markers, Start: before - t.start}
	if t.kept > 0 {
		now.Start = -1
	}
	t.to.Markers = append(t.to.Markers, now)
	t.of.current, t.current = now, now
	began := time.Now()
	failed, err = eval()
	now.Took = time.Since(began)
	t.of.current, t.current = outer, nil
	now.Text, now.Err = out.String()[before:], cmp.Or(err, failed)
	return failed, err
}

// found notes what the name of the current marker means: the first name that it looks for.
func (t *expansionTrace) found(th *script.Thread, m meaning) {
	if t == nil || t.current == nil || t.current.Found != "" || !m.Found {
		return
	}
	now := t.current
	now.Found, now.Address, now.Verb = foundIn[m.Origin], m.Address, th.VerbName(m.Value)
	switch {
	case m.given:
		now.Found = InArgument
	case m.item:
		now.Found = InItem
	}
}
