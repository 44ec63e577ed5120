package sitetest

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/httpform"
	"scripter/lua"
	"scripter/requestlog"
)

// longestBody is the length in bytes of the longest recorded body that a test has. Of a longer
// one, it has only the length.
const longestBody = 16 << 10

// Script returns a test that makes a recorded request again, and expects the recorded answer: its
// status, type, target and body. If the request failed, the test expects only the status, because
// the body has an incident number. Secrets are masked, even if they were recorded without a mask.
// masked lists what is masked or cut, and has to be completed.
func Script(r *requestlog.Request, command string) (source string, masked []string) {
	mask := new(requestlog.Mask)
	vars := mask.Variables(r.Variables)
	shown := requestlog.New(vars, mask.Body(vars["CONTENT_TYPE"], r.Body), mask)
	shown.Masked = append(shown.Masked, r.Masked...)
	slices.Sort(shown.Masked)
	masked = slices.Compact(shown.Masked)
	line := *r
	line.Variables = vars

	w := &writer{}
	w.comment("%s, recorded at %s UTC, saved by %q.", line.Line(), r.Time.UTC().Format("2006-01-02 15:04:05"), command)
	w.comment("It runs on the present data. A script setup beside it can make the data that it needs.")
	if len(masked) > 0 {
		w.comment("Masked: %s. Replace each (masked) by a value.", strings.Join(masked, ", "))
	}
	for _, item := range r.Cut {
		w.comment("Too long to be recorded: %s.", item)
		masked = append(masked, item)
	}
	for _, f := range r.WithoutSecrets().Fetches {
		w.fetched(f)
	}
	w.line("local answer = request {")
	w.request(vars, shown.Body)
	w.line("\ttime = odb.date (%s), -- the clock of the request", quoted(r.Time.UTC().Format("2006-01-02 15:04:05")))
	w.line("\tseed = %d, -- of math.random", r.Seed)
	w.line("}")
	w.expected(r, mask)
	return w.b.String(), masked
}

// writer writes the source of a test.
type writer struct{ b strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) comment(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.line("-- %s", strings.Map(func(c rune) rune {
		if c < ' ' || c == utf8.RuneError {
			return '?'
		}
		return c
	}, text))
}

// request writes the fields of the request.
func (w *writer) request(vars map[string]string, body string) {
	method, url := vars["REQUEST_METHOD"], vars["REQUEST_URI"]
	if url == "" {
		url = string(escapePath(vars["SCRIPT_NAME"] + vars["PATH_INFO"]))
		if q := vars["QUERY_STRING"]; q != "" {
			url += "?" + q
		}
	}
	hasBody := body != "" || vars["CONTENT_LENGTH"] != "" && vars["CONTENT_LENGTH"] != "0"
	if method != "GET" && !hasBody || method != "POST" && hasBody {
		w.line("\tmethod = %s,", quoted(method))
	}
	w.line("\tpath = %s,", quoted(url))
	headers := map[string]string{}
	for name, value := range vars {
		if field, ok := strings.CutPrefix(name, "HTTP_"); ok && !isOfConnection(field) {
			headers[textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(field, "_", "-"))] = value
		}
	}
	form := map[string][]string{}
	media, _, _ := httpform.Media(vars["CONTENT_TYPE"])
	isForm := hasBody && media == httpform.URLEncoded && vars["CONTENT_TYPE"] != "" && parseForm(body, form)
	if !isForm && vars["CONTENT_TYPE"] != "" {
		headers["Content-Type"] = vars["CONTENT_TYPE"]
	}
	w.texts("headers", headers)
	variables := map[string]string{}
	for name, value := range vars {
		if usual, known := variableNames[name]; known && value != "" && value != usual {
			variables[name] = value
		}
	}
	w.texts("cgi", variables)
	switch {
	case isForm:
		w.form(form)
	case hasBody:
		w.line("\tbody = %s,", literal(body))
	}
}

// fetched writes what another host has answered to a request of the script.
func (w *writer) fetched(f requestlog.Fetch) {
	url := f.Method + " " + f.URL
	if i := strings.IndexByte(url, '?'); strings.Contains(url, requestlog.Masked) && i >= 0 {
		url = url[:i] + "?*"
	}
	if f.Failure != "" {
		w.line("expect.fetch (%s, %s)", quoted(url), quoted(f.Failure))
		return
	}
	if f.Lost != "" {
		w.comment("The body of the next answer was not recorded: %s.", f.Lost)
	}
	w.line("expect.fetch (%s, {", quoted(url))
	w.line("\tstatus = %d,", f.Status)
	headers := map[string]string{}
	if kind := http.Header(f.Header).Get("Content-Type"); kind != "" {
		headers["Content-Type"] = kind
	}
	w.texts("headers", headers)
	w.line("\tbody = %s,", literal(f.Body))
	w.line("})")
}

