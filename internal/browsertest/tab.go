package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a step waits for what it needs, on a busy machine.
const patience = 15 * time.Second

// answerTime is how long a command of the browser may take.
const answerTime = time.Minute

// A Tab is a window of the browser with cookies of its own, or a part of the page in it.
type Tab struct {
	*tab
	within []place // the parts that In has named, the outermost first
}

type tab struct {
	// Patience is how long a step waits for what it needs.
	Patience time.Duration

	t     testing.TB
	ctx   context.Context
	base  string
	plain bool // without scripts
	look  look

	mu       sync.Mutex
	loading  bool
	frames   map[string]bool // ids of frames within the page
	faults   []string
	requests []string
	dialogs  []string
}

// NewTab opens a tab of a browser that knows no cookies. base is the address that the paths of
// Open are added to. The tab is closed with the test.
func NewTab(t testing.TB, base string) *Tab {
	t.Helper()
	parent := theBrowser(t)
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	b := &Tab{tab: &tab{Patience: patience, t: t, ctx: ctx, base: base}}
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	t.Cleanup(func() {
		b.checkFaults()
		cancel()
	})
	call(b, log.Enable, cdp.Empty{})
	call(b, accessibility.Enable, cdp.Empty{})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.Look(Wide, "light")
	return b
}

// call runs a command of the browser that cannot fail as long as the browser runs.
func call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := try(b, command, params)
	if err != nil {
		b.t.Fatalf("browser: %s: %v", command.Method, err)
	}
	return r
}

func try[P, R any](b *Tab, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(b.ctx, answerTime)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// heard takes notes of what happens in the tab. It runs while the browser waits for it.
func (b *tab) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *page.EventFrameAttached: // a sandboxed frame is another process, which does not say here when it has loaded
		if b.frames == nil {
			b.frames = map[string]bool{}
		}
		b.frames[string(e.FrameID)] = true
	case *page.EventFrameStartedLoading:
		b.loading = b.loading || !b.frames[string(e.FrameID)]
	case *page.EventFrameStoppedLoading:
		b.loading = b.loading && b.frames[string(e.FrameID)]
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.Method+" "+e.Request.URL)
		if u, err := url.Parse(e.Request.URL); err == nil && strings.HasPrefix(u.Scheme, "http") &&
			!strings.HasPrefix(e.Request.URL, b.base) {
			b.faults = append(b.faults, "asked another host: "+e.Request.URL)
		}
	case *log.EventEntryAdded:
		// The browser asks for favicon.ico by itself.
		if e.Entry.Level == log.EntryLevelError && e.Entry.URL != b.base+"/favicon.ico" {
			fault := fmt.Sprintf("%s %s %s", e.Entry.Text, e.Entry.URL, where(e.Entry.StackTrace))
			b.faults = append(b.faults, strings.TrimSpace(fault))
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var words []string
			for _, a := range e.Args {
				words = append(words, strings.Trim(string(a.Value), `"`)+a.Description)
			}
			b.faults = append(b.faults, "console: "+strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		b.faults = append(b.faults, text)
	case *page.EventJavascriptDialogOpening:
		b.dialogs = append(b.dialogs, e.Message)
		go chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
	}
}

// where returns the function of a script that has caused something.
func where(trace *runtime.StackTrace) string {
	var calls []string
	for ; trace != nil; trace = trace.Parent {
		for _, f := range trace.CallFrames {
			calls = append(calls, fmt.Sprintf("%s:%d:%d", f.FunctionName, f.LineNumber+1, f.ColumnNumber+1))
		}
	}
	return strings.Join(calls[:min(len(calls), 6)], " < ")
}

// Expect says that the page has logged an error on purpose, such as the status of an answer; the
// test fails if no logged error matches the pattern.
func (b *Tab) Expect(pattern string) {
	b.t.Helper()
	match := regexp.MustCompile(pattern)
	b.wait(func() string {
		b.mu.Lock()
		defer b.mu.Unlock()
		before := len(b.faults)
		b.faults = slices.DeleteFunc(b.faults, match.MatchString)
		if len(b.faults) < before {
			return ""
		}
		return fmt.Sprintf("the page has logged no error like %q but %q", pattern, b.faults)
	})
}

