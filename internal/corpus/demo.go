package corpus

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"scripter/internal/htmlcheck"
)

// demoName and demoPassword are those of the only user of the demo.
const (
	demoName     = "Ada <b>"
	demoPassword = "a long password"
)

// demo uses the sample site of "scripter serve" as visitors and attackers do. The transports
// have its scripts, and not its pages.
func demo(t *testing.T, client Client) {
	t.Run("demo", func(t *testing.T) {
		d := func() *visitor { return newVisitor(t, client) }
		demoPages(d())
		demoGuestbook(d())
		demoLogIn(d(), d(), d())
		demoUpload(d())
		demoItems(d())
	})
}

// A visitor is a browser with cookies that follows no redirect.
type visitor struct {
	t      *testing.T
	base   *url.URL
	client *http.Client
}

func newVisitor(t *testing.T, client Client) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: &url.URL{Scheme: "http", Host: client.Addr}, client: &http.Client{
		Jar: jar, Timeout: answerTime, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// A page is an answer to a visitor.
type page struct {
	status int
	header http.Header
	body   string
	source string // of the scripts, which a page shows at its end
}

func (v *visitor) do(method, path, kind string, body []byte) page {
	v.t.Helper()
	request, err := http.NewRequest(method, v.base.String()+path, bytes.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := v.client.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	p := page{status: answer.StatusCode, header: answer.Header, body: string(text)}
	if strings.Contains(p.body, `<a class="brand"`) { // a page of the demo
		for _, problem := range append(htmlcheck.Check(p.body), htmlcheck.External(p.body)...) {
			v.t.Errorf("%s %s: %s", method, path, problem)
		}
		p.body, p.source, _ = strings.Cut(p.body, `<section class="source" id="source">`)
	}
	return p
}

func (v *visitor) get(path string) page {
	v.t.Helper()
	return v.do("GET", path, "", nil)
}

// post sends a form; fields are names and values by turns.
func (v *visitor) post(path string, fields ...string) page {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.do("POST", path, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// upload sends a file with a name of the visitor's choice.
func (v *visitor) upload(token, name, kind, data string) page {
	v.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {kind}, "Content-Disposition": {
		`form-data; name="picture"; filename="` + strings.ReplaceAll(name, `"`, "%22") + `"`}})
	if err == nil {
		_, err = io.WriteString(part, data)
	}
	if err == nil {
		err = w.WriteField("formToken", token)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		v.t.Fatal(err)
	}
	return v.do("POST", demoUploads, w.FormDataContentType(), b.Bytes())
}

var tokenField = regexp.MustCompile(`name="formToken" value="([\w-]*)"`)

// token returns the token of the form in a page, which is empty while the visitor has no session.
func (v *visitor) token(path string) string {
	v.t.Helper()
	m := tokenField.FindStringSubmatch(v.get(path).body)
	if m == nil {
		v.t.Fatalf("%s has no token", path)
	}
	return m[1]
}

// cookie returns the value of the visitor's cookie.
func (v *visitor) cookie() string {
	for _, c := range v.client.Jar.Cookies(v.base) {
		if c.Name == v.cookieName() {
			return c.Value
		}
	}
	return ""
}

func (v *visitor) cookieName() string { return "scripter-visitor-" + v.base.Port() }

func (v *visitor) setCookie(value string) {
	v.client.Jar.SetCookies(v.base, []*http.Cookie{{Name: v.cookieName(), Value: value, Path: "/"}})
}

// expect compares the status of an answer, and what its body must contain.
func (v *visitor) expect(what string, p page, status int, contains ...string) {
	v.t.Helper()
	if p.status != status {
		v.t.Errorf("%s: status %d, want %d\n%.2000s", what, p.status, status, p.body)
	}
	for _, text := range contains {
		if !strings.Contains(p.body, text) {
			v.t.Errorf("%s: the body lacks %q", what, text)
		}
	}
}

func (v *visitor) lacks(what string, p page, texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		if strings.Contains(p.body, text) {
			v.t.Errorf("%s: the body has %q", what, text)
		}
	}
}

const (
	demoEntries = "/demo.guestbook.fcgi"
	demoLog     = "/demo.login.fcgi"
	demoUploads = "/demo.upload.fcgi"
	demoList    = "/demo.items.fcgi"
)

// demoPages looks at each page: its header, its source, and what has no URL.
func demoPages(v *visitor) {
	for path, source := range map[string]string{
		demoEntries:       "<span class=\"comment\">-- /demo.guestbook.fcgi: ",
		demoLog:           "users.logIn",
		demoUploads:       "<code>suites.webserverScripts.demo.picture</code>",
		"/demo.api.fcgi":  "<code>suites.webserverScripts.demo.items</code>",
		"/demo.page.fcgi": `<span class="marker">&lt;!--#clock.now`,
	} {
		p := v.get(path)
		if path == "/demo.page.fcgi" {
			source = `<span class="marker">&lt;!--#date.format (clock.now (), `
		} else {
			for name, value := range map[string]string{"Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff"} {
				if got := p.header.Get(name); !strings.Contains(got, value) {
					v.t.Errorf("%s: %s: %s", path, name, got)
				}
			}
			got := p.header.Get("Content-Security-Policy")
			if !strings.HasPrefix(got, "default-src 'none'; style-src 'self'; ") {
				v.t.Errorf("%s: Content-Security-Policy: %s", path, got)
			}
		}
		v.expect(path, p, 200, `<a href="#source">`)
		if !strings.Contains(p.source, source) || strings.Count(p.source, `<span class="line">`) < 20 {
			v.t.Errorf("the source of %s is %q", path, p.source)
		}
		v.lacks(path, page{body: p.body + p.source}, "Macro error", "<script", "style=")
	}
	v.expect("the readme", v.get("/demo.readme.fcgi"), 200, "scripter rm -r suites.webserverScripts.demo user.demo")
	for _, name := range []string{"_page", "_messages", "_source", "_latest"} {
		v.expect(name, v.get("/demo."+name+".fcgi"), 404)
	}
	v.expect("a table", v.get("/demo.fcgi"), 403)
}

func demoGuestbook(v *visitor) {
	p := v.get(demoEntries)
	v.expect("an empty guestbook", p, 200, "0 entries", "Nobody has written yet.")
	if set := p.header.Get("Set-Cookie"); set != "" || v.token(demoEntries) != "" {
		v.t.Errorf("a visitor who only reads gets the cookie %q and the token %q", set, v.token(demoEntries))
	}
	p = v.post(demoEntries, "formToken", "", "name", " Ada & \x07Tom ", "message", "one\r\ntwo")
	v.expect("an entry", p, 303)
	set := p.header.Get("Set-Cookie")
	if !regexp.MustCompile(`^` + v.cookieName() + `=[\w-]{43}; Path=/; HttpOnly; SameSite=Lax$`).MatchString(set) {
		v.t.Errorf("the cookie is %q", set)
	}
	if to := p.header.Get("Location"); to != v.base.String()+demoEntries {
		v.t.Errorf("an entry: Location: %s", to)
	}
	v.expect("the entry", v.get(demoEntries), 200, "1 entry", "<b>Ada &amp; Tom</b>", "<p>one\ntwo</p>",
		`<p role="status">Thank you, Ada &amp; Tom.</p>`)
	v.lacks("the message, shown again", v.get(demoEntries), "Thank you")
	token := v.token(demoEntries)

	// Stored scripts, closing tags of the form, and markers stay texts.
	const script, marker = `<script>alert(1)</script>"'`, "<!--#user.webserver.serverId-->"
	v.expect("a script", v.post(demoEntries, "formToken", token, "name", script, "message", "</textarea>"+script), 303)
	v.expect("a marker", v.post(demoEntries, "formToken", token, "name", "Tom", "message", marker), 303)
	for _, path := range []string{demoEntries, "/demo.page.fcgi"} {
		p = v.get(path)
		v.expect(path, p, 200, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;",
			"&lt;!--#user.webserver.serverId--&gt;")
		v.lacks(path, p, "<script", "httpd")
	}
	p = v.post(demoEntries, "formToken", token, "name", script, "message", "")
	v.expect("a script in a form that comes back", p, 400, `value="&lt;script&gt;`, `role="alert"`)
	v.lacks("a script in a form that comes back", p, "<script")

	for what, fields := range map[string][]string{
		"no name":     {"name", " \t\x00", "message", "a"},
		"a long name": {"name", strings.Repeat("ä", 41), "message", "a"},
		"no message":  {"name", "a", "message", "\r\n "},
		"a long one":  {"name", "a", "message", strings.Repeat("a", 501)},
		"no UTF-8":    {"name", "\xff", "message", "a"},
		"no fields":   {},
	} {
		v.expect(what, v.post(demoEntries, append(fields, "formToken", token)...), 400, `role="alert"`)
	}

	// Without the token of the visitor's session, nothing is stored.
	other := newVisitor(v.t, Client{Addr: v.base.Host})
	v.expect("a wrong password", other.post(demoLog, "name", demoName, "password", "wrong"), 403)
	v.expect("an entry of another visitor", other.post(demoEntries, "name", "Bob", "message", "of another"), 303)
	for what, wrong := range map[string]string{
		"no token": "", "a wrong token": strings.Repeat("0", 55), "the token of another visitor": other.token(demoEntries),
	} {
		v.expect(what, v.post(demoEntries, "formToken", wrong, "name", "Eve", "message", "forged"), 403, "Form not accepted")
	}
	v.expect("no field", v.post(demoEntries, "name", "Eve", "message", "forged"), 403, "copy what you have typed")
	v.expect("GET", v.get(demoEntries+"?formToken="+token+"&name=Eve&message=forged"), 200, "4 entries")
	v.lacks("forged entries", v.get(demoEntries), "forged")

	// Pages of ten, newest first.
	for i := 5; i <= 21; i++ {
		v.expect("an entry", v.post(demoEntries, "formToken", token, "name", "Ada", "message",
			fmt.Sprintf("number %d.", i)), 303)
	}
	p = v.get(demoEntries)
	v.expect("page 1", p, 200, "21 entries", "Page 1 of 3", "number 21.", "number 12.", demoEntries+"?page=2")
	v.lacks("page 1", p, "number 11.", "Newer")
	if strings.Index(p.body, "number 21.") > strings.Index(p.body, "number 12.") {
		v.t.Error("the newest entry is not the first one")
	}
	p = v.get(demoEntries + "?page=3")
	v.expect("page 3", p, 200, "Page 3 of 3", "<p>one\ntwo</p>", "?page=2")
	v.lacks("page 3", p, "Older")
	for _, odd := range []string{"0", "-1", "99999999999999999999", "nan", "1e9", "x", "%E2%80%AE", "%3Cscript%3E",
		"1&page=2"} {
		p = v.get(demoEntries + "?page=" + odd)
		v.expect("page "+odd, p, 200, " of 3")
		v.lacks("page "+odd, p, "<script")
	}
	v.expect("another method", v.do("PUT", demoEntries, "application/json", nil), 200, "21 entries")
	v.expect("an argument", v.get(demoEntries+"$x"), 200, "21 entries")
}

func demoLogIn(v, thief, guesser *visitor) {
	v.expect("the form", v.get(demoLog), 200, `type="password"`)
	v.expect("an entry, which begins a session", v.post(demoEntries, "name", "Ada", "message", "before the log-in"), 303)
	token, before := v.token(demoLog), v.cookie()
	v.expect("another site's form", v.post(demoLog, "name", demoName, "password", demoPassword), 403, "Form not accepted")
	p := v.post(demoLog, "formToken", token, "name", "<script>", "password", "wrong")
	v.expect("a wrong password", p, 403, "the name or the password is wrong", `value="&lt;script&gt;"`, `role="alert"`)
	v.lacks("a wrong password", p, "<script")
	v.expect("still nobody", v.get(demoLog), 200, `type="password"`)
	p = v.post(demoLog, "formToken", token, "name", demoName, "password", demoPassword)
	v.expect("the right password", p, 303)
	if set := p.header.Get("Set-Cookie"); !strings.HasSuffix(set, "; HttpOnly; SameSite=Lax") {
		v.t.Errorf("the cookie of the session is %q", set)
	}
	p = v.get(demoLog)
	v.expect("logged in", p, 200, "You are logged in as <b>Ada &lt;b&gt;</b>", "Log out", "Welcome, Ada &lt;b&gt;.")
	v.lacks("logged in", p, `type="password"`)
	session := v.cookie()
	if session == before || len(session) != 43 {
		v.t.Errorf("the cookie was %q before the log-in, and is %q after it", before, session)
	}
	v.expect("a token of before the log-in", v.post(demoLog, "formToken", token, "do", "out"), 403)

	// Whoever knew the cookie of before is not logged in; what is stored opens nothing.
	for _, known := range []string{before, "", "demo", strings.Repeat("a", 43), strings.Repeat("../", 14) + "a"} {
		thief.setCookie(known)
		v.expect("the cookie "+known, thief.get(demoLog), 200, `type="password"`)
	}
	v.expect("log-out by another site", v.post(demoLog, "do", "out"), 403)
	v.expect("log-out by GET", v.get(demoLog+"?do=out&formToken="+v.token(demoLog)), 200, "Log out")
	p = v.post(demoLog, "formToken", v.token(demoLog), "do", "out")
	v.expect("log-out", p, 303)
	if set := p.header.Get("Set-Cookie"); !strings.HasPrefix(set, v.cookieName()+"=; Path=/; Max-Age=0; ") {
		v.t.Errorf("the cookie after the log-out is %q", set)
	}
	thief.setCookie(session)
	v.expect("the cookie of a session that has ended", thief.get(demoLog), 200, `type="password"`)
	v.expect("logged out", v.get(demoLog), 200, `type="password"`)

	// After some wrong passwords none is read any more for a while, not even the right one.
	wait := regexp.MustCompile(`too many tries: wait for (\d+)s`)
	guess := func(password string) page { return guesser.post(demoLog, "name", demoName, "password", password) }
	for tries := 0; ; tries++ {
		p = guess("wrong")
		if m := wait.FindStringSubmatch(p.body); p.status == 429 && m != nil {
			seconds, _ := strconv.Atoi(m[1])
			if seconds >= 2 { // enough for a busy machine
				break
			}
			time.Sleep(time.Duration(seconds) * time.Second)
		} else if v.expect("a guess", p, 403); tries > 12 {
			v.t.Fatal("nobody makes a guesser wait")
		}
	}
	v.expect("the right password during the wait", guess(demoPassword), 429, "wait for")
	v.expect("not logged in", guesser.get(demoLog), 200, `type="password"`)
}

// demoPicture is a PNG of one pixel.
const demoPicture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func demoUpload(v *visitor) {
	raw, err := base64.StdEncoding.DecodeString(demoPicture)
	if err != nil {
		v.t.Fatal(err)
	}
	picture := string(raw)
	v.expect("no pictures", v.get(demoUploads), 200, "No pictures yet.")
	token := ""
	const name = `../../etc/<img src=x onerror=alert(1)>'.png`
	v.expect("a picture", v.upload(token, name, "text/html", picture), 303)
	p := v.get(demoUploads)
	token = v.token(demoUploads)
	v.expect("the picture", p, 200, `alt="_img src=x onerror=alert(1)__.png"`,
		`src="/demo.picture.fcgi?number=000000001"`)
	v.lacks("the picture", p, "<img src=x", "etc")
	p = v.get("/demo.picture.fcgi?number=000000001")
	v.expect("the picture's bytes", p, 200)
	if p.body != picture || p.header.Get("Content-Type") != "image/png" ||
		p.header.Get("X-Content-Type-Options") != "nosniff" ||
		p.header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" {
		v.t.Errorf("the picture is sent as %v, with %d bytes", p.header, len(p.body))
	}
	for what, data := range map[string]string{
		"image/jpeg": "\xff\xd8\xff\xe0", "image/gif": "GIF89a", "image/webp": "RIFF\x00\x0a\x00\x0dWEBPVP8 ",
	} {
		v.expect(what, v.upload(token, "a", "application/x", data), 303)
	}
	for number, kind := range map[int]string{2: "image/", 3: "image/", 4: "image/"} {
		p := v.get(fmt.Sprintf("/demo.picture.fcgi?number=%09d", number))
		if v.expect("a picture", p, 200); !strings.HasPrefix(p.header.Get("Content-Type"), kind) {
			v.t.Errorf("picture %d is sent as %s", number, p.header.Get("Content-Type"))
		}
	}

	v.expect("an empty file", v.upload(token, "a.png", "image/png", ""), 400)
	v.expect("a form without a file", v.post(demoUploads, "formToken", token, "picture", picture), 400)
	for what, data := range map[string]string{
		"HTML": "<html><script>alert(1)</script>", "SVG": `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"a script": "return 1", "a PNG's name only": "PNG",
	} {
		v.expect(what, v.upload(token, "a.png", "image/png", data), 415, "no PNG, JPEG, GIF or WebP")
	}
	p = v.upload(token, "large.png", "image/png", picture+strings.Repeat("a", 1500000))
	v.expect("a large picture", p, 413, "1.4 MB. It must not have more than 1 MB.")
	for what, wrong := range map[string]string{"no token": "", "a wrong token": strings.Repeat("0", 55)} {
		v.expect(what, v.upload(wrong, "a.png", "image/png", picture), 403)
	}
	for _, number := range []string{"", "1", "4x", "000000099", "name", "000000001.picture", "..%2F..", "%E2%80%AE",
		`%5B%22a%22%5D`,
		"user.webserver.debugToken", "none", strings.Repeat("9", 5000)} {
		v.expect("the picture "+number[:min(20, len(number))], v.get("/demo.picture.fcgi?number="+number), 404)
	}
	v.expect("no number", v.get("/demo.picture.fcgi"), 404)
	for range 22 {
		v.expect("a picture", v.upload(token, strings.Repeat("long ", 40)+".png", "image/png", picture), 303)
	}
	v.expect("the oldest picture", v.get("/demo.picture.fcgi?number=000000001"), 404)
	p = v.get(demoUploads)
	if n := strings.Count(p.body, `loading="lazy"`); n != 24 {
		v.t.Errorf("the list has %d pictures", n)
	}
}

func demoItems(v *visitor) {
	const kind = "application/json"
	add := func(body string) page { return v.do("POST", demoList, kind, []byte(body)) }
	read := func(p page, value any) {
		v.t.Helper()
		if got := p.header.Get("Content-Type"); got != kind {
			v.t.Errorf("the type is %s", got)
		}
		if err := json.Unmarshal([]byte(p.body), value); err != nil {
			v.t.Errorf("%s: %v", p.body, err)
		}
	}
	p := v.get(demoList)
	v.expect("the empty list", p, 200)
	if p.body != "[]\n" {
		v.t.Errorf("the empty list is %q", p.body)
	}
	p = add(`{"title": "tea & <b>", "more": [1]}`)
	v.expect("an item", p, 201)
	var item, again struct {
		ID, Title string
		Done      bool
	}
	read(p, &item)
	if item.Title != "tea & <b>" || item.Done || item.ID != "000000001" {
		v.t.Errorf("the item is %+v", item)
	}
	if to := p.header.Get("Location"); to != v.base.String()+demoList+"?id="+item.ID {
		v.t.Errorf("the item's Location is %s", to)
	}
	read(v.get(demoList+"?id="+item.ID), &again)
	if again != item {
		v.t.Errorf("the item is %+v, and then %+v", item, again)
	}
	v.expect("a second item", v.do("POST", demoList, "Application/JSON; charset=utf-8", []byte(`{"title": "`+
		strings.Repeat("ä", 200)+`", "done": true}`)), 201)
	var list []map[string]any
	read(v.get(demoList), &list)
	if len(list) != 2 || list[1]["done"] != true {
		v.t.Errorf("the list is %v", list)
	}
	v.expect("the page of the API", v.get("/demo.api.fcgi"), 200, "&quot;title&quot;:&quot;tea", "\\u003cb\\u003e")

	for _, body := range []string{"", "x", "{", "null", "1", `"text"`, "[]", `["title"]`, "{}", `{"title": ""}`,
		`{"title": " "}`,
		`{"title": 5}`, `{"title": ["a"]}`, `{"title": "a", "done": 1}`, `{"title": null}`, "{\"title\": \"\xff\"}",
		`{"title": "` + strings.Repeat("a", 201) + `"}`, `{"Title": "a"}`, strings.Repeat("[", 5000),
		`{"title": "a"} x`} {
		p := add(body)
		v.expect("the body "+body[:min(len(body), 20)], p, 400, `{"error":"`)
		read(p, &map[string]any{})
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "", "application/jsonp",
		"text/plain; application/json"} {
		v.expect("the type "+kind, v.do("POST", demoList, kind, []byte(`{"title": "forged"}`)), 415)
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH"} {
		p := v.do(method, demoList+"?id="+item.ID, kind, []byte(`{"title": "forged"}`))
		if v.expect(method, p, 405); p.header.Get("Allow") != "GET, HEAD, POST" {
			v.t.Errorf("%s: Allow: %s", method, p.header.Get("Allow"))
		}
	}
	for _, id := range []string{"", "1", "none", "000000009", "000000001.title", "..%2Fguestbook", "%E2%80%AE",
		"user.demo.guestbook"} {
		p := v.get(demoList + "?id=" + id)
		v.expect("the id "+id, p, 404)
		read(p, &map[string]any{})
	}
	read(v.get(demoList), &list)
	if len(list) != 2 {
		v.t.Errorf("the list has %d items", len(list))
	}
}
