package browsertest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Close()
	os.Exit(code)
}

// policy is the Content-Security-Policy of the pages of package admin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

var pages = map[string]string{
	"/": `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Guests</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css"><script src="/page.js" defer></script></head>
<body><main><h1>Guests</h1>
<form action="/hello" method="post" enctype="multipart/form-data">
<p><label>Your name <input name="name"></label></p>
<p><label for="n">A note</label> <textarea id="n" name="note">old</textarea></p>
<p><label>Colour <select name="colour"><option value="r">red</option><option value="g">green</option></select></label></p>
<p><label><input type="checkbox" name="often"> Often here</label></p>
<p><label>Picture <input type="file" name="picture"></label></p>
<p><button>Say hello <kbd>Ctrl-S</kbd></button></p></form>
<section aria-label="First"><button type="button">Delete</button></section>
<section aria-label="Second"><button type="button">Delete</button></section>
<p id="last"></p><p><a href="/file.txt" download>Download it</a></p>
<div role="region" aria-label="Drop a file" tabindex="0" id="drop">drop here</div>
</main></body></html>`,
	"/page.css": `body { margin: 1rem; background: #fff; color: #222 } kbd { font-size: .8em }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee } a { color: #9cf } }`,
	"/page.js": `document.querySelectorAll("section button").forEach(b => b.onclick = () =>
	setTimeout(() => document.getElementById("last").textContent = "deleted " + b.parentElement.ariaLabel, 50))
addEventListener("keydown", e => { if (e.ctrlKey && e.key === "s") { e.preventDefault(); document.forms[0].requestSubmit() } })
drop.ondrop = async e => { e.preventDefault()
	drop.textContent = "got " + e.dataTransfer.files[0].name + ": " + await e.dataTransfer.files[0].text() }`,
	"/bad":     `<!DOCTYPE html><html><head><title>Bad</title><link rel="icon" href="data:,"></head><body style="color: red"><img src="/none.png"><hr width="2000"><p>Bad <script>alert(1)</script></body></html>`,
	"/outside": `<!DOCTYPE html><html lang="en"><head><title>Outside</title><link rel="icon" href="data:,"></head><body><main><h1>x</h1><img alt="" src="http://elsewhere.example/x.png"></main></body></html>`,
}

func serve(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		switch r.URL.Path {
		case "/hello":
			file := ""
			if f, h, err := r.FormFile("picture"); err == nil {
				data, _ := io.ReadAll(f)
				file = h.Filename + " " + string(data)
			}
			fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><title>Hello</title><link rel="icon" href="data:,"><p>Hello, %s (%s, %s, %s, %s).</p>`,
				r.FormValue("name"), r.FormValue("note"), r.FormValue("colour"), r.FormValue("often"), file)
		case "/file.txt":
			w.Header().Set("Content-Disposition", `attachment; filename="file.txt"`)
			io.WriteString(w, "the file")
		default:
			text, ok := pages[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			switch filepath.Ext(r.URL.Path) {
			case ".css":
				w.Header().Set("Content-Type", "text/css")
			case ".js":
				w.Header().Set("Content-Type", "text/javascript")
			}
			io.WriteString(w, text)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestPerson: the steps of a person, by mouse and by keyboard, under a strict
// Content-Security-Policy.
func TestPerson(t *testing.T) {
	t.Parallel()
	b := browsertest.NewTab(t, serve(t))
	b.Open("/")
	assert.Equal(t, "Guests", b.Title())
	b.See("Your name")
	b.NotSee("Hello")
	file := filepath.Join(t.TempDir(), "p.txt")
	require.NoError(t, os.WriteFile(file, []byte("inside"), 0o644))

	b.Type("Your name", "Ada")
	b.Type("A note", "new")
	assert.Equal(t, "new", b.Value("A note"))
	b.Select("Colour", "green")
	b.Click("Often here")
	assert.Equal(t, "true", b.State("checkbox", "Often here", "checked"))
	b.Upload("Picture", file)
	b.In("region", "Second").Click("Delete")
	b.See("deleted Second")
	b.Drop("region", "Drop a file", file, "text/plain")
	b.See("got p.txt: inside")
	b.Click("Say hello")
	b.See("Hello, Ada (new, g, on, p.txt inside).")
	assert.Equal(t, "/hello", b.URL())
	b.Back()
	b.See("Your name")

	b.Open("/")
	b.TabTo("textbox", "Your name")
	b.Keys("Eve")
	b.TabTo("checkbox", "Often here")
	b.Press("Space", "Control+s")
	b.See("Hello, Eve (old, r, on, ).")

	b.Open("/")
	name, content := b.Download("Download it")
	assert.Equal(t, "file.txt", name)
	assert.Equal(t, "the file", string(content))
	b.Inspect("browsertest")
}

// TestWithoutScripts: the page is shown, and its scripts do not run.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	b := browsertest.NewTab(t, serve(t))
	b.WithoutScripts()
	b.Open("/")
	b.In("region", "First").Click("Delete")
	b.Type("Your name", "Ada")
	b.NotSee("deleted First")
	b.Click("Say hello")
	b.See("Hello, Ada")
}

// TestFaults: each fault of a page fails the test.
func TestFaults(t *testing.T) {
	t.Parallel()
	base := serve(t)
	said := failures(t, func(t testing.TB) {
		b := browsertest.NewTab(t, base)
		b.Open("/bad")
		b.See("Bad")
		b.Inspect("bad")
	})
	for _, want := range []string{"inline style", "inline script", "/none.png", "does not fit its window", "image-alt",
		"html-has-lang"} {
		assert.Contains(t, said, want)
	}
	assert.Contains(t, failures(t, func(t testing.TB) {
		b := browsertest.NewTab(t, base)
		b.Open("/outside")
	}), "asked another host: http://elsewhere.example/x.png")
	assert.Contains(t, failures(t, func(t testing.TB) {
		b := browsertest.NewTab(t, base)
		b.Open("/")
		b.Patience = 0
		b.Click("Delete")
	}), `2 things are called "Delete"`)
	said = failures(t, func(t testing.TB) {
		b := browsertest.NewTab(t, base)
		b.Open("/")
		b.Patience = 0
		b.Click("Save")
	})
	assert.Contains(t, said, `there is no "Save" here, but `)
	assert.Contains(t, said, `button "Say hello Ctrl-S"`)
	assert.Contains(t, said, "picture: ")
	assert.Empty(t, failures(t, func(t testing.TB) {
		b := browsertest.NewTab(t, base)
		b.Open("/bad")
		b.Expect("inline style")
		b.Expect("inline script")
		b.Expect("none.png")
	}))
}

// failures runs f as a test of its own and returns what it fails with.
func failures(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		defer func() {
			for _, c := range r.cleanups {
				c()
			}
		}()
		f(r)
	}()
	done.Wait()
	return r.said.String()
}

// A recorder is a test that only writes down how it fails.
type recorder struct {
	testing.TB
	said     strings.Builder
	cleanups []func()
}

func (r *recorder) Helper()                           {}
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Failed() bool                      { return r.said.Len() > 0 }
func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.said, format+"\n", args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
