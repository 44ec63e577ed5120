package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script/lint"
	"scripter/valuetext"
)

// editObject does what the form of a value asks for.
func (c *call) editObject() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	if len(a) == 0 {
		return nil, bad("value.root")
	}
	switch do := c.field("do"); do {
	case "save":
		return c.saveObject(a)
	case "kind":
		return c.convertObject(a)
	default:
		return nil, bad("value.action", do)
	}
}

// version returns the version of the object that the person has read, or 0 if there was none.
func (c *call) version() int64 {
	n, _ := strconv.ParseInt(c.field("version"), 10, 64)
	return n
}

// checkEdit returns an error unless the person may change the value of an object of a kind.
func (c *call) checkEdit(a objectdb.Address, k objectdb.Kind) error {
	switch {
	case k == objectdb.KindTable:
		return newProblem(http.StatusConflict, "value.table", a.String())
	case c.inPast:
		return pastProblem()
	case !c.mayEdit(a, k):
		return newProblem(http.StatusForbidden, "error.mayNotChange", c.user, a.String())
	}
	return nil
}

// notStored is the error of a value that cannot be stored. The person gets the form again, with
// what was typed.
type notStored struct {
	text     string
	findings []lint.Finding
	force    bool // the person may insist
}

func (e *notStored) Error() string { return e.text }

// changedMeanwhile is the error of a value that is not the one that the person has read.
type changedMeanwhile struct {
	theirs  objectdb.Value // nil: there is none, or a table
	kind    objectdb.Kind  // 0: there is none
	version int64
}

func (e *changedMeanwhile) Error() string { return "it was changed meanwhile" }

// saveObject stores what the person has typed, unless the object was changed since it was read.
func (c *call) saveObject(a objectdb.Address) (*result, error) {
	f, err := c.readForm(a)
	if err != nil {
		return nil, err
	}
	s, err := c.save(a, f)
	var changed *changedMeanwhile
	if errors.As(err, &changed) {
		conflict, err := c.conflictOf(a, f, changed)
		if err != nil {
			return nil, err
		}
		if !conflict.same {
			return c.showConflict(conflict), nil
		}
		f.version = changed.version // it was changed, and changed back
		if s, err = c.save(a, f); err != nil {
			return c.formAgain(a, f, err)
		}
	} else if err != nil {
		return c.formAgain(a, f, err)
	}
	if !s.stored {
		s.change = 0
	}
	return c.savedResult(a, s)
}

// form is what a person has sent to be stored.
type form struct {
	kind    objectdb.Kind // 0: that of the object
	typed   string        // the text
	hasText bool          // the text was sent
	file    *file         // a file instead of the text
	mime    string        // the type of a binary
	moment  string        // a date from an input of dates
	version int64
}

// file is a file that was sent.
type file struct{ name, content string }

// readForm reads the fields of a form.
func (c *call) readForm(a objectdb.Address) (*form, error) {
	f := &form{typed: c.field("value"), mime: strings.TrimSpace(c.field("type")), moment: c.field("moment"),
		version: c.version()}
	f.hasText = c.r.PostForm.Has("value")
	if name := c.field("kind"); name != "" {
		k, err := objectdb.ParseKind(name)
		if err != nil || k == objectdb.KindTable {
			return nil, bad("value.noKind", name)
		}
		f.kind = k
	}
	if c.r.MultipartForm == nil {
		return f, nil
	}
	defer c.r.MultipartForm.RemoveAll()
	sent, header, err := c.r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return f, nil
	}
	if err != nil {
		return nil, badInput(err)
	}
	defer sent.Close()
	var content strings.Builder
	content.Grow(int(header.Size))
	if _, err := io.Copy(&content, sent); err != nil {
		return nil, fmt.Errorf("read the file %q for %s: %w", header.Filename, a, err)
	}
	if header.Filename != "" || content.Len() > 0 {
		f.file = &file{header.Filename, content.String()}
	}
	return f, nil
}

// saving is what a save has done.
type saving struct {
	stored  bool // false: the object had this value already
	created bool
	kind    objectdb.Kind
	change  int64
}

