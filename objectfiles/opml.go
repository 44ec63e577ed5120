package objectfiles

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"scripter/objectdb"
)

// maxOPMLDepth is the depth of the deepest outline in OPML. In a deeper one the indentation
// would take more space than the text.
const maxOPMLDepth = 200

// encodeOPML returns an outline as OPML 2.0 (http://opml.org/spec2.opml), and whether OPML can
// express it. It cannot express a line that is more than one deeper than the line before, and
// characters that XML does not have.
func encodeOPML(o objectdb.Outline) ([]byte, bool) {
	var b bytes.Buffer
	b.WriteString(xml.Header + "<opml version=\"2.0\">\n\t<head></head>\n\t<body>\n")
	depth := -1
	for line := range strings.SplitSeq(string(o), "\n") {
		text := strings.TrimLeft(line, "\t")
		next := len(line) - len(text)
		if next > depth+1 || next > maxOPMLDepth {
			return nil, false
		}
		switch {
		case next > depth && depth >= 0:
			b.WriteString(">\n")
		case depth >= 0:
			b.WriteString("/>\n")
			closeOPML(&b, depth, next)
		}
		depth = next
		opmlIndent(&b, depth)
		b.WriteString(`<outline text="`)
		if err := xml.EscapeText(&b, []byte(text)); err != nil {
			return nil, false
		}
		b.WriteString(`"`)
	}
	b.WriteString("/>\n")
	closeOPML(&b, depth, 0)
	b.WriteString("\t</body>\n</opml>\n")
	// EscapeText replaces characters that XML does not have.
	if back, err := decodeOPML(b.String()); err != nil || back != objectdb.Value(o) {
		return nil, false
	}
	return b.Bytes(), true
}

// closeOPML closes the outline elements that are open, from depth from up to depth to.
func closeOPML(b *bytes.Buffer, from, to int) {
	for d := from - 1; d >= to; d-- {
		opmlIndent(b, d)
		b.WriteString("</outline>\n")
	}
}

// opmlIndent writes the tabs before an outline element.
func opmlIndent(b *bytes.Buffer, depth int) {
	b.WriteString("\t\t")
	for range depth {
		b.WriteByte('\t')
	}
}

// decodeOPML returns the outline with the text of each outline element in the body. It ignores
// everything else that OPML may have.
func decodeOPML(content string) (objectdb.Value, error) {
	d := xml.NewDecoder(strings.NewReader(content))
	var (
		lines []string
		depth = -1     // of the innermost open outline element
		stack []string // the open elements
	)
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the OPML is wrong: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			stack = append(stack, t.Name.Local)
			if len(stack) == 1 && t.Name.Local != "opml" {
				return nil, fmt.Errorf("it is no OPML: its first element is <%s>", t.Name.Local)
			}
			if t.Name.Local != "outline" {
				continue
			}
			if len(stack) < 3 || stack[1] != "body" {
				return nil, errors.New("the OPML is wrong: an <outline> is not in the <body>")
			}
			depth++
			line, err := opmlLine(t, depth)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
			if t.Name.Local == "outline" {
				depth--
			}
		}
	}
	if len(stack) == 0 && lines == nil && !strings.Contains(content, "<opml") {
		return nil, errors.New("it is no OPML")
	}
	return objectdb.Outline(strings.Join(lines, "\n")), nil
}

// opmlLine returns the line of an outline element.
func opmlLine(t xml.StartElement, depth int) (string, error) {
	if depth > maxOPMLDepth {
		return "", fmt.Errorf("the outline nests more than %d deep", maxOPMLDepth)
	}
	text := ""
	for _, a := range t.Attr {
		if a.Name.Local == "text" && a.Name.Space == "" {
			text = a.Value
		}
	}
	if strings.HasPrefix(text, "\t") || strings.Contains(text, "\n") {
		return "", fmt.Errorf("the outline text %q begins with a tab or holds a line break", text)
	}
	return strings.Repeat("\t", depth) + text, nil
}
