package browsertest

import (
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Click clicks the middle of what has that label: a button, a link, a tab, a row of a tree.
func (b *Tab) Click(label string) {
	b.t.Helper()
	b.click(place{name: label, roles: clicked}, 1, input.MouseButtonLeft)
}

// ClickRole clicks what has that role and label.
func (b *Tab) ClickRole(role, label string) {
	b.t.Helper()
	b.click(place{role: role, name: label}, 1, input.MouseButtonLeft)
}

// DoubleClick clicks twice.
func (b *Tab) DoubleClick(role, label string) {
	b.t.Helper()
	b.click(place{role: role, name: label}, 2, input.MouseButtonLeft)
}

func (b *Tab) click(p place, times int64, button input.MouseButton) {
	b.t.Helper()
	b.settle()
	var x, y float64
	b.wait(func() string {
		e, wrong := b.lookFor(p)
		if wrong == "" {
			x, y, wrong = b.middle(e)
		}
		return wrong
	})
	for n := range times {
		for _, event := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved,
			input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: event, X: x, Y: y, Button: button,
				ClickCount: n + 1})
		}
	}
	b.settle()
}

// middle scrolls an element into view and returns the middle of its first line. It says what is wrong
// if a click there would reach something else.
func (b *Tab) middle(e element) (x, y float64, wrong string) {
	at := struct {
		X, Y  float64
		Wrong string
	}{}
	err := b.tryOn(e, `async function() {
		let e = this.nodeType === 1 ? this : this.parentElement
		if (e.disabled) return {wrong: "is disabled"}
		e.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"})
		const place = () => { const r = e.getClientRects()[0]; return r && [r.left, r.top, r.width, r.height].join() }
		const before = place()
		await new Promise(`+b.drawn()+`)
		if (place() !== before) return {wrong: "moves"}
		let r = e.getClientRects()[0]
		if (!r || r.width === 0 || r.height === 0) return {wrong: "is not visible"}
		const left = Math.max(r.left, 0), right = Math.min(r.right, innerWidth)
		const top = Math.max(r.top, 0), bottom = Math.min(r.bottom, innerHeight)
		const x = (left + right) / 2, y = (top + bottom) / 2
		let hit = document.elementFromPoint(x, y)
		for (let inner; inner = hit?.shadowRoot?.elementFromPoint(x, y); hit = inner) if (inner === hit) break
		const labels = [...e.labels ?? []]
		if (!hit || !(e.contains(hit) || hit.contains(e) || labels.some(l => l.contains(hit))))
			return {wrong: "is covered by " +
				(hit ? hit.outerHTML.slice(0, 200) : "nothing, it lies outside of the window")}
		return {x, y}
	}`, &at)
	if err != nil {
		return 0, 0, err.Error()
	}
	if at.Wrong != "" {
		return 0, 0, fmt.Sprintf("%s %q %s", e.role, e.name, at.Wrong)
	}
	return math.Floor(at.X), math.Floor(at.Y), ""
}

// on calls a function of JavaScript on an element.
func (b *Tab) on(e element, function string, result any) {
	b.t.Helper()
	if err := b.tryOn(e, function, result); err != nil {
		b.t.Fatalf("%s %q: %v", e.role, e.name, err)
	}
}

func (b *Tab) tryOn(e element, function string, result any) error {
	object, err := try(b, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: e.node})
	if err != nil {
		return err
	}
	yes := true
	r, err := try(b, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: function,
		ObjectID: object.Object.ObjectID, ReturnByValue: &yes, AwaitPromise: &yes})
	if err != nil {
		return err
	}
	return decoded(r.Result, r.ExceptionDetails, result)
}

// Type clicks the field with that label and replaces what stands in it by text, key by key.
func (b *Tab) Type(label, text string) {
	b.t.Helper()
	b.click(place{name: label, roles: typed}, 1, input.MouseButtonLeft)
	b.Press("Control+a")
	b.Press("Delete")
	b.Keys(text)
}

// Keys types text where the focus is.
func (b *Tab) Keys(text string) {
	b.t.Helper()
	b.settle()
	if err := chromedp.Do(b.ctx, chromedp.KeyEvent(text)); err != nil {
		b.t.Fatalf("type %q: %v", text, err)
	}
}