// checkFaults fails the test if a page has logged an error.
func (b *Tab) checkFaults() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Errorf("the page has logged: %s", f)
	}
}

// Requests returns what the tab has asked for since the last call, as "GET http://…".
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.requests = nil }()
	return b.requests
}

// Open goes to a path of the site, or to an address.
func (b *Tab) Open(path string) {
	b.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.base + path
	}
	r := call(b, page.Navigate, page.NavigateParams{URL: path})
	if r.ErrorText != "" {
		b.t.Fatalf("open %s: %s", path, r.ErrorText)
	}
	b.settle()
}

// Reload loads the page again.
func (b *Tab) Reload() {
	b.t.Helper()
	call(b, page.Reload, page.ReloadParams{})
	b.settle()
}

// Back goes to the page before this one.
func (b *Tab) Back() {
	b.t.Helper()
	h := call(b, page.GetNavigationHistory, cdp.Empty{})
	if h.CurrentIndex == 0 {
		b.t.Fatal("there is no page before this one")
	}
	call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: h.Entries[h.CurrentIndex-1].ID})
	b.settle()
}

// settle waits until a page that has begun to load is complete and its script has run. By then the page has handled
// all earlier input. Every key and click waits for it: a press of Ctrl-K in a page whose script has not run yet
// goes nowhere.
func (b *Tab) settle() {
	b.t.Helper()
	b.wait(func() string {
		state := ""
		if err := b.evaluate(`new Promise(`+b.drawn()+`).then(() => document.readyState)`, &state); err != nil {
			return "the page does not load: " + err.Error()
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if state != "complete" || b.loading {
			return "the page does not load to its end: " + state
		}
		return ""
	})
}

// drawn is a function that calls its argument when the page has been drawn. Where scripts are
// turned off, the page gets no such event.
func (b *Tab) drawn() string {
	if b.plain {
		return `done => done()`
	}
	return `done => requestAnimationFrame(() => done())`
}

// Title returns the title of the page.
func (b *Tab) Title() string {
	b.t.Helper()
	title := ""
	b.must(`document.title`, &title)
	return title
}

// URL returns the address of the page, without that of the site.
func (b *Tab) URL() string {
	b.t.Helper()
	href := ""
	b.must(`location.href`, &href)
	return strings.TrimPrefix(href, b.base)
}

// WithoutScripts turns JavaScript off for the pages that are opened from now on.
func (b *Tab) WithoutScripts() {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.plain = true
}

// must evaluates an expression that cannot fail.
func (b *Tab) must(expression string, result any) {
	b.t.Helper()
	if err := b.evaluate(expression, result); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// evaluate asks the page for the value of an expression of JavaScript. The page's
// Content-Security-Policy is no hindrance.
func (b *Tab) evaluate(expression string, result any) error {
	yes := true
	r, err := try(b, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ReturnByValue: &yes,
		AwaitPromise: &yes})
	if err != nil {
		return err
	}
	return decoded(r.Result, r.ExceptionDetails, result)
}

func decoded(object *runtime.RemoteObject, exception *runtime.ExceptionDetails, result any) error {
	if exception != nil {
		text := exception.Text
		if exception.Exception != nil {
			text += " " + exception.Exception.Description
		}
		return fmt.Errorf("%s", text)
	}
	if result == nil || len(object.Value) == 0 {
		return nil
	}
	return json.Unmarshal(object.Value, result)
}

// wait calls f until it returns "" for all is well, or else says what is wrong.
func (b *Tab) wait(f func() string) {
	b.t.Helper()
	wrong := ""
	for end := time.Now().Add(b.Patience); ; time.Sleep(10 * time.Millisecond) {
		if wrong = f(); wrong == "" {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	b.fail(wrong)
}

// fail ends the test with a picture of the page.
func (b *Tab) fail(wrong string) {
	b.t.Helper()
	text := ""
	if err := b.evaluate(`location.href + "\n" + document.body.innerText`, &text); err != nil {
		text = err.Error()
	}
	if len(text) > 1500 {
		text = text[:1500] + "…"
	}
	picture, err := b.write(filepath.Join(os.TempDir(), "scripter-failures"), b.t.Name())
	if err != nil {
		picture = err.Error()
	}
	b.t.Fatalf("%s\npicture: %s\nthe page: %s", wrong, picture, text)
}
