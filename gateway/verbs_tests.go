package gateway

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/httpform"
	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
	"scripter/verbs/form"
	"scripter/verbs/json"
)

// TestVerbs returns the verbs that only the scripts of tests see, as bare names.
func TestVerbs() []script.Verb { return append(slices.Clone(verbs.Tests()), fetchVerb, requestVerb) }

var requestVerb = script.Verb{
	Name: "request",
	Doc: "Makes a request to the site, as a visitor, and gives the answer. The request is handled like one from " +
		"a web server, but within the transaction of the test: it sees what the test has written, and what it " +
		"writes is thrown away with the test.",
	Params: []script.Param{script.Arg("fields", "table",
		"path, with a query after ?; method (GET, or POST if there is a body); query, headers and cgi (CGI "+
			"variables), tables of texts; form, files, json or body; time, a date for the clock of the request; seed, "+
			"for math.random")},
	Results: script.Returns("answer",
		"a table: status, headers by their names in lower case, body, and errors, a list of the texts for the log"),
	Errors: "an unknown field; a path that does not begin with a slash",
	Example: `suites.webserverScripts.tea = odb.script ("return 'Tea for ' .. (...).argTable.who")
return request ({path = "/tea.fcgi", form = {who = "two"}}).body`,
	Gives: "Tea for two",
	Func:  verbRequest,
}

// requestSeed is the seed of math.random in the requests of tests, so that they give the same
// answer each time.
const requestSeed = 1

// testRequest is the argument of the verb request.
type testRequest struct {
	call    *script.Call
	request *Request
	now     func() time.Time
	seed    int64

	form, files *script.Table
	body        *string // nil: there is none yet
	method      string
}

// requestFields are the fields of the argument of request, in the order in which they are read.
var requestFields = []struct {
	name string
	read func(*testRequest, script.Value) error
}{
	{"path", (*testRequest).readPath},
	{"query", (*testRequest).readQuery},
	{"headers", (*testRequest).readHeaders},
	{"cgi", (*testRequest).readVariables},
	{"form", func(r *testRequest, v script.Value) (err error) { r.form, err = tableOf(v); return err }},
	{"files", func(r *testRequest, v script.Value) (err error) { r.files, err = tableOf(v); return err }},
	{"json", (*testRequest).readJSON},
	{"body", (*testRequest).readText},
	{"method", (*testRequest).readMethod},
	{"time", (*testRequest).readTime},
	{"seed", (*testRequest).readSeed},
}

func verbRequest(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.test == nil {
		return errors.New("this verb works only in a test")
	}
	r := &testRequest{call: v, now: c.now, seed: requestSeed}
	r.request = &Request{Form: NPH, Params: map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
		"REQUEST_METHOD": "GET", "DOCUMENT_ROOT": c.g.testSite, "REMOTE_ADDR": "127.0.0.1",
	}}
	if err := r.read(v.Table(1)); err != nil {
		return err
	}
	w := &answerWriter{body: boundedWriter{limit: c.Size(site.MaxResponse)}}
	x := c.g.newExchange(r.request, w)
	defer x.close()
	x.answers = c.answers
	x.test, x.recorded, x.now, x.began, x.seed = c.Run, true, r.now, r.now(), r.seed
	out := x.answer(c.Context())
	if w.err != nil {
		return w.err
	}
	if out.Err != nil && ownsRun(out.Err) {
		return out.Err
	}
	if out.Err != nil {
		x.failures = append(x.failures, Describe(out.Err))
	}
	if len(x.failures) > 0 {
		c.Note(fmt.Sprintf("%s %s was answered with status %d:\n%s", r.request.Params["REQUEST_METHOD"],
			r.request.LogPath(), out.Status, strings.Join(x.failures, "\n")))
	}
	v.Return(w.answer(out.Status, x.failures))
	return nil
}

// ownsRun reports whether an error of a request ends the test, too: their transaction has a
// conflict, or the root cannot be read.
func ownsRun(err error) bool {
	return slices.ContainsFunc([]error{objectdb.ErrConflict, objectdb.ErrBusy, objectdb.ErrDamaged, objectdb.ErrClosed},
		func(e error) bool { return errors.Is(err, e) })
}

