// Package htmlcheck checks that a page is valid HTML, and that a person with a keyboard or a
// screen reader can use it (tests only). It is stricter than the standard (WHATWG HTML): each
// element must have its end tag, and elements and attributes that our pages do not need are
// not known.
package htmlcheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Check returns what is wrong in a page, nothing if it is valid.
func Check(page string) []string {
	c := &checker{ids: map[string]*html.Node{}}
	c.source(page)
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return append(c.problems, err.Error())
	}
	c.same(root)
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			c.note(n)
		}
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			c.element(n)
		}
	}
	c.document(root)
	return c.problems
}

type checker struct {
	problems []string
	tags     []string // of the source, in its order
	ids      map[string]*html.Node
	count    map[string]int
	level    int // of the last heading
}

func (c *checker) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// looseAmpersand matches an ampersand that begins no character reference.
var looseAmpersand = regexp.MustCompile(`&(?:[A-Za-z0-9]+|#[0-9]+|#[xX][0-9a-fA-F]+)?(?:[^A-Za-z0-9#;]|$)`)

// rawAttribute matches an attribute of a tag, with its value.
var rawAttribute = regexp.MustCompile(`\s[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?`)

// source reads the tags of the page as they are written.
func (c *checker) source(page string) {
	if !strings.HasPrefix(page, "<!DOCTYPE html>") {
		c.add("the page does not begin with <!DOCTYPE html>")
	}
	if i := strings.IndexFunc(page, isControl); i >= 0 {
		c.add("the page has the control character %q", page[i])
	}
	t := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := t.Next()
		raw := string(t.Raw())
		if kind == html.ErrorToken {
			return
		}
		token := t.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			c.tags = append(c.tags, tag(token.Data, token.Attr))
			if kind == html.SelfClosingTagToken {
				c.tags = append(c.tags, "/"+token.Data)
			}
			if len(rawAttribute.FindAllString(raw, -1)) > len(token.Attr) { // the tokenizer drops the second one
				c.add("%s has two attributes of one name", raw)
			}
		case html.EndTagToken:
			c.tags = append(c.tags, "/"+token.Data)
		}
		if kind != html.CommentToken && looseAmpersand.MatchString(raw) {
			c.add("%.80q has an ampersand that is not escaped", raw)
		}
	}
}

func isControl(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\f\r", r) || r == 0x7f }

func tag(name string, attributes []html.Attribute) string {
	keys := []string{}
	for _, a := range attributes {
		keys = append(keys, strings.ToLower(a.Key))
	}
	slices.Sort(keys) // the parser changes their order
	return strings.Join(append([]string{strings.ToLower(name)}, keys...), " ")
}

// same compares the tags of the source with those of the tree. A parser mends a page: where
// a tag is missing, misplaced or superfluous, the tree has other tags.
func (c *checker) same(root *html.Node) {
	var tags []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			tags = append(tags, tag(n.Data, n.Attr))
		}
		for child := range n.ChildNodes() {
			walk(child)
		}
		if n.Type == html.ElementNode && !void[n.Data] {
			tags = append(tags, "/"+strings.ToLower(n.Data))
		}
	}
	walk(root)
	for i := range max(len(tags), len(c.tags)) {
		switch {
		case i >= len(tags):
			c.add("the tag <%s> is superfluous", c.tags[i])
		case i >= len(c.tags):
			c.add("the tag <%s> is missing at the end", tags[i])
		case tags[i] != c.tags[i]:
			c.add("tag %d is <%s>, but <%s> must stand there", i+1, c.tags[i], tags[i])
		default:
			continue
		}
		return
	}
}

// note counts an element, and remembers its id.
func (c *checker) note(n *html.Node) {
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[n.Data]++
	id, ok := attribute(n, "id")
	if !ok {
		return
	}
	if id == "" || strings.ContainsAny(id, " \t\n") || c.ids[id] != nil {
		c.add("<%s> has the id %q, which is invalid or used twice", n.Data, id)
	}
	c.ids[id] = n
}

func (c *checker) element(n *html.Node) {
	if n.Namespace == "svg" {
		return // the tags alone are checked
	}
	known, ok := elements[n.Data]
	if !ok {
		c.add("<%s> is not known", n.Data)
		return
	}
	for _, a := range n.Attr {
		if !slices.Contains(known.attributes, a.Key) && !slices.Contains(global, a.Key) &&
			!strings.HasPrefix(a.Key, "aria-") && !strings.HasPrefix(a.Key, "data-") {
			c.add("<%s> has the attribute %s", n.Data, a.Key)
		}
	}
	c.nesting(n, known)
	c.access(n)
}

