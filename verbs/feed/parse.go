package feed

import (
	"errors"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/script"
	"scripter/verbs/xml"
)

var errNoFeed = errors.New("the text is neither Atom nor RSS")

func parse(v *script.Call) error {
	root, err := xml.Parse(v, v.String(1))
	if err != nil {
		return err
	}
	p := parser{v}
	var feed *script.Table
	items := xml.Find(v, root, "item") // RSS 1.0 has them beside its channel
	switch tag, _ := root.Get("tag").(string); local(tag) {
	case "feed":
		feed, items = p.fields(root), xml.Find(v, root, "entry")
	case "rss", "RDF":
		channels := xml.Find(v, root, "channel")
		if len(channels) == 0 {
			return errNoFeed
		}
		feed = p.fields(channels[0])
		if local(tag) == "rss" {
			items = xml.Find(v, channels[0], "item")
		}
	default:
		return errNoFeed
	}
	list := script.NewList()
	for _, item := range items {
		v.Charge(itemCharge)
		list.Append(p.fields(item))
	}
	feed.Set("items", list)
	v.Return(feed)
	return nil
}

// local returns a name without its prefix.
func local(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

type parser struct{ call *script.Call }

// names lists for each cell the elements that say it, the best first.
var names = []struct {
	cell string
	tags []string
}{
	{"title", []string{"title"}},
	{"id", []string{"id", "guid"}},
	{"language", []string{"language"}},
	{"description", []string{"subtitle", "description"}},
	{"summary", []string{"summary", "description"}},
	{"content", []string{"content", "encoded"}},
	{"author", []string{"author/name", "creator", "author"}},
	{"date", []string{"published", "pubDate", "date", "issued", "updated"}},
	{"updated", []string{"updated", "lastBuildDate", "modified"}},
}

// fields returns what the elements in e say.
func (p *parser) fields(e *script.Table) *script.Table {
	t := script.NewTable()
	for _, n := range names {
		for _, tag := range n.tags {
			text := p.text(e, tag)
			if text == "" {
				continue
			}
			if n.cell != "date" && n.cell != "updated" {
				t.Set(n.cell, text)
				break
			}
			if date, ok := parseDate(text); ok {
				t.Set(n.cell, objectdb.Date{Time: date})
				break
			}
		}
	}
	p.links(t, e)
	p.categories(t, e)
	return t
}

// text returns the text of the first element with a name that has one. One without a prefix goes before
// others: channel has link, and atom:link for another purpose.
func (p *parser) text(e *script.Table, tag string) string {
	found := ""
	for _, x := range xml.Find(p.call, e, tag) {
		text := strings.TrimSpace(xml.Text(p.call, x))
		if name, _ := x.Get("tag").(string); text != "" && !strings.Contains(name, ":") {
			return text
		}
		if found == "" {
			found = text
		}
	}
	return found
}

// links sets link, self and enclosure.
func (p *parser) links(t, e *script.Table) {
	if text := p.text(e, "link"); text != "" {
		t.Set("link", text)
	}
	for _, x := range append(xml.Find(p.call, e, "link"), xml.Find(p.call, e, "enclosure")...) {
		attr, ok := x.Get("attr").(*script.Table)
		if !ok {
			continue
		}
		href, _ := attr.Get("href").(string)
		rel, _ := attr.Get("rel").(string)
		if u, ok := attr.Get("url").(string); ok {
			href, rel = u, "enclosure"
		}
		switch {
		case href == "":
		case rel == "self":
			t.Set("self", href)
		case rel == "enclosure" && t.Get("enclosure") == nil:
			file := script.NewTable()
			file.Set("url", href)
			file.Set("type", attr.Get("type"))
			file.Set("length", attr.Get("length"))
			t.Set("enclosure", file)
		case (rel == "" || rel == "alternate") && t.Get("link") == nil:
			t.Set("link", href)
		}
	}
}

func (p *parser) categories(t, e *script.Table) {
	list := script.NewList()
	for _, x := range append(xml.Find(p.call, e, "category"), xml.Find(p.call, e, "subject")...) {
		text := strings.TrimSpace(xml.Text(p.call, x))
		if attr, ok := x.Get("attr").(*script.Table); ok && text == "" {
			text, _ = attr.Get("term").(string)
		}
		if text != "" {
			list.Append(text)
		}
	}
	if list.Len() > 0 {
		t.Set("categories", list)
	}
}

// dateLayouts are the forms of dates in feeds: RFC 3339 in Atom, RFC 822 with four-digit years in RSS.
var dateLayouts = []string{
	time.RFC3339Nano, time.RFC1123Z, time.RFC1123, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST",
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", "2006-01-02T15:04Z07:00", "2006-01-02",
}

// northAmerica has the zones of RFC 822 that Go's package time does not know.
var northAmerica = strings.NewReplacer(" EST", " -0500", " EDT", " -0400", " CST", " -0600", " CDT", " -0500",
	" MST", " -0700", " MDT", " -0600", " PST", " -0800", " PDT", " -0700")

func parseDate(text string) (time.Time, bool) {
	text = northAmerica.Replace(text)
	for _, layout := range dateLayouts {
		if d, err := time.Parse(layout, text); err == nil && d.Year() >= 0 && d.Year() <= 9999 {
			return d.UTC(), true
		}
	}
	return time.Time{}, false
}
