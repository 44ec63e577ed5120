package admin

import (
	"errors"
	"maps"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"scripter/history"
	"scripter/httpform"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// Bounds of what the page of a request shows: a script may have written more into a recorded
// request than Debugging records.
const (
	requestItems = 300       // of a group
	requestValue = 4 << 10   // bytes of one item
	requestText  = 128 << 10 // bytes of a body or a head
)

// requestData is the page of one recorded request.
type requestData struct {
	requestRow
	Generation int64         `json:"generation,omitempty"` // of the root that its scripts saw
	Groups     []requestPart `json:"groups"`               // parameters
	Body       boundedText   `json:"body"`
	BodySize   int64         `json:"bodySize"`
	IsForm     bool          `json:"-"` // the body is shown as a group
	Response   *response     `json:"response,omitempty"`
	Failure    []run         `json:"-"`
	Error      string        `json:"error,omitempty"`
	Changes    []changeRow   `json:"changes"` // what it has changed, as the history has it
	Fetched    []string      `json:"fetched,omitempty"`
	Read       *readData     `json:"read,omitempty"` // nil: not known
	Masked     []string      `json:"masked"`
	Cut        []string      `json:"cut"`
	Secrets    bool          `json:"secrets,omitempty"` // it was recorded with its secrets
	Shown      bool          `json:"-"`                 // and they are shown
	MayReplay  bool          `json:"mayReplay"`
	Incomplete string        `json:"incomplete,omitempty"` // why it cannot be run again as it is
	Then       string        `json:"noThen,omitempty"`     // why it cannot be run on the root as it was
	Test       *objectRef    `json:"test,omitempty"`       // that was made of it just now
	TestName   string        `json:"-"`
	Outcome    *outcome      `json:"outcome,omitempty"` // of a replay
	Edited     edited        `json:"-"`                 // what a replay was given
}

// objectRef is an object that a page links to.
type objectRef struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
}

// requestPart is a group of parameters.
type requestPart struct {
	Key   string        `json:"group"`
	Items []requestItem `json:"items"`
	More  int           `json:"more,omitempty"` // how many are not shown
}

type requestItem struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Masked bool   `json:"masked,omitempty"`
}

// response is an answer, recorded or of a replay.
type response struct {
	Status int         `json:"status"`
	Head   string      `json:"head"`
	Body   boundedText `json:"body"`
	Size   int64       `json:"size"`
	SHA256 string      `json:"sha256,omitempty"` // of a body that is too long to be recorded
}

// Class returns the colour of the status.
func (r *response) Class() string { return statusClass(r.Status) }

func newResponse(a *requestlog.Answer) *response {
	if a == nil {
		return nil
	}
	return &response{Status: a.Status, Head: newBoundedText(a.Head).Text, Body: newBoundedText(a.Body), Size: a.Size,
		SHA256: a.SHA256}
}

// boundedText is a text as far as a page shows it.
type boundedText struct {
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"`    // only its beginning is shown
	Binary bool   `json:"binary,omitempty"` // it is not text, and not shown
	Size   int64  `json:"size"`
}

func newBoundedText(s string) boundedText {
	t := boundedText{Text: s, Size: int64(len(s))}
	if len(s) > requestText {
		t.Text, t.Cut = strings.ToValidUTF8(s[:requestText], ""), true
	}
	if strings.ContainsRune(t.Text, 0) || !utf8.ValidString(t.Text) {
		t.Text, t.Binary = "", true
	}
	return t
}

// run is a piece of a text, with a link if it names a line of a script.
type run struct{ Text, Link string }

// recorded returns the recorded request that the path names.
func (c *call) recorded(tx *objectdb.Tx) (*requestlog.Request, error) {
	n, err := strconv.Atoi(c.r.PathValue("number"))
	if err != nil || n < 1 {
		return nil, c.notFound()
	}
	r, err := requestlog.Find(tx, n)
	if errors.Is(err, requestlog.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, "request.notKept", n, err)
	}
	return r, err
}

// requestPage shows a recorded request.
func (c *call) requestPage() (*result, error) {
	data, _, err := c.request()
	if err != nil {
		return nil, err
	}
	return c.requestResult(data), nil
}