// nesting checks what may stand in what.
func (c *checker) nesting(n *html.Node, known element) {
	parent := n.Parent.Data
	if known.within != nil && !slices.Contains(known.within, parent) {
		c.add("<%s> stands in <%s>", n.Data, parent)
	}
	if p := elements[parent]; p.only != nil && !slices.Contains(p.only, n.Data) {
		c.add("<%s> stands in <%s>", n.Data, parent)
	}
	if elements[parent].phrasing && !known.inline && !slices.Contains(elements[parent].also, n.Data) {
		c.add("<%s> stands in <%s>, which holds text only", n.Data, parent)
	}
	if !interactive(n) {
		return
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Type == html.ElementNode && (up.Data == "a" || up.Data == "button") {
			c.add("<%s> stands in <%s>", n.Data, up.Data)
		}
	}
}

func interactive(n *html.Node) bool {
	kind, _ := attribute(n, "type")
	return slices.Contains([]string{"a", "button", "details", "label", "select", "textarea"}, n.Data) ||
		n.Data == "input" && kind != "hidden"
}

// access checks names, labels, headings and references.
func (c *checker) access(n *html.Node) {
	switch n.Data {
	case "img":
		if _, ok := attribute(n, "alt"); !ok {
			c.add("<img> has no alt")
		}
	case "a", "button", "summary", "th", "h1", "h2", "h3", "h4", "title", "option":
		if name(n) == "" {
			c.add("<%s> has no text", n.Data)
		}
	case "input", "select", "textarea":
		kind, _ := attribute(n, "type")
		if kind != "hidden" && !c.labelled(n) {
			c.add("<%s> has no label", n.Data)
		}
	case "label":
		id, ok := attribute(n, "for")
		if to := c.ids[id]; ok && (to == nil || !slices.Contains([]string{"input", "select", "textarea"}, to.Data)) {
			c.add("<label for=%q> labels no field", id)
		}
	}
	for _, key := range []string{"aria-labelledby", "aria-describedby", "aria-controls"} {
		ids, _ := attribute(n, key)
		for id := range strings.FieldsSeq(ids) {
			if c.ids[id] == nil {
				c.add("%s=%q names no element", key, id)
			}
		}
	}
	if href, _ := attribute(n, "href"); len(href) > 1 && href[0] == '#' && c.ids[href[1:]] == nil {
		c.add("href=%q leads nowhere", href)
	}
	if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' {
		level := int(n.Data[1] - '0')
		if level > c.level+1 {
			c.add("<%s> %q follows a heading of level %d", n.Data, name(n), c.level)
		}
		c.level = level
	}
}

func (c *checker) labelled(field *html.Node) bool {
	if label, _ := attribute(field, "aria-label"); label != "" {
		return true
	}
	if by, _ := attribute(field, "aria-labelledby"); by != "" {
		return true
	}
	id, _ := attribute(field, "id")
	top := field
	for up := field.Parent; up != nil; up = up.Parent {
		if up.Data == "label" {
			return true
		}
		top = up
	}
	for n := range top.Descendants() {
		if to, _ := attribute(n, "for"); n.Data == "label" && id != "" && to == id {
			return true
		}
	}
	return false
}

// document checks what a page must have.
func (c *checker) document(root *html.Node) {
	for _, once := range []string{"title", "h1", "main"} {
		if c.count[once] != 1 {
			c.add("the page has %d elements <%s>, and must have one", c.count[once], once)
		}
	}
	charset, viewport := false, false
	for n := range root.Descendants() {
		switch n.Data {
		case "html":
			if lang, _ := attribute(n, "lang"); n.Type == html.ElementNode && lang == "" {
				c.add("<html> has no lang")
			}
		case "meta":
			set, _ := attribute(n, "charset")
			charset = charset || strings.EqualFold(set, "utf-8")
			of, _ := attribute(n, "name")
			viewport = viewport || of == "viewport"
		}
	}
	if !charset || !viewport {
		c.add("the page has no <meta charset> or no viewport")
	}
}

// External returns the addresses on other hosts from which a page loads something, or to which
// it leads.
func External(page string) []string {
	var list []string
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return []string{err.Error()}
	}
	for n := range root.Descendants() {
		if n.Namespace != "" {
			continue
		}
		for _, key := range []string{"href", "src", "srcset", "action", "formaction", "poster", "data"} {
			to, ok := attribute(n, key)
			if ok && (strings.Contains(to, ":") || strings.HasPrefix(to, "//")) &&
				!strings.HasPrefix(to, "data:image/") {
				list = append(list, to)
			}
		}
	}
	return list
}

// name returns the text that a screen reader says for an element.
func name(n *html.Node) string {
	if label, _ := attribute(n, "aria-label"); label != "" {
		return label
	}
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case d.Data == "img":
			alt, _ := attribute(d, "alt")
			b.WriteString(alt)
		case d.Data == "svg":
			label, _ := attribute(d, "aria-label")
			b.WriteString(label)
		}
	}
	return strings.TrimSpace(b.String())
}

func attribute(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}