// variableNames are the CGI variables that a test names if they differ from the values that the
// verb request gives them.
var variableNames = map[string]string{
	"REMOTE_USER": "", "AUTH_TYPE": "", "HTTPS": "", "REMOTE_ADDR": "127.0.0.1", "SERVER_NAME": "localhost",
	"SERVER_PORT": "80", "REDIRECT_HANDLER": "", "REDIRECT_SCRIPTER_ACTION": "", "SCRIPTER_ACTION": "",
	"REDIRECT_STATUS": "200", "REDIRECT_REMOTE_USER": "",
}

// isOfConnection reports whether a header field says how a browser and a server transfer the
// message. No script depends on such a field.
func isOfConnection(field string) bool {
	switch field {
	case "CONNECTION", "KEEP_ALIVE", "TE", "UPGRADE_INSECURE_REQUESTS", "ACCEPT_ENCODING", "DNT", "PRIORITY",
		"CONTENT_TYPE", "CONTENT_LENGTH", "TRANSFER_ENCODING":
		return true
	}
	return strings.HasPrefix(field, "SEC_")
}

// parseForm reads a URL-encoded form, and reports whether it is valid.
func parseForm(body string, form map[string][]string) bool {
	const most = 1000 // lines of a test
	err := httpform.EachField(body, most, true, func(name, value string) { form[name] = append(form[name], value) })
	return err == nil && len(form) > 0
}

// escapePath encodes the bytes of a path that a URL cannot have.
func escapePath(path string) []byte {
	var b []byte
	for i := 0; i < len(path); i++ {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '?' || c == '%' || c == '#' {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return b
}

// texts writes a field with a table of texts, unless the table is empty.
func (w *writer) texts(field string, texts map[string]string) {
	if len(texts) == 0 {
		return
	}
	w.line("\t%s = {", field)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		w.line("\t\t%s = %s,", key(name), quoted(texts[name]))
	}
	w.line("\t},")
}

func (w *writer) form(form map[string][]string) {
	w.line("\tform = {")
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := form[name]
		if len(values) == 1 {
			w.line("\t\t%s = %s,", key(name), literal(values[0]))
			continue
		}
		for i := range values {
			values[i] = literal(values[i])
		}
		w.line("\t\t%s = {%s},", key(name), strings.Join(values, ", "))
	}
	w.line("\t},")
}

// expected writes what the test expects of the answer.
func (w *writer) expected(r *requestlog.Request, mask *requestlog.Mask) {
	a := r.Answer
	switch {
	case a == nil:
		w.comment("Its answer was not recorded.")
		w.line("expect.equal (answer.status, 200)")
		return
	case r.Error != "":
		first, _, _ := strings.Cut(mask.Text(r.Error), "\n")
		w.comment("It failed: %s", first)
	}
	w.line("expect.equal (answer.status, %d)", a.Status)
	if r.Error != "" {
		return
	}
	for _, name := range []string{"Content-Type", "Location"} {
		if value := headField(a.Head, name); value != "" {
			name = strings.ToLower(name)
			w.line("expect.equal (answer.headers%s, %s)", cellOf(name), quoted(mask.Text(value)))
		}
	}
	switch {
	case r.Variables["REQUEST_METHOD"] == "HEAD":
	case !a.Whole():
		w.line("expect.equal (#answer.body, %d)", a.Size)
		w.line("expect.equal (hash.sha256 (answer.body), %s)", quoted(a.SHA256))
	case len(a.Body) > longestBody:
		w.line("expect.equal (#answer.body, %d)", a.Size)
	default:
		w.line("expect.equal (answer.body, %s)", literal(mask.Text(a.Body)))
	}
}

// headField returns the value of a field in a recorded head.
func headField(head, name string) string {
	for line := range strings.Lines(head) {
		if field, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(field, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// key returns a name as the key of a table constructor.
func key(name string) string {
	if lua.IsName(name) {
		return name
	}
	return "[" + quoted(name) + "]"
}

// cellOf returns the Lua code that follows a table to name a cell of it.
func cellOf(name string) string {
	if lua.IsName(name) {
		return "." + name
	}
	return " [" + quoted(name) + "]"
}

// literal returns a text as a string of Lua. A text of several lines becomes a long string, if
// Lua reads that unchanged.
func literal(s string) string {
	plain := strings.IndexFunc(s, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == utf8.RuneError
	}) < 0
	if !plain || !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		return quoted(s)
	}
	level := ""
	for strings.Contains(s+"]", "]"+level+"]") {
		level += "="
	}
	return "[" + level + "[\n" + s + "]" + level + "]"
}

// quoted returns a text as a quoted string of Lua.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(s[i])
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03d`, s[i])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}
