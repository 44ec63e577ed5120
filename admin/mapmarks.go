package admin

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"

	"scripter/gateway"
)

// place is where the text that a marker has inserted is in a page.
type place struct {
	number, start, end int
	failed             bool
}

// places returns where in the body of an answer the texts of the markers are: the outer ones first.
// A text that a script has changed since has no place.
func places(body string, expansions []*gateway.Expansion) []place {
	var list []place
	at := map[*gateway.TracedMarker]int{}   // where the text of a marker begins
	used := map[*gateway.TracedMarker]int{} // how much of it earlier pages within it take
	done := 0                               // how much of body earlier pages take
	// A page comes before what it includes, but after its layout, in which it is.
	for left := expansions; len(left) > 0; {
		var later []*gateway.Expansion
		for _, e := range left {
			start := 0
			if e.Text == "" {
				continue
			}
			if e.In == nil {
				i := strings.Index(body[done:], e.Text)
				if i < 0 {
					continue
				}
				start = done + i
				done = start + len(e.Text)
			} else {
				outer, ok := at[e.In]
				if !ok {
					later = append(later, e)
					continue
				}
				from := used[e.In]
				i := strings.Index(e.In.Text[from:], e.Text)
				if i < 0 {
					continue
				}
				start = outer + from + i
				used[e.In] = from + i + len(e.Text)
			}
			for _, m := range e.Markers {
				if m.Start >= 0 {
					at[m] = start + m.Start
					list = append(list, place{m.Number, start + m.Start, start + m.Start + len(m.Text), m.Err != nil})
				}
			}
		}
		if len(later) == len(left) {
			break
		}
		left = later
	}
	slices.SortStableFunc(list, func(a, b place) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	return list
}

// annotator adds numbers and outlines to a page: see annotate.
type annotator struct {
	body   string
	link   func(number int) string // where a click on a number leads
	places []place                 // that have not begun
	open   []openPlace             // the innermost last
	stack  []string                // names of the open elements
	out    strings.Builder
	shown  map[int]bool // numbers that the page shows
	headed bool         // the style sheet is there
	head   string       // what is added to the head
}

type openPlace struct {
	place
	depth int // of the elements around it
}

// annotate adds numbers and outlines to a page of HTML, at the places of the texts that markers have
// inserted. Texts in attributes, titles, scripts and the like get none. head is added to the head.
// shown has the numbers that the page shows.
func annotate(body string, list []place, head string, link func(number int) string) (page string, shown map[int]bool) {
	a := &annotator{body: body, places: list, link: link, head: head, shown: map[int]bool{}}
	z := nethtml.NewTokenizer(strings.NewReader(body))
	at, raw := 0, ""
	for {
		kind := z.Next()
		from := at
		at = min(from+len(z.Raw()), len(body))
		if kind == nethtml.ErrorToken {
			break
		}
		token := body[from:at]
		switch {
		case kind == nethtml.TextToken && raw != "":
			a.skip(at)
			a.out.WriteString(noTargets(token))
		case kind == nethtml.TextToken:
			a.text(from, at)
		case kind == nethtml.StartTagToken, kind == nethtml.SelfClosingTagToken:
			name, _ := z.TagName()
			a.startTag(string(name), kind == nethtml.SelfClosingTagToken, from, at)
		case kind == nethtml.EndTagToken:
			name, _ := z.TagName()
			a.endTag(string(name), from, at)
		default:
			a.begin(from)
			a.skip(at)
			a.out.WriteString(noTargets(token))
		}
		raw = ""
		if kind == nethtml.StartTagToken && len(a.stack) > 0 && rawText[a.stack[len(a.stack)-1]] {
			raw = a.stack[len(a.stack)-1]
		}
	}
	a.out.WriteString(noTargets(body[min(at, len(body)):]))
	return a.out.String(), a.shown
}

// targets matches what could name another window for a link.
var targets = regexp.MustCompile(`(?i)target([\t\n\f\r ]*=)`)

// noTargets removes the targets of links and forms: only our own links may lead out of the frame.
// It also looks into what is no tag here, because browsers may read it in another way.
func noTargets(s string) string { return targets.ReplaceAllString(s, "data-was$1") }

var (
	voids   = nameSet("area base br col embed hr img input link meta param source track wbr")
	rawText = nameSet("script style title textarea xmp iframe noembed noframes plaintext")
	// inHead are the elements that a head has. Nothing visible may stand before them.
	inHead = nameSet("base link meta title script style noscript template head html")
	// noNumbers are the elements in which no number can stand.
	noNumbers = nameSet("html head table tbody thead tfoot tr colgroup select optgroup option datalist ul ol dl menu " +
		"svg math object video audio picture map ruby template")
	// plainParts are the elements that get no outline.
	plainParts = nameSet("html head body base link meta title script style template param source track col colgroup " +
		"option optgroup br")
)

func nameSet(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// begin opens the places that begin at an offset, and closes those that have ended there.
func (a *annotator) begin(at int) {
	a.close(at)
	for len(a.places) > 0 && a.places[0].start <= at {
		p := a.places[0]
		a.places = a.places[1:]
		if p.start < at {
			continue // within something that has no places
		}
		a.open = append(a.open, openPlace{p, len(a.stack)})
		if p.start == p.end {
			a.numbers()
			a.close(at)
		}
	}
}

// close closes the places that have ended at an offset.
func (a *annotator) close(at int) {
	a.open = slices.DeleteFunc(a.open, func(p openPlace) bool { return p.end <= at })
}

// skip drops the places that begin before an offset.
func (a *annotator) skip(at int) {
	for len(a.places) > 0 && a.places[0].start < at {
		a.places = a.places[1:]
	}
}

// text writes a text, in pieces that end where places begin and end.
func (a *annotator) text(from, to int) {
	if strings.TrimSpace(a.body[from:to]) != "" {
		a.addHead()
	}
	for from < to {
		a.begin(from)
		next := to
		if len(a.places) > 0 {
			next = min(next, a.places[0].start)
		}
		for _, p := range a.open {
			next = min(next, p.end)
		}
		piece := a.body[from:next]
		if len(a.open) > 0 && strings.TrimSpace(piece) != "" && a.allowed() {
			a.numbers()
			fmt.Fprintf(&a.out, `<span class="scripter-text">%s</span>`, piece)
		} else {
			a.out.WriteString(piece)
		}
		from = next
	}
	a.close(to)
}

// allowed reports whether a number can stand here.
func (a *annotator) allowed() bool {
	if slices.Contains(a.stack, "svg") || slices.Contains(a.stack, "math") {
		return false
	}
	return len(a.stack) == 0 || !noNumbers[a.stack[len(a.stack)-1]]
}

// numbers writes the numbers of the open places that have none yet.
func (a *annotator) numbers() {
	if !a.allowed() {
		return
	}
	for _, p := range a.open {
		if a.shown[p.number] {
			continue
		}
		a.addHead()
		a.shown[p.number] = true
		class := "scripter-number"
		if p.failed {
			class += " scripter-failed"
		}
		if slices.Contains(a.stack, "a") || slices.Contains(a.stack, "button") {
			fmt.Fprintf(&a.out, `<span class="%s" id="scripter-%d">%d</span>`, class, p.number, p.number)
			continue
		}
		fmt.Fprintf(&a.out, `<a class="%s" id="scripter-%d" href="%s" target="_top">%d</a>`,
			class, p.number, html.EscapeString(a.link(p.number)), p.number)
	}
}

// addHead writes what is added to the head, once.
func (a *annotator) addHead() {
	if !a.headed {
		a.headed = true
		a.out.WriteString(a.head)
	}
}

// startTag writes a tag, with an outline if a marker has inserted it.
func (a *annotator) startTag(name string, closed bool, from, to int) {
	if name != "html" && name != "head" {
		a.addHead()
	}
	a.implied(name)
	a.begin(from)
	a.skip(to)
	if !inHead[name] && name != "body" {
		a.numbers()
	}
	tag := noTargets(a.body[from:to])
	if n := len(a.open); n > 0 && a.open[n-1].end >= to && len(a.stack) == a.open[n-1].depth && !plainParts[name] {
		tag = tag[:1+len(name)] + fmt.Sprintf(` data-scripter-marker="%d"`, a.open[n-1].number) + tag[1+len(name):]
	}
	a.out.WriteString(tag)
	if !closed && !voids[name] {
		a.stack = append(a.stack, name)
	}
	if name == "head" {
		a.addHead()
	}
	a.close(to)
}

// implied ends the elements that end where an element with this name begins.
func (a *annotator) implied(name string) {
	pop := func(names ...string) {
		if n := len(a.stack); n > 0 && slices.Contains(names, a.stack[n-1]) {
			a.stack = a.stack[:n-1]
		}
	}
	switch name {
	case "td", "th":
		pop("td", "th")
	case "tr", "tbody", "thead", "tfoot":
		pop("td", "th")
		pop("tr")
	case "dt", "dd":
		pop("dt", "dd")
	case "li", "option":
		pop(name)
	}
	if !inHead[name] {
		pop("p")
		pop("head")
	}
}

// endTag writes a tag that ends an element.
func (a *annotator) endTag(name string, from, to int) {
	a.begin(from)
	a.skip(to)
	for i, s := range slices.Backward(a.stack) {
		if s == name {
			a.stack = a.stack[:i]
			break
		}
	}
	a.out.WriteString(noTargets(a.body[from:to]))
	a.close(to)
}