// read reads the argument.
func (r *testRequest) read(t *script.Table) error {
	var names []string
	for _, f := range requestFields {
		names = append(names, f.name)
	}
	var unknown error
	t.Each(func(k, _ script.Value) bool {
		if name, ok := k.(string); !ok || !slices.Contains(names, name) {
			unknown = fmt.Errorf("it has no field %v; its fields are %s", k, strings.Join(names, ", "))
		}
		return unknown == nil
	})
	if unknown != nil {
		return unknown
	}
	if t.Get("path") == nil {
		return errors.New("the field path is missing")
	}
	for _, f := range requestFields {
		v := t.Get(f.name)
		if v == nil {
			continue
		}
		if err := f.read(r, v); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return r.complete()
}

// complete makes the body and its variables.
func (r *testRequest) complete() error {
	if err := r.makeForm(); err != nil {
		return err
	}
	p := r.request.Params
	if r.body != nil {
		p["REQUEST_METHOD"] = "POST"
		p["CONTENT_LENGTH"] = strconv.Itoa(len(*r.body))
		r.request.Body = strings.NewReader(*r.body)
	}
	if r.method != "" {
		p["REQUEST_METHOD"] = r.method
	}
	return nil
}

func tableOf(v script.Value) (*script.Table, error) {
	t, ok := v.(*script.Table)
	if !ok {
		return nil, errors.New("it must be a table")
	}
	return t, nil
}

func (r *testRequest) text(v script.Value) (string, error) { return r.call.Thread().Text(v) }

// eachText calls add with each cell of a table.
func (r *testRequest) eachText(v script.Value, add func(name, value string)) error {
	t, err := tableOf(v)
	if err != nil {
		return err
	}
	return form.EachField(r.call.Thread(), t, add)
}

func (r *testRequest) readPath(v script.Value) error {
	url, err := r.text(v)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(url, "/") {
		return fmt.Errorf("%q does not begin with /", clip(url, 200))
	}
	path, query, _ := strings.Cut(url, "?")
	p := r.request.Params
	p["SCRIPT_NAME"], p["QUERY_STRING"], p["REQUEST_URI"] = DecodePath(path), query, url
	return nil
}

func (r *testRequest) readQuery(v script.Value) error {
	p := r.request.Params
	query := []byte(p["QUERY_STRING"])
	err := r.eachText(v, func(name, value string) { query = appendField(query, name, value) })
	path, _, _ := strings.Cut(p["REQUEST_URI"], "?")
	p["QUERY_STRING"], p["REQUEST_URI"] = string(query), path+"?"+string(query)
	return err
}

func appendField(b []byte, name, value string) []byte {
	if len(b) > 0 {
		b = append(b, '&')
	}
	return httpform.Escape(append(httpform.Escape(b, name), '='), value)
}

func (r *testRequest) readHeaders(v script.Value) error {
	p := r.request.Params
	return r.eachText(v, func(name, value string) {
		name = strings.ReplaceAll(strings.ToUpper(name), "-", "_")
		if name != "CONTENT_TYPE" && name != "CONTENT_LENGTH" {
			name = "HTTP_" + name
		}
		if before, again := p[name]; again { // a list
			value = before + ", " + value
		}
		p[name] = value
	})
}

// readVariables reads the CGI variables. It refuses DOCUMENT_ROOT, because a script in the root
// must not decide where pages come from.
func (r *testRequest) readVariables(v script.Value) error {
	root := r.request.Params["DOCUMENT_ROOT"]
	err := r.eachText(v, func(name, value string) { r.request.Params[name] = value })
	if err == nil && r.request.Params["DOCUMENT_ROOT"] != root {
		err = errors.New("DOCUMENT_ROOT is the folder of the pages, which --site names")
	}
	return err
}

func (r *testRequest) readMethod(v script.Value) (err error) {
	r.method, err = r.text(v)
	return err
}

func (r *testRequest) readJSON(v script.Value) error {
	text, err := json.Encode(r.call.Thread(), v)
	if err != nil {
		return err
	}
	return r.setBody("application/json", string(text))
}

func (r *testRequest) readText(v script.Value) error {
	text, err := r.text(v)
	if err != nil {
		return err
	}
	return r.setBody("", text)
}

// setBody sets the body, which may be given only once, and its type unless the headers have one.
func (r *testRequest) setBody(kind, body string) error {
	if r.body != nil {
		return errors.New("the request already has a body")
	}
	r.body = &body
	if p := r.request.Params; p["CONTENT_TYPE"] == "" && kind != "" {
		p["CONTENT_TYPE"] = kind
	}
	return nil
}

// makeForm makes a body of the fields form and files.
func (r *testRequest) makeForm() error {
	if r.form == nil && r.files == nil {
		return nil
	}
	var encoded []byte
	var parts []httpform.Part
	if r.form != nil {
		err := form.EachField(r.call.Thread(), r.form, func(name, value string) {
			encoded = appendField(encoded, name, value)
			parts = append(parts, newPart(name, "", "", value))
		})
		if err != nil {
			return fmt.Errorf("form: %w", err)
		}
	}
	if r.files == nil {
		return r.setBody(httpform.URLEncoded, string(encoded))
	}
	for _, name := range r.files.Names() {
		file, err := r.file(name)
		if err != nil {
			return fmt.Errorf("files: %w", err)
		}
		parts = append(parts, file)
	}
	boundary := "scripter-test"
	for slices.ContainsFunc(parts, func(p httpform.Part) bool { return strings.Contains(p.Data, boundary) }) {
		boundary += "-x"
	}
	return r.setBody(httpform.Multipart+"; boundary="+boundary, httpform.FormatMultipart(parts, boundary))
}

// file returns the part of a file: a table with filename, type and data, as params.files has it.
func (r *testRequest) file(name string) (httpform.Part, error) {
	t, err := tableOf(r.files.Get(name))
	if err != nil {
		return httpform.Part{}, fmt.Errorf("%s: it must be a table with filename, type and data", name)
	}
	texts := map[string]string{"filename": "file", "type": "application/octet-stream", "data": ""}
	for field := range texts {
		if v := t.Get(field); v != nil {
			if texts[field], err = r.text(v); err != nil {
				return httpform.Part{}, err
			}
		}
	}
	return newPart(name, texts["filename"], texts["type"], texts["data"]), nil
}

// newPart returns a part of a multipart form: a file if kind is not empty.
func newPart(name, fileName, kind, data string) httpform.Part {
	quoted := func(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "").Replace(s) }
	header := textproto.MIMEHeader{}
	disposition := `form-data; name="` + quoted(name) + `"`
	if kind != "" {
		disposition += `; filename="` + quoted(fileName) + `"`
		header.Set("Content-Type", quoted(kind))
	}
	header.Set("Content-Disposition", disposition)
	return httpform.Part{Name: name, Header: header, Data: data, File: kind != "", FileName: fileName}
}

