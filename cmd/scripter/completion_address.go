package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/valuetext"
)

// mostOffers is how many names of a table are offered. If more names begin with what was typed,
// their common beginnings are offered.
const mostOffers = 300

// mostCounted is how many objects of a table are counted for a description.
const mostCounted = 100

// addressOf completes the address of an object of one of these kinds, or of any kind: one
// name at a time. Tables are always offered, because they lead to other objects.
func addressOf(kinds ...objectdb.Kind) completer {
	return func(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
		t.peek(c, func(tx *objectdb.Tx) error {
			var err error
			list, err = t.addresses(tx, typed, kinds)
			return err
		})
		return list
	}
}

// peek reads the root without a trace. If it cannot be read, nothing is offered.
func (t *tool) peek(c *cobra.Command, fn func(tx *objectdb.Tx) error) {
	_ = roots.Peek(c.Context(), t.rootName(), fn)
}

// typedAddress is an address that is not yet typed completely.
type typedAddress struct {
	head    string // as it was typed: all before the last name
	table   objectdb.Address
	begin   string // the beginning of the last name
	bracket bool   // the last name is typed in brackets and quotes
}

func parseTyped(typed string) (a typedAddress, err error) {
	last, quoted := 0, false
	for i := 0; i < len(typed); i++ {
		switch c := typed[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '.':
			last = i + 1
		case c == '[':
			last = i
		}
	}
	a.head = typed[:last]
	if a.table, err = objectdb.ParseAddress(strings.TrimSuffix(a.head, ".")); err != nil {
		return a, err
	}
	a.begin = typed[last:]
	if rest, ok := strings.CutPrefix(a.begin, "["); ok {
		a.bracket = true
		rest = strings.TrimPrefix(rest, `"`)
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "]"), `"`)
		a.begin = ""
		if rest != "" {
			name, err := objectdb.ParseAddress(`["` + rest + `"]`)
			if err != nil {
				return a, err
			}
			a.begin = name.Name()
		}
	}
	return a, nil
}

func (t *tool) addresses(tx *objectdb.Tx, typed string, kinds []objectdb.Kind) ([]offer, error) {
	a, err := parseTyped(typed)
	if err != nil {
		return nil, err
	}
	table, err := tx.Find(a.table)
	if err != nil {
		return nil, err
	}
	names, err := namesIn(tx, table, a.begin)
	if err != nil {
		return nil, err
	}
	keepTyped(names, a.begin)
	var bare, bracketed []offer
	counts := 10 * mostCounted // for all tables together
	for _, n := range names {
		o := offer{open: true}
		isBare := !a.bracket && n.isBare()
		o.text = a.head + n.spelled(!isBare)
		if n.node != nil {
			switch {
			case n.node.Kind() == objectdb.KindTable:
				o.text += "."
			case len(kinds) > 0 && !slices.Contains(kinds, n.node.Kind()):
				continue
			default:
				o.open = false
			}
			if t.tab.describe {
				if o.about, err = describeNode(tx, n.node, &counts); err != nil {
					return nil, err
				}
			}
		}
		if isBare {
			bare = append(bare, o)
		} else {
			bracketed = append(bracketed, o)
		}
	}
	if a.begin == "" || a.bracket || len(bare) == 0 {
		return append(bare, bracketed...), nil
	}
	// A shell replaces the word by the common beginning of all offers. With a bracket in one
	// offer only, that would remove what was typed. So only the part of the name before the first
	// character that needs brackets is offered. Once it is typed, the whole name is offered.
	for _, n := range names {
		o := offer{text: a.head + n.bareBeginning(), open: true}
		known := slices.ContainsFunc(bare, func(other offer) bool { return other.text == o.text })
		if !n.isBare() && o.text != typed && !known {
			bare = append(bare, o)
		}
	}
	return bare, nil
}

// keepTyped spells the beginning of all names as it was typed, unless all names have another
// spelling in common. A shell keeps only the part of the word that all offers have in common.
func keepTyped(names []typedName, begin string) {
	size := utf8.RuneCountInString(begin) // folding keeps the number of characters
	spelling := func(n typedName) string { return string([]rune(n.name)[:size]) }
	if !slices.ContainsFunc(names, func(n typedName) bool { return spelling(n) != spelling(names[0]) }) {
		return
	}
	for i, n := range names {
		names[i].name = begin + string([]rune(n.name)[size:])
	}
}

