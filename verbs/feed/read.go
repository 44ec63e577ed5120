package feed

import (
	"fmt"
	"time"

	"scripter/objectdb"
	"scripter/script"
)

// A document is what the table of a script says of a feed.
type document struct {
	entry
	self, language string
	items          []entry
}

// An entry is an item, or what a feed has in common with one.
type entry struct {
	title, link, id, author, summary, content string
	date, updated                             time.Time
	categories                                []string
	enclosure                                 *enclosure
}

type enclosure struct{ url, kind, length string }

// A reader reads cells of tables.
type reader struct {
	call *script.Call
	err  error
}

// read returns what the first argument says.
func read(v *script.Call) (*document, error) {
	t := v.Value(1)
	if !script.IsTable(t) {
		v.Table(1) // says what it is instead
	}
	r := reader{call: v}
	d := &document{entry: r.entry(t), self: r.text(t, "self"), language: r.text(t, "language")}
	if d.summary == "" {
		d.summary = r.text(t, "description")
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := d.complete(true); err != nil {
		return nil, err
	}
	items, err := script.Field(t, "items")
	if err != nil {
		return nil, err
	}
	if items != nil && !script.IsTable(items) {
		return nil, fmt.Errorf("items is not a table")
	}
	err = script.EachItem(items, func(item script.Value) error {
		v.Charge(itemCharge)
		at := len(d.items) + 1
		if !script.IsTable(item) {
			return fmt.Errorf("items [%d] is not a table", at)
		}
		e := r.entry(item)
		if r.err == nil {
			r.err = e.complete(false)
		}
		if r.err != nil {
			return fmt.Errorf("items [%d]: %w", at, r.err)
		}
		if e.updated.After(d.updated) && d.date.IsZero() {
			d.updated = e.updated
		}
		d.items = append(d.items, e)
		return nil
	})
	if d.updated.IsZero() {
		d.updated = v.Thread().Now()
	}
	return d, err
}

// entry returns what a table says.
func (r *reader) entry(t script.Value) entry {
	e := entry{
		title: r.text(t, "title"), link: r.text(t, "link"), id: r.text(t, "id"), author: r.text(t, "author"),
		summary: r.text(t, "summary"), content: r.text(t, "content"), date: r.date(t, "date"), updated: r.date(t, "updated"),
	}
	r.each(t, "categories", func(v script.Value) { e.categories = append(e.categories, r.textOf("categories", v)) })
	if file := r.cell(t, "enclosure"); file != nil {
		e.enclosure = &enclosure{r.text(file, "url"), r.text(file, "type"), r.text(file, "length")}
		if e.enclosure.url == "" {
			r.fail("enclosure has no url")
		}
	}
	return e
}

// complete fills in what can be made of other cells. A feed without a date gets one later.
func (e *entry) complete(feed bool) error {
	switch {
	case e.title == "":
		return fmt.Errorf("there is no title")
	case e.link == "":
		return fmt.Errorf("there is no link")
	case !feed && e.date.IsZero() && e.updated.IsZero():
		return fmt.Errorf("there is no date")
	}
	if e.id == "" {
		e.id = e.link
	}
	if e.updated.IsZero() {
		e.updated = e.date
	}
	if !feed && e.date.IsZero() {
		e.date = e.updated
	}
	return nil
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) cell(t script.Value, name string) script.Value {
	v, err := script.Field(t, name)
	if err != nil {
		r.fail("%s: %w", name, err)
	}
	return v
}

// each calls f for the items of the list under a name.
func (r *reader) each(t script.Value, name string, f func(script.Value)) {
	v := r.cell(t, name)
	if v != nil && !script.IsTable(v) {
		r.fail("%s is not a list", name)
		return
	}
	if err := script.EachItem(v, func(v script.Value) error { f(v); return nil }); err != nil {
		r.fail("%s: %w", name, err)
	}
}

func (r *reader) text(t script.Value, name string) string { return r.textOf(name, r.cell(t, name)) }

func (r *reader) textOf(name string, v script.Value) string {
	switch v.(type) {
	case nil:
		return ""
	case *script.Table, *script.Object, *script.Function, bool:
		r.fail("%s is not a text", name)
		return ""
	}
	text, err := r.call.Thread().Text(v)
	if err != nil {
		r.fail("%s: %w", name, err)
	}
	return text
}

func (r *reader) date(t script.Value, name string) time.Time {
	switch v := r.cell(t, name).(type) {
	case nil:
	case objectdb.Date:
		return v.UTC()
	default:
		r.fail("%s is not a date", name)
	}
	return time.Time{}
}