func (r *testRequest) readTime(v script.Value) error {
	d, ok := v.(objectdb.Date)
	if !ok {
		return errors.New("it must be a date, such as odb.date (\"2030-01-31\")")
	}
	then := d.Local()
	r.now = func() time.Time { return then }
	return nil
}

func (r *testRequest) readSeed(v script.Value) error {
	n, ok := v.(float64)
	if !ok {
		return errors.New("it must be a number")
	}
	r.seed = int64(n)
	return nil
}

// answerWriter takes the response to the request of a test.
type answerWriter struct {
	fields []httpheader.Field
	body   boundedWriter
	err    error // the body is too long
}

// WriteHead takes the head of the response: see responder.writeHead.
func (w *answerWriter) WriteHead(resp *httpheader.Response) error {
	w.fields = slices.Clone(resp.Fields)
	return nil
}

func (w *answerWriter) Write(p []byte) (int, error) {
	n, err := w.body.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// answer returns the table that the test gets.
func (w *answerWriter) answer(status int, failures []string) *script.Table {
	headers := script.NewTable()
	for _, f := range w.fields {
		form.Add(headers, strings.ToLower(f.Name), f.Value)
	}
	errs := script.NewList()
	for _, text := range failures {
		errs.Append(text)
	}
	t := script.NewTable()
	t.Set("status", float64(status))
	t.Set("headers", headers)
	t.Set("body", w.body.String())
	t.Set("errors", errs)
	return t
}
