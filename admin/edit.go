package admin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/objectfiles"
	"scripter/requestlog"
	"scripter/script/lint"
	"scripter/site"
	"scripter/valuetext"
)

// editRoutes lists the pages that change values.
func (s *Server) editRoutes() {
	for _, suffix := range []string{"", "/{address...}"} {
		s.page("POST /edit"+suffix, readers, (*call).editObject)
		s.page("GET /raw"+suffix, readers, (*call).rawValue)
		s.page("POST /lint"+suffix, readers, (*call).lintTyped)
		s.page("POST /preview"+suffix, readers, (*call).previewPage)
		s.page("GET /complete"+suffix, readers, (*call).completeName)
		s.page("GET /hover"+suffix, readers, (*call).explainName)
	}
}

// valueData is the value of an object, for its page.
type valueData struct {
	// Value is the value as valueJSON has it; a binary, a long value and one that is not to be
	// shown have none.
	Value json.RawMessage `json:"value,omitempty"`
	// OtherKinds are the kinds that it can have without a loss.
	OtherKinds []string       `json:"kinds,omitempty"`
	SHA256     string         `json:"sha256,omitempty"` // of a binary
	Target     *target        `json:"target,omitempty"` // of an address
	Findings   []lint.Finding `json:"findings,omitempty"`

	Form    string        `json:"-"` // the form that edits it: see forms
	Text    string        `json:"-"` // what the form shows, or what a person has typed
	Typed   bool          `json:"-"` // Text has not been stored
	Error   string        `json:"-"` // why Text was not stored
	Checked bool          `json:"-"` // a person has asked for Findings
	Force   bool          `json:"-"` // the person may insist
	Read    int64         `json:"-"` // the version that the person has read
	Masked  bool          `json:"-"` // it is not shown
	Shown   bool          `json:"-"` // it is a secret that is shown
	Change  bool          `json:"-"` // the person may change it
	Plain   bool          `json:"-"` // too long for an editor with colours
	Part    bool          `json:"-"` // Text is only the beginning of the value, and cannot be changed
	Odd     string        `json:"-"` // why it cannot be edited as text: a key of texts
	Moment  string        `json:"-"` // a date, for an input of dates
	Rest    string        `json:"-"` // the part of the second of Moment, or ""
	IsPage  bool          `json:"-"` // a text with HTML or markers
	Picture bool          `json:"-"` // a browser can show the binary
	Lines   []outlineLine `json:"-"`
	MaxBody string        `json:"-"` // how many MB a request may have
}

// MayUpload reports whether a file can replace the value.
func (d *valueData) MayUpload() bool {
	return d.Odd != "" || d.Form != "boolean" && d.Form != "date" && d.Form != "line"
}

// PartSize returns the size of the part that is shown.
func (d *valueData) PartSize() int64 { return int64(len(d.Text)) }

// target is what an address stands for.
type target struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	Kind    string           `json:"kind,omitempty"` // "" if there is nothing
}

// forms are the parts of templates that edit values, by kind.
var forms = map[objectdb.Kind]string{
	objectdb.KindScript: "script", objectdb.KindText: "text", objectdb.KindOutline: "outline",
	objectdb.KindString: "line", objectdb.KindNumber: "line", objectdb.KindAddress: "line",
	objectdb.KindBoolean: "boolean", objectdb.KindDate: "date", objectdb.KindList: "list",
	objectdb.KindBinary: "binary",
}

const (
	// longText is the size in bytes of the longest text for the editor with colours. With a larger
	// one Chromium shows the page late on a machine with two busy cores.
	longText = maxWhole
	// maxWhole and maxWholeList are the sizes in bytes of the longest text and the longest list whose page
	// shows all of it, unless the person asks for all. The page of a longer one shows shownPart bytes, and
	// has no form for them: a part must not be stored as if it were the whole.
	maxWhole     = 512 << 10
	maxWholeList = 128 << 10
	shownPart    = 32 << 10
	// maxEdited is the size in bytes of the longest text that a page shows.
	maxEdited = 8 << 20
	// maxValueJSON is the size in bytes of the longest value that the JSON form of a page holds.
	maxValueJSON = 512 << 10
	// maxSummed is the size in bytes of the largest binary that is read for its page, for the
	// checksum. A larger one takes long, so it is read when the person asks for the checksum.
	maxSummed = 4 << 20
)