func (c *call) requestResult(data *requestData) *result {
	return &result{template: "request", title: text("request.title", data.Number), data: data}
}

// request reads the recorded request that the path names. The person sees it, and gets it to run it
// again, with its secrets only as an owner who asks for them.
func (c *call) request() (data *requestData, r *requestlog.Request, err error) {
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) {
		if r, err = c.recorded(tx); err != nil {
			return err
		}
		data, err = c.describeRequest(tx, r)
		return err
	})
	if err == nil && c.role.Kind != site.RoleOwner {
		r = r.WithoutSecrets()
	}
	return data, r, err
}

func (c *call) describeRequest(tx *objectdb.Tx, r *requestlog.Request) (*requestData, error) {
	data := &requestData{Secrets: r.Secrets, MayReplay: c.mayRun() == nil && !c.inPast, Changes: []changeRow{}}
	data.Shown = r.Secrets && c.role.Kind == site.RoleOwner && c.query("secrets") == "shown"
	if !data.Shown {
		r = r.WithoutSecrets()
	}
	data.Number, data.Time, data.Generation = r.Number, r.Time, r.Generation
	data.Method, data.URL, _ = strings.Cut(r.Line(), " ")
	data.URL = cutAt(data.URL, requestValue)
	data.User, data.From = r.Variables["REMOTE_USER"], r.Variables["REMOTE_ADDR"]
	data.Masked, data.Cut = slices.Concat([]string{}, r.Masked), slices.Concat([]string{}, r.Cut)
	data.Body, data.BodySize = newBoundedText(r.Body), r.BodySize
	data.Groups, data.IsForm = requestParts(r)
	if a := r.Answer; a != nil {
		data.Answered, data.Status, data.Milliseconds = true, a.Status, r.Milliseconds()
		data.Response = newResponse(a)
	}
	data.Incident, data.Error = r.Incident, cutAt(r.Error, requestText)
	data.Failure = c.linked(tx, data.Error)
	if err := r.Incomplete(); err != nil {
		data.Incomplete = err.Error()
	}
	data.Then = thenProblem(tx, r)
	data.Edited.Fields = editable(data.Groups)
	data.TestName = testName(r)
	if err := c.findTest(tx, data); err != nil {
		return nil, err
	}
	for _, f := range r.Fetches {
		data.Fetched = append(data.Fetched, cutAt(f.String(), requestValue))
	}
	data.Read = c.newReadData(tx, r.Reads)
	var err error
	data.Changes, err = c.changesOf(tx, r)
	return data, err
}

// cutAt cuts a text to n bytes at most, with "…" in the place of the rest.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// requestParts returns the parameters of a request in groups. isForm reports whether the body is
// one of them.
func requestParts(r *requestlog.Request) (list []requestPart, isForm bool) {
	var query, post, cookies, fields, variables requestPart
	eachField(r.Variables["QUERY_STRING"], query.add)
	switch media, boundary, _ := httpform.Media(r.Variables["CONTENT_TYPE"]); media {
	case httpform.URLEncoded:
		if isForm = r.Body != "" && r.Variables["CONTENT_TYPE"] != ""; isForm {
			eachField(r.Body, post.add)
		}
	case httpform.Multipart:
		parts, err := httpform.ParseMultipart(r.Body, boundary, 1<<20)
		isForm = err == nil && len(parts) > 0
		for _, p := range parts {
			value := p.Data
			if t := newBoundedText(value); t.Binary {
				value = text("request.binary", byteSize(t.Size))
			}
			post.add(p.Name, value)
		}
	}
	for cookie := range strings.SplitSeq(r.Variables["HTTP_COOKIE"], ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(cookie), "="); name != "" {
			cookies.add(name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		field, ok := strings.CutPrefix(name, "HTTP_")
		switch {
		case name == "HTTP_COOKIE":
		case ok:
			fields.add(textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(field, "_", "-")), r.Variables[name])
		default:
			variables.add(name, r.Variables[name])
		}
	}
	for _, g := range []struct {
		key  string
		part requestPart
	}{{"query", query}, {"post", post}, {"cookies", cookies}, {"fields", fields}, {"variables", variables}} {
		if g.part.Key = g.key; len(g.part.Items) > 0 {
			list = append(list, g.part)
		}
	}
	return list, isForm
}

