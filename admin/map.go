package admin

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/requestlog"
)

// mapRoutes lists the pages of the page map.
func (s *Server) mapRoutes() {
	s.page("GET /map", readers, (*call).mapPage)
	s.page("GET /map/page", readers, (*call).mappedPage)
}

// mapData is the map of a page of the site: what each of its markers came from.
type mapData struct {
	URL          string       `json:"url"`
	Status       int          `json:"status,omitempty"`
	Milliseconds float64      `json:"milliseconds,omitempty"`
	Error        string       `json:"error,omitempty"` // why the page failed
	Failure      []run        `json:"-"`
	Pages        []*mapSource `json:"pages"`
	Markers      []*mapMarker `json:"markers"`
	Left         int          `json:"left,omitempty"` // markers of which nothing is told
	Frame        string       `json:"-"`              // the URL of the page with the numbers
}

// Took returns how long the page took, in milliseconds.
func (d *mapData) Took() string { return tookText(d.Milliseconds) }

// mapSource is a page, or another text with markers.
type mapSource struct {
	Number int              `json:"number"`
	Name   string           `json:"name"`           // the path of a file, an address, or the verb that got the text
	File   bool             `json:"file,omitempty"` // the web page cannot edit it
	At     objectdb.Address `json:"-"`              // of a text of the root
	Lines  [][]mapPiece     `json:"-"`
	Cut    bool             `json:"-"`
	source string
	marks  map[int]mark // by their offsets
}

// mark is a marker in a source.
type mark struct {
	*mapMarker
	end int // its offset
}

// mapPiece is a piece of a source: a marker, if it has a number.
type mapPiece struct {
	Text   string
	Number int
	Failed bool
}

// mapMarker is a marker that was expanded.
type mapMarker struct {
	Number       int              `json:"number"`
	Page         int              `json:"page"` // number of its mapSource
	Line         int              `json:"line"`
	Column       int              `json:"column"`
	Text         string           `json:"marker"`
	In           int              `json:"in,omitempty"`    // number of the marker whose script has expanded the page
	Found        gateway.FoundIn  `json:"found,omitempty"` // where its name was found
	Address      objectdb.Address `json:"-"`
	Dotted       string           `json:"address,omitempty"`
	Kind         string           `json:"kind,omitempty"`
	Verb         string           `json:"verb,omitempty"`
	Help         string           `json:"help,omitempty"`
	Microseconds int64            `json:"microseconds"`
	Bytes        int64            `json:"bytes"`
	Inserted     string           `json:"inserted"` // its beginning
	Error        string           `json:"error,omitempty"`
	Failure      []run            `json:"-"`
	Shown        bool             `json:"shown"` // the page has its number
	Source       *mapSource       `json:"-"`
}

// FoundText returns the key of the text that says where the name was found.
func (m *mapMarker) FoundText() string {
	switch m.Found {
	case gateway.InRoot:
		return "map.found.root"
	case gateway.InRequest:
		return "map.found.request"
	case gateway.InArgument:
		return "map.found.argument"
	case gateway.InVariable:
		return "map.found.variable"
	case gateway.InLua:
		return "map.found.lua"
	case gateway.InItem:
		return "map.found.item"
	}
	if m.Error == "" {
		return "map.found.itself"
	}
	return "map.found.nowhere"
}

const (
	mapSourceText = 256 << 10 // bytes of a source that are shown
	mapInserted   = 200       // bytes of what a marker inserts
)