// valuePart returns what the page of an object shows of its value. n is not a table.
func (c *call) valuePart(tx *objectdb.Tx, a objectdb.Address, n *objectdb.Node) (*valueData, error) {
	d := &valueData{
		Form: forms[n.Kind()], Read: n.Version(),
		MaxBody: strconv.FormatFloat(c.site.Number(site.MaxBody), 'f', -1, 64),
	}
	if !c.maySeeValue(a, n.Kind()) {
		d.Masked = true
		return d, nil
	}
	d.Shown = requestlog.IsSecret(a, n.Kind())
	d.Change = c.mayEdit(a, n.Kind())
	d.Picture = isPicture(n.Type())
	if n.Kind() == objectdb.KindBinary && n.Size() > maxSummed && c.query("sum") != "1" {
		d.Odd = "value.noText"
		if isTextType(n.Type()) {
			d.Odd = "value.tooLong"
		}
		return d, nil
	}
	v, err := tx.Value(n)
	if err != nil {
		return nil, err
	}
	if c.json && n.Size() <= maxValueJSON {
		d.Value = valueJSON(v)
	}
	if d.Part = isLong(n) && c.query("all") != "1"; !c.json {
		d.setText(v)
	}
	switch v := v.(type) {
	case objectdb.Address:
		d.Target, err = c.targetOf(tx, v)
	case objectdb.Date:
		d.setDate(v.Time)
	case objectdb.Outline:
		if !d.Change && !d.Part {
			d.Lines = outlineLines(d.Text)
		}
	case objectdb.Text:
		d.IsPage = isPage(d.Text)
	case objectdb.Binary:
		sum := sha256.Sum256([]byte(v.Data))
		d.SHA256 = hex.EncodeToString(sum[:])
	}
	if d.Change {
		d.OtherKinds = lossless(v)
	}
	return d, err
}

// setText sets the text of the form, or the part of it that is shown instead.
func (d *valueData) setText(v objectdb.Value) {
	text, ok := "", true
	if d.Part {
		text = beginningText(v)
	} else {
		text, ok = editText(v)
	}
	switch {
	case !ok:
		d.Odd = "value.noText"
	case len(text) > maxEdited:
		d.Odd = "value.tooLong"
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		d.Odd = "value.noUTF8"
	default:
		d.Text, d.Plain = text, len(text) > longText
	}
	if d.Form == "line" && strings.ContainsAny(text, "\r\n") {
		d.Form = "text"
	}
}

// isLong reports whether a value is so long that its page does not show all of it.
func isLong(n *objectdb.Node) bool {
	switch n.Kind() {
	case objectdb.KindList:
		return n.Size() > maxWholeList
	case objectdb.KindBinary:
		return n.Size() > maxWhole && isTextType(n.Type())
	}
	return n.Size() > maxWhole
}

// beginningText returns the beginning of the text in which a person edits a value.
func beginningText(v objectdb.Value) string {
	if l, ok := v.(objectdb.List); ok {
		v = l[:min(len(l), 500)]
	}
	text, _ := editText(v)
	end := min(len(text), shownPart)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	if _, ok := v.(objectdb.List); ok && end == len(text) {
		return strings.TrimRight(text, "\n]")
	}
	return text[:end]
}

// editText returns the text in which a person edits a value, and whether there is one.
func editText(v objectdb.Value) (string, bool) {
	switch v := v.(type) {
	case objectdb.List:
		return string(objectfiles.FileOf("list", v).Content), true
	case objectdb.Binary:
		return v.Data, isTextType(v.Type)
	}
	return valuetext.Format(v), true
}

