package admin

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed texts.json
var textFile []byte

// texts are the English texts of the pages by their keys.
var texts = sync.OnceValue(func() map[string]string {
	var m map[string]string
	if err := json.Unmarshal(textFile, &m); err != nil {
		panic(fmt.Sprintf("admin: texts.json: %v", err)) // a test reads it
	}
	return m
})

// text returns the text with a key. Its arguments replace %s and %d.
func text(key string, args ...any) string {
	t, ok := texts()[key]
	if !ok {
		return "[" + key + "]" // a test looks for such texts in every page
	}
	if len(args) > 0 {
		return fmt.Sprintf(t, args...)
	}
	return t
}

// templates returns the parsed template of a page within the layout.
var templates = sync.OnceValue(func() map[string]*template.Template {
	funcs := template.FuncMap{
		"t": text, "icon": icon, "bytes": byteSize, "when": when, "clock": clock, "number": thousands,
		"join": strings.Join, "breadcrumbs": breadcrumbs, "pair": pair, "minutes": minutes, "shown": shownParameter,
		"add":     func(a, b int) int { return a + b },
		"kindKey": func(kind string) string { return "kind." + kind },
	}
	shared := template.Must(template.New("").Funcs(funcs).
		ParseFS(templateFiles, "templates/layout.html", "templates/part-*.html"))
	pages := map[string]*template.Template{}
	entries, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name != "layout" && !strings.HasPrefix(name, "part-") {
			t := template.Must(shared.Clone())
			pages[name] = template.Must(t.ParseFS(templateFiles, "templates/"+e.Name()))
		}
	}
	return pages
})

// pair returns what a template needs that another one calls: the frame, and one item.
func pair(f *frame, item any) any {
	return struct {
		Frame *frame
		Item  any
	}{f, item}
}

// result is what a page function returns: a page, a part of one, a redirect, or other content.
type result struct {
	status   int    // 0: 200
	template string // name of the page's template; it defines "main"
	part     string // a template that is sent without the layout
	title    string
	data     any    // what the template gets, and the JSON form
	location string // a redirect
	serve    func(w http.ResponseWriter, r *http.Request)
}

// frame is what templates get.
type frame struct {
	*call
	Title string
	Data  any
	Nav   []navItem
	Tree  []*treeItem
	Theme string
	Said  said
}

// Methods of frame for templates.

func (f *frame) Base() string                                  { return f.base }
func (f *frame) User() string                                  { return f.user }
func (f *frame) Role() string                                  { return f.role.String() }
func (f *frame) IsOwner() bool                                 { return f.role.Kind == site.RoleOwner }
func (f *frame) CSRF() string                                  { return f.csrf }
func (f *frame) Past() int64                                   { return f.past }
func (f *frame) InPast() bool                                  { return f.inPast }
func (f *frame) Link(page string, parameters ...string) string { return f.link(page, parameters...) }
func (f *frame) At(a objectdb.Address, p ...string) string     { return f.linkTo("at", a, p...) }

// To returns the URL of a page about an object. The parameters are texts or lists of texts.
func (f *frame) To(page string, a objectdb.Address, parameters ...any) string {
	var list []string
	for _, p := range parameters {
		switch p := p.(type) {
		case string:
			list = append(list, p)
		case []string:
			list = append(list, p...)
		}
	}
	return f.linkTo(page, a, list...)
}

func (f *frame) MayChange(a objectdb.Address) bool { return !f.inPast && f.role.MayChange(a) }
func (f *frame) MaySee(a objectdb.Address) bool    { return f.role.MaySee(a) }

// Sent returns the texts that the person had typed in a form that was refused, so that nobody has to type
// them again.
func (f *frame) Sent() (list []string) {
	if f.r.Method != http.MethodPost || login.CheckOrigin(f.r) != nil {
		return nil
	}
	for _, name := range []string{"value", "source", "lua", "text", "body"} { // of the large fields
		if s := f.field(name); s != "" && len(s) <= maxEdited && utf8.ValidString(s) {
			list = append(list, s)
		}
	}
	return list
}

// Present returns the URL of the same page in the present.
func (f *frame) Present() string {
	q := f.r.URL.Query()
	q.Del("at")
	u := strings.TrimSuffix(f.base, "/") + f.r.URL.Path
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}
func (f *frame) Path() string              { return f.r.URL.Path }
func (f *frame) Static(name string) string { return f.static(name) }

// static returns the URL of a file that does not change while the program runs.
func (c *call) static(name string) string { return c.base + "static/" + assetHash(name) + "/" + name }

// scriptTexts returns the texts that the script shows, by their keys without "js.".
func (f *frame) ScriptTexts() map[string]string {
	m := map[string]string{}
	for key, t := range texts() {
		if rest, ok := strings.CutPrefix(key, "js."); ok {
			m[rest] = t
		}
	}
	return m
}

