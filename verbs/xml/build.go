package xml

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"scripter/script"
)

func build(v *script.Call) error {
	b := builder{call: v}
	if v.OptBool(2, true) {
		b.out.WriteString(Declaration)
	}
	if err := b.element(v.Table(1), 0); err != nil {
		return err
	}
	v.ReturnText(b.out.String())
	return nil
}

// Declaration is the first line of an XML document.
const Declaration = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

type builder struct {
	call *script.Call
	out  strings.Builder
}

var errTooLong = errors.New("the text is longer than 16 MB")

func (b *builder) element(e *script.Table, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("elements nest deeper than %d, or in a circle", maxDepth)
	}
	tag, err := nameOf(e.Get("tag"))
	if err != nil {
		return fmt.Errorf("tag: %w", err)
	}
	b.call.Charge(charge)
	b.out.WriteString("<" + tag)
	if err := b.attributes(tag, e.Get("attr")); err != nil {
		return err
	}
	if e.Len() == 0 {
		b.out.WriteString("/>")
		return nil
	}
	b.out.WriteString(">")
	for i := 1; i <= e.Len(); i++ {
		if child, ok := e.Index(i).(*script.Table); ok {
			if err := b.element(child, depth+1); err != nil {
				return fmt.Errorf("%s [%d]: %w", tag, i, err)
			}
		} else if err := b.text(e.Index(i)); err != nil {
			return fmt.Errorf("%s [%d]: %w", tag, i, err)
		}
	}
	b.out.WriteString("</" + tag + ">")
	return nil
}

func (b *builder) attributes(tag string, v script.Value) error {
	if v == nil {
		return nil
	}
	attr, ok := v.(*script.Table)
	if !ok {
		return fmt.Errorf("%s: attr is not a table", tag)
	}
	for _, name := range attr.Names() {
		if _, err := nameOf(name); err != nil {
			return fmt.Errorf("%s: attribute: %w", tag, err)
		}
		b.out.WriteString(" " + name + `="`)
		if err := b.text(attr.Get(name)); err != nil {
			return fmt.Errorf("%s: attribute %s: %w", tag, name, err)
		}
		b.out.WriteString(`"`)
	}
	return nil
}

func (b *builder) text(v script.Value) error {
	switch v.(type) {
	case nil, *script.Table, *script.Object, *script.Function:
		return errors.New("a text, a number or a boolean is expected")
	}
	s, err := b.call.Thread().Text(v)
	if err != nil {
		return err
	}
	b.call.Charge(charge + len(s)/16)
	if b.out.WriteString(escape(s)); b.out.Len() > maxText {
		return errTooLong
	}
	return nil
}

// nameOf returns the name of an element or attribute, checked: letters, digits and a few signs, of which
// digits and the signs - and . are not the first.
func nameOf(v script.Value) (string, error) {
	name, ok := v.(string)
	if !ok {
		return "", errors.New("a name is expected")
	}
	for i, r := range name {
		first := unicode.IsLetter(r) || r == '_' || r == ':'
		if !first && (i == 0 || !unicode.IsDigit(r) && r != '-' && r != '.') {
			return "", fmt.Errorf("%.40q is not a name in XML", name)
		}
	}
	if name == "" {
		return "", errors.New("the name is empty")
	}
	return name, nil
}
