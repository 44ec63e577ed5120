package admin

import (
	"slices"
	"strings"
)

// consoleData is the page where an owner types Lua.
type consoleData struct {
	Typed   string   `json:"lua"`
	Earlier []string `json:"earlier,omitempty"` // what was run before, the last first
	MayKeep bool     `json:"mayKeep"`
	Ran     *ran     `json:"ran,omitempty"`
	Problem string   `json:"-"` // why nothing was run
}

// Bounds of what the page keeps of earlier entries.
const (
	mostEarlier = 20
	longEarlier = 8 << 10 // bytes of one entry
)

// consolePage shows an empty console.
func (c *call) consolePage() (*result, error) { return c.consoleResult(&consoleData{}), nil }

func (c *call) consoleResult(d *consoleData) *result {
	d.MayKeep = !c.inPast
	return &result{template: "console", title: text("nav.console"), data: d}
}

// consolePosted runs what was typed, or takes an earlier entry again.
func (c *call) consolePosted() (*result, error) {
	d := &consoleData{}
	err := c.runConsole(d)
	if err != nil && (c.json || c.r.Header.Get("X-Part") == "") {
		return nil, err
	}
	res := c.consoleResult(d)
	if c.r.Header.Get("X-Part") != "" {
		res.part = "consolePart"
	}
	if err != nil {
		p := c.problemOf(err)
		res.status, d.Problem = p.Status, p.Text
	}
	return res, nil
}

// runConsole does what the form asks for.
func (c *call) runConsole(d *consoleData) error {
	d.Typed = c.lines("lua")
	for _, e := range c.r.PostForm["earlier"] {
		if e = unixLines(e); len(d.Earlier) < mostEarlier && len(e) <= longEarlier && strings.TrimSpace(e) != "" {
			d.Earlier = append(d.Earlier, e)
		}
	}
	if again := c.lines("again"); again != "" {
		d.Typed = again
		return nil
	}
	keep := c.field("keep") != ""
	switch {
	case strings.TrimSpace(d.Typed) == "":
		return bad("console.empty")
	case keep && c.inPast:
		return pastProblem()
	}
	var err error
	if d.Ran, err = c.runTyped(d.Typed, keep); err != nil {
		return err
	}
	d.Earlier = slices.DeleteFunc(d.Earlier, func(e string) bool { return e == d.Typed })
	if len(d.Typed) <= longEarlier {
		d.Earlier = slices.Insert(d.Earlier, 0, d.Typed)
	}
	d.Earlier = d.Earlier[:min(len(d.Earlier), mostEarlier)]
	return nil
}