// mapPage runs a page of the site and shows what its markers did.
func (c *call) mapPage() (*result, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	if c.inPast {
		return nil, pastProblem()
	}
	asked := c.query("url")
	data := &mapData{URL: asked, Pages: []*mapSource{}, Markers: []*mapMarker{}}
	res := &result{template: "map", title: text("nav.map"), data: data}
	if asked == "" {
		return res, nil
	}
	u, err := c.siteURL(asked)
	if err != nil {
		return nil, err
	}
	// The numbers in the frame lead to rows of this page, which must have the very same URL.
	if to := c.link("map", "url", u.RequestURI()); !c.json && c.path() != to {
		return c.redirect(to, "", 0), nil
	}
	data.URL, data.Frame = u.RequestURI(), c.link("map/page", "url", u.RequestURI())
	res.title = text("map.title", data.URL)
	began := time.Now()
	a, err := c.askToday(u)
	if err != nil {
		return nil, err
	}
	data.Milliseconds = float64(time.Since(began)) / float64(time.Millisecond)
	if a.Plain {
		return nil, newProblem(http.StatusNotFound, "map.plain", a.URL.Path)
	}
	data.Status, data.Error, data.Left = a.Status, a.Error, a.Left
	err = c.view(func(tx *objectdb.Tx) error {
		c.readMap(tx, a, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Content-Security-Policy", framePolicy)
	return res, nil
}

// readMap reads the traces of the markers.
func (c *call) readMap(tx *objectdb.Tx, a *siteAnswer, data *mapData) {
	data.Failure = c.linked(tx, data.Error)
	_, shown := annotate(a.Body, places(a.Body, a.Expansions), "", func(int) string { return "" })
	for _, e := range a.Expansions {
		source := data.source(tx, e)
		for _, m := range e.Markers {
			x := c.newMarker(tx, m)
			x.Page, x.Source, x.Shown = source.Number, source, a.HTML && shown[m.Number]
			if e.In != nil {
				x.In = e.In.Number
			}
			data.Markers = append(data.Markers, x)
			if known, ok := source.marks[m.Offset]; !ok || known.Number > x.Number {
				source.marks[m.Offset] = mark{x, m.Offset + len(m.Marker.Text)}
			}
		}
	}
	slices.SortFunc(data.Markers, func(a, b *mapMarker) int { return a.Number - b.Number })
	for _, s := range data.Pages {
		s.split()
	}
}

// source returns the source of an expansion. A page that was expanded several times has one, whose
// markers have the first of their numbers.
func (d *mapData) source(tx *objectdb.Tx, e *gateway.Expansion) *mapSource {
	for _, s := range d.Pages {
		if s.Name == e.Name && s.source == e.Source {
			return s
		}
	}
	s := &mapSource{Number: len(d.Pages) + 1, Name: e.Name, source: e.Source, marks: map[int]mark{}}
	if s.File = strings.HasPrefix(e.Name, "/"); !s.File {
		if at, err := objectdb.ParseAddress(e.Name); err == nil {
			if n, err := tx.Find(at); err == nil && n.Kind() != objectdb.KindTable && n.Kind() != objectdb.KindScript {
				s.At = at
			}
		}
	}
	d.Pages = append(d.Pages, s)
	return s
}

// newMarker returns a marker for people and programs.
func (c *call) newMarker(tx *objectdb.Tx, m *gateway.TracedMarker) *mapMarker {
	x := &mapMarker{
		Number: m.Number, Line: m.Line, Column: m.Column, Text: cutAt(m.Marker.Text, mapInserted), Found: m.Found,
		Address: m.Address, Verb: m.Verb, Microseconds: m.Took.Microseconds(), Bytes: int64(len(m.Text)),
		Inserted: oneLine(cutAt(m.Text, mapInserted)),
	}
	if m.Verb != "" {
		x.Help = verbHelp()[m.Verb]
	}
	if m.Address != nil {
		x.Dotted = m.Address.String()
		n, err := tx.Find(m.Address)
		if err == nil {
			x.Kind = n.Kind().String()
		}
		if err != nil || !c.role.MaySee(m.Address) || requestlog.IsSecret(m.Address, n.Kind()) {
			x.Address = nil // nothing to edit, or nothing to see
		}
		if !c.role.MaySee(m.Address) {
			x.Inserted = text("object.masked")
		}
	}
	if m.Err != nil {
		x.Error = cutAt(gateway.Describe(m.Err), requestText)
		x.Failure = c.linked(tx, x.Error)
		x.Bytes, x.Inserted = 0, ""
	}
	return x
}

// verbHelp returns what each verb does.
var verbHelp = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, v := range gateway.Verbs() {
		m[v.Name] = v.Doc
	}
	return m
})

// split makes the lines of the source, in pieces that are markers or what is between them.
func (s *mapSource) split() {
	text := s.source
	if s.Cut = len(text) > mapSourceText; s.Cut {
		text = text[:mapSourceText]
	}
	line := []mapPiece{}
	add := func(text string, number int, failed bool) {
		for i, part := range strings.Split(unixLines(text), "\n") {
			if i > 0 {
				s.Lines, line = append(s.Lines, line), []mapPiece{}
			}
			if part != "" {
				line = append(line, mapPiece{strings.ToValidUTF8(part, "�"), number, failed})
			}
		}
	}
	done := 0
	for _, at := range slices.Sorted(maps.Keys(s.marks)) {
		mark := s.marks[at]
		if mark.end > len(text) {
			break
		}
		add(text[done:at], 0, false)
		add(text[at:mark.end], mark.Number, mark.Error != "")
		done = mark.end
	}
	add(text[done:], 0, false)
	s.Lines = append(s.Lines, line)
}

// mappedPolicy is the Content-Security-Policy of a page of the site in the frame of its map: it has no origin. Only
// a click may navigate out of the frame, and only the numbers of the map have a target.
const mappedPolicy = "sandbox allow-top-navigation-by-user-activation; " + sitePolicy

// mappedPage sends the page with the numbers of its markers, for the frame.
func (c *call) mappedPage() (*result, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	u, err := c.siteURL(c.query("url"))
	if err != nil {
		return nil, err
	}
	a, err := c.askToday(u)
	if err != nil {
		return nil, err
	}
	if a.Plain {
		return nil, c.notFound()
	}
	page := a.Body
	if a.HTML {
		rows := c.link("map", "url", u.RequestURI())
		head := baseTag(a.URL) + `<link rel="stylesheet" href="` + c.static("map.css") + `">`
		page, _ = annotate(a.Body, places(a.Body, a.Expansions), head, func(number int) string {
			return rows + "#m" + strconv.Itoa(number)
		})
	}
	return &result{serve: func(w http.ResponseWriter, _ *http.Request) { a.send(w, mappedPolicy, page) }}, nil
}