// Insert puts text where the focus is in one piece, as a paste does.
func (b *Tab) Insert(text string) {
	b.t.Helper()
	b.settle()
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "Space": " ", "Backspace": kb.Backspace, "Delete": kb.Delete,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"F1": kb.F1, "F2": kb.F2, "F12": kb.F12,
}

var modifiers = map[string]chromedp.Modifier{
	"Control": kb.ModifierCtrl, "Shift": kb.ModifierShift, "Alt": kb.ModifierAlt,
}

// Press presses keys one after the other, such as "Control+s", "Shift+Tab", "Enter".
func (b *Tab) Press(names ...string) {
	b.t.Helper()
	b.Start(names...)
	b.settle()
}

// Start presses keys as Press does, and does not wait for what they do.
func (b *Tab) Start(names ...string) {
	b.t.Helper()
	b.settle()
	for _, name := range names {
		parts := strings.Split(name, "+")
		key := parts[len(parts)-1]
		if k, ok := keys[key]; ok {
			key = k
		} else if len(key) != 1 {
			b.t.Fatalf("no key %q", name)
		}
		var held []chromedp.Modifier
		for _, m := range parts[:len(parts)-1] {
			modifier, ok := modifiers[m]
			if !ok {
				b.t.Fatalf("no key %q", name)
			}
			held = append(held, modifier)
		}
		if err := chromedp.Do(b.ctx, chromedp.KeyEvent(key, chromedp.KeyModifiers(held...))); err != nil {
			b.t.Fatalf("press %s: %v", name, err)
		}
	}
}

// TabTo presses the tab key until what has that role and name has the focus.
func (b *Tab) TabTo(role, name string) {
	b.t.Helper()
	want := role + " " + name
	var passed []string
	for range 300 {
		b.Press("Tab")
		focus := b.Focus()
		if focus == want {
			return
		}
		if n := len(passed); n > 1 && focus == passed[0] {
			break // all around
		}
		passed = append(passed, focus)
	}
	b.fail(fmt.Sprintf("the tab key does not reach %s, but %s", want, strings.Join(passed, ", ")))
}

// Select chooses an option in the list with that label.
func (b *Tab) Select(label, option string) {
	b.t.Helper()
	e := b.find(place{name: label, roles: typed})
	found := false
	b.on(e, `function() { this.focus(); for (const o of this.options) if (o.label.trim() === `+quoted(option)+`) {
		this.value = o.value
		this.dispatchEvent(new Event("input", {bubbles: true}));
		this.dispatchEvent(new Event("change", {bubbles: true}))
		return true } }`, &found)
	if !found {
		b.fail(fmt.Sprintf("%q has no option %q", label, option))
	}
	b.settle()
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

// Upload chooses files for the field with that label.
func (b *Tab) Upload(label string, files ...string) {
	b.t.Helper()
	e := b.find(place{name: label, roles: []string{"button"}})
	call(b, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, BackendNodeID: e.node})
	b.settle()
}

// Drop drops a file on what has that role and name, as from a folder of the desk.
func (b *Tab) Drop(role, name, file, mime string) {
	b.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	e := b.find(place{role: role, name: name})
	b.on(e, `function() {
		const bytes = Uint8Array.from(atob(`+quoted(base64.StdEncoding.EncodeToString(data))+`), c => c.charCodeAt(0))
		const all = new DataTransfer()
		all.items.add(new File([bytes], `+quoted(filepath.Base(file))+`, {type: `+quoted(mime)+`}))
		for (const kind of ["dragenter", "dragover", "drop"])
			this.dispatchEvent(new DragEvent(kind, {dataTransfer: all, bubbles: true, cancelable: true}))
	}`, nil)
	b.settle()
}

// Download clicks what has that label and returns the name and the content of the file that comes.
func (b *Tab) Download(label string) (name string, content []byte) {
	b.t.Helper()
	dir := b.t.TempDir()
	c := chromedp.FromContext(b.ctx)
	ctx := b.ctx
	if _, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: c.BrowserContextID, DownloadPath: dir,
	}); err != nil {
		b.t.Fatal(err)
	}
	b.Click(label)
	b.wait(func() string {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			return err.Error()
		}
		if len(files) != 1 || strings.HasSuffix(files[0], ".crdownload") {
			return fmt.Sprintf("no file has come: %q", files)
		}
		name = filepath.Base(files[0])
		content, err = os.ReadFile(files[0])
		if err != nil {
			return err.Error()
		}
		return ""
	})
	return name, content
}