func eachField(form string, add func(name, value string)) {
	_ = httpform.EachField(form, 1<<20, false, add) // an incomplete form has the fields up to its end
}

func (p *requestPart) add(name, value string) {
	if len(p.Items) == requestItems {
		p.More++
		return
	}
	p.Items = append(p.Items, requestItem{cutAt(name, 200), cutAt(value, requestValue),
		strings.Contains(value, requestlog.Masked)})
}

// thenProblem returns why a request cannot be run on the root as it was, or "".
func thenProblem(tx *objectdb.Tx, r *requestlog.Request) string {
	if r.Generation <= 0 {
		return ""
	}
	if err := historyProblem(history.IsRemembered(tx, r.Generation)); err != nil {
		return strings.TrimPrefix(err.Error(), "objectdb: ")
	}
	return ""
}

// changesOf returns what a request has changed, as far as the history has it.
func (c *call) changesOf(tx *objectdb.Tx, r *requestlog.Request) ([]changeRow, error) {
	const window = 500 // commits of other requests that may have come between
	list := []changeRow{}
	if r.Generation <= 0 {
		return list, nil
	}
	mark := " (request " + strconv.Itoa(r.Number) + ")"
	for change, err := range tx.Changes(r.Generation + window) {
		if err != nil {
			return nil, err
		}
		if change.Generation <= r.Generation {
			break
		}
		if !strings.HasSuffix(change.Origin.Path, mark) || change.Origin.Person {
			continue
		}
		summary, err := summarize(tx, change)
		if err != nil {
			return nil, err
		}
		list = append(list, c.row(&history.Change{Change: change, Summary: summary}))
	}
	slices.Reverse(list)
	return list, nil
}

// scriptLine finds the address and the line of a script in a message.
var scriptLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?:[A-Za-z_]\w*|\["(?:[^"\\]|\\.)*"\])(?:\.?\["(?:[^"\\]|\\.)*"\]|\.[A-Za-z_]\w*)*):(\d+)`)
})

// linked returns a text in pieces, with links where it names a line of a script that is there:
// "suites.webserverScripts.hello:3: …".
func (c *call) linked(tx *objectdb.Tx, s string) []run {
	const most = 40 // links
	var list []run
	links, rest := 0, s
	for _, m := range scriptLine().FindAllStringSubmatchIndex(s, -1) {
		name, line := s[m[2]:m[3]], s[m[4]:m[5]]
		a, err := objectdb.ParseAddress(name)
		if err != nil || len(a) < 2 || links == most {
			continue
		}
		if n, err := tx.Find(a); err != nil || n.Kind() != objectdb.KindScript {
			continue
		}
		before := rest[:m[0]-(len(s)-len(rest))]
		list = append(list, run{Text: before}, run{s[m[0]:m[1]], c.linkTo("at", a) + "#line-" + line})
		rest = s[m[1]:]
		links++
	}
	return append(list, run{Text: rest})
}

// testName returns a name for the test of a request, made of the last part of its path.
func testName(r *requestlog.Request) string {
	path := r.Variables["SCRIPT_NAME"] + r.Variables["PATH_INFO"]
	path = path[strings.LastIndexByte(path, '/')+1:]
	if i := strings.LastIndexByte(path, '.'); i > 0 {
		path = path[:i]
	}
	words := strings.FieldsFunc(path, func(c rune) bool { return c >= 0x80 || !isPlain(string(c)) || c == '-' })
	name := "test"
	for _, w := range words {
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	if len(words) == 0 {
		name += "Request"
	}
	return name[:min(60, len(name))] + strconv.Itoa(r.Number)
}

// findTest reads the parameter "test": the address of a test that was made of the request.
func (c *call) findTest(tx *objectdb.Tx, data *requestData) error {
	a, err := objectdb.ParseAddress(c.query("test"))
	if err != nil || !site.IsTest(a) {
		return nil // nothing is shown of a wrong address
	}
	switch n, err := tx.Find(a); {
	case objectdb.IsMissing(err):
		return nil
	case err != nil:
		return err
	case n.Kind() == objectdb.KindScript:
		data.Test = &objectRef{a, a.String()}
	}
	return nil
}
