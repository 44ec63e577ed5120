package xml

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"scripter/script"
)

func parse(v *script.Call) error {
	e, err := Parse(v, v.String(1))
	if err != nil {
		return err
	}
	v.Return(e)
	return nil
}

// Parse returns the root element of an XML text. It charges v for its work.
func Parse(v *script.Call, text string) (*script.Table, error) {
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	var charset error
	d.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		charset = fmt.Errorf("the character set %.40s is not read: only UTF-8 is", name)
		return nil, charset
	}
	p := parser{call: v, d: d}
	for {
		token, err := d.RawToken() // not Token, which replaces the prefixes of names
		if err == nil {
			err = p.take(token)
		} else if errors.Is(err, io.EOF) {
			return p.end()
		}
		if charset != nil {
			return nil, charset
		}
		if err != nil {
			return nil, p.at(err)
		}
	}
}

// A parser has the elements that are open.
type parser struct {
	call *script.Call
	d    *xml.Decoder
	root *script.Table
	open []*script.Table
	tags []string
	text strings.Builder // gathered since the last tag
}

// at returns an error with its line.
func (p *parser) at(err error) error {
	line, _ := p.d.InputPos()
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
	}
	return fmt.Errorf("line %d: %w", line, err)
}

func (p *parser) end() (*script.Table, error) {
	switch {
	case len(p.tags) > 0:
		return nil, p.at(fmt.Errorf("the element %s is not closed", p.tags[len(p.tags)-1]))
	case p.root == nil:
		return nil, errors.New("the text has no element")
	}
	return p.root, nil
}

func (p *parser) take(token xml.Token) error {
	switch x := token.(type) {
	case xml.StartElement:
		return p.begin(x)
	case xml.EndElement:
		name := spelt(x.Name)
		last := len(p.tags) - 1
		if last < 0 || p.tags[last] != name {
			return fmt.Errorf("</%s> closes no element", name)
		}
		p.addText()
		p.open, p.tags = p.open[:last], p.tags[:last]
	case xml.CharData:
		if len(p.open) > 0 {
			p.text.Write(x)
		} else if strings.TrimSpace(string(x)) != "" {
			return errors.New("text stands outside of the root element")
		}
	}
	return nil
}

func (p *parser) begin(x xml.StartElement) error {
	p.call.Charge(charge * (len(x.Attr) + 2))
	switch {
	case len(p.open) >= maxDepth:
		return fmt.Errorf("elements nest deeper than %d", maxDepth)
	case len(p.open) == 0 && p.root != nil:
		return errors.New("the text has more than one root element")
	}
	p.addText()
	e, attr := script.NewTable(), script.NewTableFor(len(x.Attr))
	for _, a := range x.Attr {
		name := spelt(a.Name)
		if attr.Get(name) != nil {
			return fmt.Errorf("the attribute %s is there twice", name)
		}
		attr.Set(name, a.Value)
	}
	e.Set("tag", spelt(x.Name))
	e.Set("attr", attr)
	if p.root == nil {
		p.root = e
	} else {
		p.open[len(p.open)-1].Append(e)
	}
	p.open, p.tags = append(p.open, e), append(p.tags, spelt(x.Name))
	return nil
}

// addText adds the gathered text to the innermost element.
func (p *parser) addText() {
	if p.text.Len() > 0 {
		p.call.Charge(charge)
		p.open[len(p.open)-1].Append(p.text.String())
		p.text.Reset()
	}
}

// spelt returns a name as the text has it, with its prefix.
func spelt(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}