// save stores the value of a form in one transaction.
func (c *call) save(a objectdb.Address, f *form) (s saving, err error) {
	what := "save " + a.String()
	s.change, err = c.update(what, func(tx *objectdb.Tx) error {
		s = saving{}
		n, err := tx.Find(a)
		missing := objectdb.IsMissing(err)
		if err != nil && !missing {
			return err
		}
		if missing {
			return c.saveNew(tx, a, f, &s)
		}
		if n.Kind() == objectdb.KindTable {
			if f.version != 0 && f.version != n.Version() {
				return &changedMeanwhile{kind: objectdb.KindTable, version: n.Version()}
			}
			return c.checkEdit(a, n.Kind())
		}
		if err := c.checkEdit(a, n.Kind()); err != nil {
			return err
		}
		now, err := tx.Value(n)
		if err != nil {
			return err
		}
		if s.kind = f.kind; s.kind == 0 {
			s.kind = n.Kind()
		}
		if f.version != n.Version() {
			if v, err := f.value(s.kind, nil); err == nil && objectdb.Equal(v, now) {
				return nil
			}
			return &changedMeanwhile{theirs: now, kind: n.Kind(), version: n.Version()}
		}
		v, err := f.value(s.kind, now)
		if err != nil {
			return err
		}
		if objectdb.Equal(v, now) {
			return nil
		}
		s.stored = true
		if err := check(tx, a, v, c.field("force") != ""); err != nil {
			return err
		}
		return tx.Put(a, v)
	})
	return s, err
}

// saveNew stores an object where there is none.
func (c *call) saveNew(tx *objectdb.Tx, a objectdb.Address, f *form, s *saving) error {
	s.kind = f.kind
	if err := c.checkEdit(a, cmp.Or(s.kind, objectdb.KindString)); err != nil {
		return err
	}
	switch {
	case f.version != 0:
		return &changedMeanwhile{}
	case s.kind == 0:
		return newProblem(http.StatusNotFound, "value.gone", a.String())
	}
	v, err := f.value(s.kind, nil)
	if err == nil {
		err = check(tx, a, v, c.field("force") != "")
	}
	if err != nil {
		return err
	}
	s.stored, s.created = true, true
	return tx.Put(a, v)
}

// value returns the value of a kind that a form stands for. base is the value that the person has
// read, or nil if it is not known.
func (f *form) value(k objectdb.Kind, base objectdb.Value) (objectdb.Value, error) {
	if k == objectdb.KindBinary {
		return f.binary(base)
	}
	if f.file != nil {
		if k == objectdb.KindDate || k == objectdb.KindBoolean {
			return nil, &notStored{text: text("value.noFile")}
		}
		return parse(k, f.file.content)
	}
	typed := f.typed
	if !f.hasText && f.moment == "" { // a page that shows no text must not empty the value
		return nil, bad("value.notSent")
	}
	switch {
	case isLines(k):
		before := ""
		if base != nil && isLines(base.Kind()) {
			before = valuetext.Format(base)
		}
		typed = withLineEnds(before, typed)
	case k == objectdb.KindDate && f.moment != "":
		was, _ := base.(objectdb.Date)
		return parseMoment(f.moment, was.Time)
	}
	return parse(k, typed)
}

// parse returns the value of a kind that a text stands for.
func parse(k objectdb.Kind, typed string) (objectdb.Value, error) {
	if k == objectdb.KindList {
		v, err := objectdb.ParseJSON(typed)
		if err == nil && v.Kind() != objectdb.KindList {
			err = errors.New(text("value.noList"))
		}
		if err != nil {
			return nil, &notStored{text: text("value.list", err)}
		}
		return v, nil
	}
	v, err := valuetext.Parse(k, typed)
	if err != nil {
		return nil, &notStored{text: err.Error()}
	}
	return v, nil
}

// parseMoment reads a date from an input of dates. If its seconds are those of the date that was
// there, the part of a second stays.
func parseMoment(moment string, was time.Time) (objectdb.Value, error) {
	layout := inputTime
	if strings.Count(moment, ":") == 1 { // browsers leave out ":00"
		layout = "2006-01-02T15:04"
	}
	t, err := time.Parse(layout, moment)
	if err != nil {
		return nil, &notStored{text: text("value.moment", moment)}
	}
	if was = was.UTC(); was.Truncate(time.Second).Equal(t) {
		t = was
	}
	return objectdb.Date{Time: t}, nil
}

