package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
)

// place names something by its role and the name that a screen reader says. Without a role
// it is one of roles.
type place struct {
	role, name string
	roles      []string
}

func (p place) String() string {
	if p.role == "" {
		return fmt.Sprintf("%q", p.name)
	}
	return fmt.Sprintf("%s %q", p.role, p.name)
}

// The roles of what people click and of what they type into; Chromium's own begin with a capital.
var (
	clicked = []string{"button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox",
		"menuitemradio", "option", "treeitem", "DisclosureTriangle", "combobox", "gridcell", "cell", "columnheader",
		"row"}
	typed = []string{"textbox", "searchbox", "combobox", "spinbutton", "Date", "DateTime", "InputTime", "slider",
		"PopUpButton", "listbox", "MenuListPopup"}
)

// element is what a step has found.
type element struct {
	role, name, value string
	node              cdp.BackendNodeID
	states            map[string]string
}

// tree is what a screen reader knows of the page.
type tree struct {
	nodes map[accessibility.NodeID]*accessibility.Node
	order []*accessibility.Node
}

func (b *Tab) tree() (*tree, error) {
	r, err := try(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		return nil, err
	}
	a := &tree{nodes: map[accessibility.NodeID]*accessibility.Node{}}
	for _, n := range r.Nodes {
		a.nodes[n.NodeID] = n
		a.order = append(a.order, n)
	}
	return a, nil
}

func word(v *accessibility.Value) string {
	if v == nil || len(v.Value) == 0 {
		return ""
	}
	var text string
	if err := json.Unmarshal(v.Value, &text); err != nil {
		return strings.Trim(string(v.Value), `"`)
	}
	return strings.Join(strings.Fields(text), " ")
}

func elementOf(n *accessibility.Node) element {
	e := element{role: word(n.Role), name: word(n.Name), value: word(n.Value), node: n.BackendDOMNodeID,
		states: map[string]string{}}
	for _, p := range n.Properties {
		e.states[string(p.Name)] = word(p.Value)
	}
	return e
}

// below reports whether a node is inside of another.
func (a *tree) below(n, top *accessibility.Node) bool {
	for ; n != nil; n = a.nodes[n.ParentID] {
		if n == top {
			return true
		}
	}
	return false
}

// match returns the innermost nodes below top that p means: those with its name, or else
// those whose name begins with it and a space, as "Save Ctrl-S" does.
func (a *tree) match(top *accessibility.Node, p place) []*accessibility.Node {
	want := strings.Join(strings.Fields(p.name), " ")
	for _, fits := range []func(string) bool{
		func(name string) bool { return name == want },
		func(name string) bool { return strings.HasPrefix(name, want+" ") },
	} {
		var found []*accessibility.Node
		for _, n := range a.order {
			role := word(n.Role)
			switch {
			case n.Ignored || n.BackendDOMNodeID == 0, top != nil && !a.below(n, top):
			case p.role != "" && role != p.role, p.role == "" && !slices.Contains(p.roles, role):
			case !fits(word(n.Name)):
			default:
				found = append(found, n)
			}
		}
		found = slices.DeleteFunc(slices.Clone(found), func(outer *accessibility.Node) bool {
			return slices.ContainsFunc(found,
				func(n *accessibility.Node) bool { return n != outer && a.below(n, outer) })
		})
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// look for the one element that a place means, in the parts that In has named.
func (b *Tab) lookFor(p place) (element, string) {
	a, err := b.tree()
	if err != nil {
		return element{}, err.Error()
	}
	var top *accessibility.Node
	for _, part := range append(slices.Clone(b.within), p) {
		found := a.match(top, part)
		if len(found) == 1 {
			top = found[0]
			continue
		}
		if len(found) > 1 {
			return element{}, fmt.Sprintf("%d things are called %s", len(found), part)
		}
		return element{}, fmt.Sprintf("there is no %s here, but %s", part, a.names(top, part))
	}
	return elementOf(top), ""
}

// names lists what could have been meant.
func (a *tree) names(top *accessibility.Node, p place) string {
	var names []string
	for _, n := range a.order {
		role := word(n.Role)
		if n.Ignored || word(n.Name) == "" || role == "InlineTextBox" || top != nil && !a.below(n, top) {
			continue
		}
		if role == p.role || p.role == "" && slices.Contains(p.roles, role) {
			names = append(names, fmt.Sprintf("%s %q", role, word(n.Name)))
		}
	}
	if len(names) == 0 {
		return "nothing of that kind"
	}
	if len(names) > 60 {
		names = append(names[:60], "…")
	}
	return strings.Join(names, ", ")
}

// find waits for the element that a place means.
func (b *Tab) find(p place) element {
	b.t.Helper()
	var e element
	b.wait(func() (wrong string) {
		e, wrong = b.lookFor(p)
		return wrong
	})
	return e
}

// In returns the part of the page with that role ("dialog", "navigation", "row", …) and name;
// its steps look there only.
func (b *Tab) In(role, name string) *Tab {
	return &Tab{b.tab, append(slices.Clone(b.within), place{role: role, name: name})}
}

// Has waits for something with that role and name.
func (b *Tab) Has(role, name string) {
	b.t.Helper()
	b.find(place{role: role, name: name})
}

// HasNot waits until there is nothing with that role and name.
func (b *Tab) HasNot(role, name string) {
	b.t.Helper()
	b.wait(func() string {
		a, err := b.tree()
		if err != nil {
			return err.Error()
		}
		if len(a.match(nil, place{role: role, name: name})) > 0 {
			return fmt.Sprintf("there still is a %s %q", role, name)
		}
		return ""
	})
}

// State returns a state of what has that role and name, such as "checked" or "expanded", in the
// words of Chromium: "true", "false", "mixed", or "" if it has no such state.
func (b *Tab) State(role, name, state string) string {
	b.t.Helper()
	return b.find(place{role: role, name: name}).states[state]
}

// Value returns what stands in the field with that label.
func (b *Tab) Value(label string) string {
	b.t.Helper()
	value := ""
	e := b.find(place{name: label, roles: typed})
	b.on(e, `function() { return this.value ?? this.innerText }`, &value)
	return value
}

// Focus returns the role and the name of the element that has the focus, such as "button Save". For an element in a
// frame these are "Iframe" and the title of the frame.
func (b *Tab) Focus() string {
	b.t.Helper()
	frame := ""
	b.must(`document.activeElement?.tagName === "IFRAME" ? "Iframe " + document.activeElement.title : ""`, &frame)
	if frame != "" {
		return frame // the browser may not know yet what a screen reader says of it
	}
	object := call(b, runtime.Evaluate, runtime.EvaluateParams{Expression: `(() => {
		let e = document.activeElement
		while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
		return e
	})()`}).Result
	if object.ObjectID == "" {
		return "nothing"
	}
	no := false
	r := call(b, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: object.ObjectID,
		FetchRelatives: &no})
	if len(r.Nodes) == 0 {
		return "nothing"
	}
	return strings.TrimSpace(word(r.Nodes[0].Role) + " " + word(r.Nodes[0].Name))
}

// SeeFocus waits until the element with that role and name has the focus.
func (b *Tab) SeeFocus(role, name string) {
	b.t.Helper()
	b.wait(func() string {
		if focus := b.Focus(); focus != role+" "+name {
			return fmt.Sprintf("%s has the focus, not %s %s", focus, role, name)
		}
		return ""
	})
}
