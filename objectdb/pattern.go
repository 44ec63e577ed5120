package objectdb

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern finds a text without regard to case.
type pattern struct {
	query string
	runes []rune // folded
	first []rune // all that fold to the first of runes
}

func newPattern(query string) *pattern {
	p := &pattern{query: query}
	for _, r := range query {
		if p.runes == nil {
			p.first = append(p.first, r)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				p.first = append(p.first, f)
			}
		}
		p.runes = append(p.runes, foldRune(r))
	}
	return p
}

// find returns where the query is in text for the first time; start is -1 if it is not there.
func (p *pattern) find(text string) (start, end int) {
	for i, r := range text {
		if slices.Contains(p.first, r) {
			if n := p.length(text[i:]); n > 0 {
				return i, i + n
			}
		}
	}
	return -1, -1
}

// length returns the length of what matches at the beginning of text, or 0.
func (p *pattern) length(text string) int {
	n := 0
	for _, want := range p.runes {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || foldRune(r) != want {
			return 0
		}
		n += size
	}
	return n
}

// look searches in a value, and notes the first place in f.
func (p *pattern) look(v Value, f *Found) {
	if list, ok := v.(List); ok {
		for i, item := range list {
			if p.lookInItem(item, f) {
				f.Line = i + 1
				return
			}
		}
		return
	}
	p.lookInText(textForm(v), f)
}

// lookInItem searches in an item of a list.
func (p *pattern) lookInItem(v Value, f *Found) bool {
	switch v := v.(type) {
	case List:
		for _, item := range v {
			if p.lookInItem(item, f) {
				return true
			}
		}
	case Record:
		for _, field := range v {
			if p.lookInText(field.Name, f) || p.lookInItem(field.Value, f) {
				return true
			}
		}
	case String, Text, Outline, Script:
		text := textForm(v)
		return utf8.ValidString(text) && p.lookInText(text, f) // else it is stored in base 64
	}
	return false
}

// The parts of a line that are shown before and after what is found, in bytes.
const (
	shownBefore = 60
	shownAfter  = 120
	ellipsis    = "…"
)

func (p *pattern) lookInText(text string, f *Found) bool {
	start, end := p.find(text)
	if start < 0 {
		return false
	}
	f.Text = true
	f.Line = 1 + strings.Count(text[:start], "\n")
	before := text[strings.LastIndexByte(text[:start], '\n')+1 : start]
	before = strings.TrimLeft(before, " \t")
	if cut := len(before) - shownBefore; cut > 0 {
		for cut < len(before) && !utf8.RuneStart(before[cut]) {
			cut++
		}
		before = ellipsis + before[cut:]
	}
	after, _, _ := strings.Cut(text[end:], "\n")
	after = strings.TrimRight(after, " \t\r")
	if cut := shownAfter; len(after) > cut {
		for cut > 0 && !utf8.RuneStart(after[cut]) {
			cut--
		}
		after = after[:cut] + ellipsis
	}
	f.Before, f.Match, f.After = valid(before), valid(text[start:end]), valid(after)
	return true
}

// valid returns a part of a text as UTF-8, which a String need not be.
func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