// setDate sets the input of a date. Its seconds are whole; what is less than a second is kept
// until the rest is changed.
func (d *valueData) setDate(t time.Time) {
	if y := t.Year(); y < 1 || y > 9999 {
		return // an input of dates does not know them
	}
	d.Moment = t.UTC().Format(inputTime)
	if _, rest, ok := strings.Cut(t.UTC().Format(time.RFC3339Nano), "."); ok {
		d.Rest = "0." + strings.TrimSuffix(rest, "Z")
	}
}

// inputTime is the form of a date in an input of dates.
const inputTime = "2006-01-02T15:04:05"

// targetOf returns what an address stands for.
func (c *call) targetOf(tx *objectdb.Tx, a objectdb.Address) (*target, error) {
	t := &target{Address: a, Dotted: a.String()}
	n, err := tx.Find(a)
	if err == nil && c.role.MaySee(a) {
		t.Kind = n.Kind().String()
	}
	if objectdb.IsMissing(err) {
		err = nil
	}
	return t, err
}

// maySeeValue reports whether the page shows a value. A secret is shown to an owner who asks for it.
func (c *call) maySeeValue(a objectdb.Address, k objectdb.Kind) bool {
	if !c.role.MaySee(a) {
		return false
	}
	return !requestlog.IsSecret(a, k) || c.role.Kind == site.RoleOwner && c.query("show") == "1"
}

// mayEdit reports whether the person may change a value. Who may not see a secret cannot edit it.
func (c *call) mayEdit(a objectdb.Address, k objectdb.Kind) bool {
	return !c.inPast && c.role.MayChange(a) && (!requestlog.IsSecret(a, k) || c.role.Kind == site.RoleOwner)
}

// valueJSON returns a value as programs get it: texts, dates and addresses as strings, a list in
// the form of files, in which nothing is lost. It returns nil for a binary.
func valueJSON(v objectdb.Value) json.RawMessage {
	switch v := v.(type) {
	case objectdb.Binary:
		return nil
	case objectdb.Boolean, objectdb.Number, objectdb.List:
		return objectdb.AppendJSON(nil, v)
	}
	return objectdb.AppendJSON(nil, objectdb.String(valuetext.Format(v)))
}

// outlineLine is a line of an outline.
type outlineLine struct {
	Text  string
	Lines []outlineLine // below it
}

// outlineLines returns the lines of an outline, each with those below it. A line that is more than
// one deeper than the line above counts as one deeper.
func outlineLines(text string) []outlineLine {
	lines := strings.Split(unixLines(text), "\n")
	if len(lines) > maxOutlineLines {
		return nil
	}
	list, _ := outlineAt(lines, 0)
	return list
}

const (
	maxOutlineLines = 5000 // of an outline that is shown as a list
	maxOutlineDepth = 100
)

// outlineAt returns the lines of one depth or more, and those that follow.
func outlineAt(lines []string, depth int) (list []outlineLine, rest []string) {
	for len(lines) > 0 {
		text := strings.TrimLeft(lines[0], "\t")
		level := len(lines[0]) - len(text)
		switch {
		case level < depth:
			return list, lines
		case level > depth && len(list) > 0 && depth < maxOutlineDepth:
			last := &list[len(list)-1]
			last.Lines, lines = outlineAt(lines, depth+1)
		default:
			list, lines = append(list, outlineLine{Text: text}), lines[1:]
		}
	}
	return list, nil
}

// isPage reports whether a text looks like a page: HTML, or with markers.
func isPage(text string) bool {
	if strings.Contains(text, "<!--#") {
		return true
	}
	head := strings.ToLower(text[:min(len(text), 1000)])
	tags := []string{"<html", "<!doctype", "<body", "<p", "<div", "<h1", "<h2", "<ul", "<table", "<a "}
	return slices.ContainsFunc(tags, func(tag string) bool { return strings.Contains(head, tag) })
}

// shownParameter returns the parameter "show" of the links from the page of a value.
func shownParameter(shown bool) string {
	if shown {
		return "1"
	}
	return ""
}

// versionText returns a version as forms and links have it.
func versionText(version int64) string { return strconv.FormatInt(version, 10) }