// navItem is an entry of the menu.
type navItem struct {
	Page, Text, Icon string
	Current          bool
}

// said is what the last form did, told by the page that the browser was sent to.
type said struct {
	Text   string
	Change int64 // which change it was, to undo it; 0 = none
}

// answer checks who asks, makes the page and sends it.
func (c *call) answer(admitted who, fn func(*call) (*result, error)) {
	res, err := c.admit(admitted)
	if err == nil && res == nil {
		if err = c.lookAtPast(); err == nil {
			res, err = fn(c)
		}
	}
	if err != nil {
		res = c.errorPage(err)
	}
	c.send(res)
}

func (c *call) errorPage(err error) *result {
	p := c.problemOf(err)
	data := map[string]any{"error": p.Text}
	for k, v := range p.Data {
		data[k] = v
	}
	return &result{status: p.Status, template: "error", title: http.StatusText(p.Status), data: data}
}

// redirect sends the browser to another page, which says what was done: key is a text "said.KEY".
func (c *call) redirect(to, key string, change int64) *result {
	sep := "?"
	if strings.Contains(to, "?") {
		sep = "&"
	}
	if key != "" {
		to += sep + "said=" + key
		if change > 0 {
			to += fmt.Sprintf("&change=%d", change)
		}
	}
	return &result{location: to, data: map[string]any{"location": to, "message": text("said." + key), "change": change}}
}

// send writes a result.
func (c *call) send(res *result) {
	w := c.w
	switch {
	case res.serve != nil:
		res.serve(w, c.r)
		return
	case c.json:
		c.sendJSON(res)
		return
	case res.location != "":
		http.Redirect(w, c.r, res.location, http.StatusSeeOther)
		return
	}
	var b bytes.Buffer
	if err := c.execute(&b, res); err != nil {
		c.Log.Error("web page", "path", c.r.URL.Path, "err", err)
		http.Error(w, text("error.500"), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if res.part != "" && c.isKnown(b.Bytes()) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if res.status != 0 {
		w.WriteHeader(res.status)
	}
	w.Write(b.Bytes())
}

// isKnown reports whether the client already has a part of a page, by the ETag that it got with it.
func (c *call) isKnown(part []byte) bool {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(part))
	c.w.Header().Set("ETag", tag)
	return c.r.Method == http.MethodGet && c.r.Header.Get("If-None-Match") == tag
}

func (c *call) execute(b *bytes.Buffer, res *result) error {
	f := &frame{call: c, Title: res.title, Data: res.data}
	if res.part != "" {
		return templates()["error"].ExecuteTemplate(b, res.part, f)
	}
	f.Theme, f.Said = c.theme(), c.said()
	if c.user != "" {
		f.Nav = c.nav()
		var err error
		if f.Tree, err = c.tree(); err != nil {
			return err
		}
	}
	return templates()[res.template].ExecuteTemplate(b, "layout", f)
}

func (c *call) sendJSON(res *result) {
	data := res.data
	if data == nil {
		data = map[string]any{}
	}
	text, err := json.MarshalIndent(data, "", "  ")
	if err != nil {
		c.Log.Error("web page", "path", c.r.URL.Path, "err", err)
		http.Error(c.w, `{"error":"the page has no JSON form"}`, http.StatusInternalServerError)
		return
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if res.status != 0 {
		c.w.WriteHeader(res.status)
	}
	c.w.Write(append(text, '\n'))
}

// said returns what the URL says of the last form.
func (c *call) said() said {
	key := "said." + c.query("said")
	if _, ok := texts()[key]; !ok {
		return said{}
	}
	s := said{Text: text(key)}
	fmt.Sscan(c.query("change"), &s.Change)
	return s
}

// theme returns the colours that the person has chosen: "light", "dark", or "" for those of the system.
func (c *call) theme() string {
	if k, err := c.r.Cookie("scripterTheme"); err == nil && (k.Value == "light" || k.Value == "dark") {
		return k.Value
	}
	return ""
}

// menu has the pages of the menu.
var menu = []string{"home", "requests", "history", "map", "console", "settings", "users", "saves", "doctor", "status"}

// nav returns the menu.
func (c *call) nav() (list []navItem) {
	at := c.page()
	for _, page := range menu {
		item := navItem{Page: page, Text: text("nav." + page), Icon: page}
		if page == "home" {
			item.Page = ""
		}
		item.Current = at == item.Page || strings.HasPrefix(at, page+"/")
		list = append(list, item)
	}
	return list
}

// when returns a time for people, in UTC.
func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// clock returns the time of day, in UTC.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// byteSize returns a size for people.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// thousands returns a number with commas.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
