package browsertest

import (
	"fmt"
	"strings"
)

// shown returns the text of an element as a person sees it: its visible text, and then the values of its fields.
// For a frame it is the text of the page in it.
const shown = `function() {
	if (this.contentDocument) return this.contentDocument.body?.innerText ?? ""
	const all = root => [...root.querySelectorAll("*")].flatMap(e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e])
	const inside = all(this)
	const fields = inside.filter(f => f.matches("input, textarea") &&
		!["hidden", "password", "checkbox", "radio", "submit"].includes(f.type) && f.checkVisibility())
	const shadows = inside.filter(e => e.shadowRoot).flatMap(e => [...e.shadowRoot.children])
	return [this, ...shadows].map(e => e.innerText).concat(fields.map(f => f.value)).join("\n")
}`

// Text returns the visible text, with single spaces, and then that of the fields.
func (b *Tab) Text() (string, error) {
	text := ""
	if len(b.within) == 0 {
		err := b.evaluate(`(`+shown+`).call(document.body)`, &text)
		return squeezed(text), err
	}
	inner := &Tab{b.tab, b.within[:len(b.within)-1]}
	e, wrong := inner.lookFor(b.within[len(b.within)-1])
	if wrong != "" {
		return "", fmt.Errorf("%s", wrong)
	}
	err := b.tryOn(e, shown, &text)
	return squeezed(text), err
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// See waits until the text is visible.
func (b *Tab) See(text string) {
	b.t.Helper()
	b.wait(func() string {
		all, err := b.Text()
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(all, squeezed(text)) {
			return fmt.Sprintf("%q is not visible", text)
		}
		return ""
	})
}

// NotSee waits until the text is not visible.
func (b *Tab) NotSee(text string) {
	b.t.Helper()
	b.wait(func() string {
		all, err := b.Text()
		if err != nil {
			return err.Error()
		}
		if strings.Contains(all, squeezed(text)) {
			return fmt.Sprintf("%q is still visible", text)
		}
		return ""
	})
}

// SeeTitle waits until the page has that title.
func (b *Tab) SeeTitle(title string) {
	b.t.Helper()
	b.wait(func() string {
		got := ""
		if err := b.evaluate(`document.title`, &got); err != nil || got != title {
			return fmt.Sprintf("the title is %q, not %q", got, title)
		}
		return ""
	})
}

// SeeURL waits until the page is at that address of the site.
func (b *Tab) SeeURL(path string) {
	b.t.Helper()
	b.wait(func() string {
		got := ""
		if err := b.evaluate(`location.href`, &got); err != nil || got != b.base+path {
			return fmt.Sprintf("the page is at %s, not at %s", strings.TrimPrefix(got, b.base), path)
		}
		return ""
	})
}