// describeNode returns the kind and the size of an object.
func describeNode(tx *objectdb.Tx, n *objectdb.Node, counts *int) (string, error) {
	if n.Kind() != objectdb.KindTable {
		return n.Kind().String() + ", " + valuetext.Count(int(n.Size()), "byte"), nil
	}
	size := 0
	for end := "\xff"; ; size++ {
		if *counts--; *counts < 0 {
			return "table", nil
		}
		child, err := tx.Last(n, "", end)
		if errors.Is(err, objectdb.ErrNotFound) {
			return "table, " + counted(size, "object"), nil
		}
		if err != nil {
			return "", err
		}
		if size == mostCounted {
			return fmt.Sprintf("table, more than %d objects", mostCounted), nil
		}
		end = objectdb.Fold(child.Name())
	}
}

// typedName is the name of an object, or the common beginning of several.
type typedName struct {
	name string
	node *objectdb.Node // nil for a common beginning
}

func (n *typedName) isBare() bool { return (objectdb.Address{n.name}).String() == n.name }

// bareBeginning returns the longest beginning of the name that needs no brackets.
func (n *typedName) bareBeginning() string {
	for i := range n.name {
		if beginning := n.name[:i]; i > 0 && (objectdb.Address{beginning}).String() != beginning {
			_, size := utf8.DecodeLastRuneInString(beginning)
			return beginning[:i-size]
		}
	}
	_, size := utf8.DecodeLastRuneInString(n.name)
	return n.name[:len(n.name)-size]
}

// spelled returns the name as it is written in an address. The brackets of a beginning are left
// open. Invisible characters are written as bytes.
func (n *typedName) spelled(bracket bool) string {
	if !bracket {
		return n.name
	}
	text := objectdb.Address{n.name + "."}.String() // with the dot it is never bare
	text = strings.TrimSuffix(text, `."]`)
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range utf8.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\x%02X`, c)
		}
	}
	if n.node != nil {
		b.WriteString(`"]`)
	}
	return b.String()
}

// namesIn returns the names in a table that begin with begin, ignoring case. If there are more
// than mostOffers, it returns their common beginnings. So it reads few objects of any table.
func namesIn(tx *objectdb.Tx, table *objectdb.Node, begin string) ([]typedName, error) {
	from := objectdb.Fold(begin)
	var list []typedName
	for end := from + "\xff"; ; {
		n, err := tx.Last(table, from, end)
		if errors.Is(err, objectdb.ErrNotFound) {
			slices.Reverse(list)
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if len(list) == mostOffers {
			return beginningsIn(tx, table, from)
		}
		list = append(list, typedName{n.Name(), n})
		end = objectdb.Fold(n.Name())
	}
}

// beginningsIn returns the common beginnings of the folded names that begin with from: one for
// each character that follows from in a name, up to that character.
func beginningsIn(tx *objectdb.Tx, table *objectdb.Node, from string) (list []typedName, err error) {
	for {
		list = nil
		next := ""
		for end := from + "\xff"; len(list) < mostOffers; {
			n, err := tx.Last(table, from, end)
			if errors.Is(err, objectdb.ErrNotFound) {
				break
			}
			if err != nil {
				return nil, err
			}
			fold := objectdb.Fold(n.Name())
			if fold == from {
				list = append(list, typedName{n.Name(), n})
				break
			}
			_, size := utf8.DecodeRuneInString(fold[len(from):])
			next = fold[:len(from)+size]
			// Folding keeps the number of characters.
			beginning := string([]rune(n.Name())[:utf8.RuneCountInString(next)])
			one := typedName{name: beginning}
			if _, err := tx.Last(table, next, fold); errors.Is(err, objectdb.ErrNotFound) {
				one = typedName{n.Name(), n}
			} else if err != nil {
				return nil, err
			}
			list = append(list, one)
			end = next
		}
		if len(list) != 1 || list[0].node != nil {
			slices.Reverse(list)
			return list, nil
		}
		from = next
	}
}