// binary returns the binary that a form stands for.
func (f *form) binary(base objectdb.Value) (objectdb.Value, error) {
	was, _ := base.(objectdb.Binary)
	b := objectdb.Binary{Type: f.mime, Data: was.Data}
	switch {
	case f.file != nil:
		b.Data = f.file.content
		if b.Type == "" || b.Type == was.Type {
			b.Type = typeOf(f.file)
		}
	case f.hasText && (isTextType(was.Type) || base == nil):
		b.Data = withLineEnds(was.Data, f.typed)
	}
	if b.Type == "" {
		b.Type = was.Type
	}
	if media, _, err := mime.ParseMediaType(b.Type); err != nil || !strings.Contains(media, "/") {
		return nil, &notStored{text: text("value.type", b.Type)}
	}
	return b, nil
}

// typeOf returns the MIME type of a file, by its name or else by its content.
func typeOf(f *file) string {
	if t := mime.TypeByExtension(strings.ToLower(filepath.Ext(f.name))); t != "" {
		return t
	}
	return http.DetectContentType([]byte(f.content))
}

// check returns an error if a value is a script that does not compile, unless the person insists.
func check(tx *objectdb.Tx, a objectdb.Address, v objectdb.Value, force bool) error {
	source, ok := v.(objectdb.Script)
	if !ok || force {
		return nil
	}
	err := runner.Compiles(tx, a, source)
	var wrong *lua.SyntaxError
	if !errors.As(err, &wrong) {
		return err
	}
	why := text("value.syntax", wrong.Line, wrong.Text())
	if set := runner.LimitOf(err); set != "" {
		why += " " + text("value.limit", set)
	}
	return &notStored{text: why, force: true, findings: []lint.Finding{
		{Name: a.String(), Line: wrong.Line, Column: wrong.Column, Rule: "syntax", Message: wrong.Text()},
	}}
}

// problem returns what programs and error pages are told.
func (e *notStored) problem() *problem {
	p := &problem{Status: http.StatusUnprocessableEntity, Text: e.text, Data: map[string]any{}}
	if e.findings != nil {
		p.Data["findings"] = e.findings
	}
	if e.force {
		p.Data["force"] = true
	}
	return p
}

// formAgain shows the form with what the person has typed, and why it was not stored.
func (c *call) formAgain(a objectdb.Address, f *form, err error) (*result, error) {
	var refused *notStored
	if errors.As(err, &refused) {
		err = refused.problem()
	}
	p := c.problemOf(err)
	if c.json {
		return nil, p
	}
	res, err := c.typedPage(a, p.Status, func(d *valueData) {
		d.Error = p.Text
		if refused != nil {
			d.Findings = refused.findings
		}
		if f.moment != "" {
			d.Moment, d.Rest = f.moment, ""
		}
	})
	if errors.Is(err, objectdb.ErrNotFound) && refused != nil && f.file == nil { // the object is gone, the text is not
		res = c.showConflict(&conflict{Address: a, Dotted: a.String(), Deleted: true, Mine: f.typed, Error: p.Text,
			OwnKind: f.kind.String()})
		res.status = p.Status
		return res, nil
	}
	if err != nil {
		return nil, p
	}
	return res, nil
}

// typedPage shows the page of an object with what the person has typed in place of its value.
func (c *call) typedPage(a objectdb.Address, status int, change func(*valueData)) (*result, error) {
	res, err := c.showObject(a)
	if err != nil {
		return nil, err
	}
	d := res.data.(*objectData).valueData
	if d == nil || !d.Change {
		return nil, c.notFound()
	}
	res.status = status
	d.Text, d.Typed, d.Read = c.lines("value"), true, c.version()
	d.Part, d.Plain, d.Odd = false, len(d.Text) > longText, ""
	d.Force = c.field("force") != ""
	change(d)
	return res, nil
}

// savedResult says what a save has done.
func (c *call) savedResult(a objectdb.Address, s saving) (*result, error) {
	key := "saved"
	switch {
	case !s.stored:
		key = "unchanged"
	case s.created:
		key = "made"
	}
	to := c.linkTo("at", a)
	if c.query("show") == "1" {
		to = c.linkTo("at", a, "show", "1")
	}
	res := c.redirect(to, key, s.change)
	if !c.json {
		return res, nil
	}
	data := map[string]any{"saved": true, "change": s.change, "message": text("said." + key), "page": res.location}
	err := c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err == nil {
			data["version"], data["kind"] = n.Version(), n.Kind().String()
			data["size"], data["modified"] = n.Size(), n.Modified().UTC()
		}
		return err
	})
	res.data = data
	return res, err
}
