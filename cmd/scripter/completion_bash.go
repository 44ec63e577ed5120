package main

import (
	"context"
	"fmt"
	"strings"
)

// shellWords is a command line as bash reads it, up to the cursor.
type shellWords struct {
	words []string // without quotes; the last one is typed
	raw   string   // the last word as it was typed
	quote byte     // the quote that is open in it, or 0
	file  bool     // the last word is the file of a redirection
}

// splitLine reads a command line. Redirections are left out.
func splitLine(line string) shellWords {
	var s shellWords
	var word strings.Builder
	inWord, start := false, len(line)
	begin := func(i int) {
		if !inWord {
			inWord, start = true, i
		}
	}
	end := func() {
		if inWord && !s.file {
			s.words = append(s.words, word.String())
		}
		if inWord {
			s.file = false
		}
		inWord = false
		word.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case s.quote == '\'' && c != '\'' || s.quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case s.quote != 0 && c == s.quote:
			s.quote = 0
		case s.quote == '"' && i+1 < len(line) && !strings.ContainsRune("\"\\$`", rune(line[i+1])):
			word.WriteByte(c) // a backslash that quotes nothing
		case c == '\\':
			begin(i)
			if i++; i < len(line) {
				word.WriteByte(line[i])
			}
		case c == '\'' || c == '"':
			begin(i)
			s.quote = c
		case c == ' ' || c == '\t' || c == '\n':
			end()
		case c == '<' || c == '>':
			end()
			s.file = true
		default:
			begin(i)
			word.WriteByte(c)
		}
	}
	if inWord {
		s.raw = line[start:]
	}
	s.words = append(s.words, word.String())
	return s
}

// offersForBash answers bash. word is the end of the line that bash replaces: the last word, or
// the part of it after its opening quote or after a "=".
func (t *tool) offersForBash(ctx context.Context, word, line string) string {
	s := splitLine(line)
	if s.file {
		return "files\n"
	}
	if len(s.words) < 2 || !strings.HasSuffix(s.raw, word) {
		return "offers\n"
	}
	typed := s.words[len(s.words)-1]
	o := t.offers(ctx, s.words[1:], false)
	var b strings.Builder
	fmt.Fprintln(&b, o.kind())
	stays := s.raw[:len(s.raw)-len(word)]
	before := splitLine(stays)
	for _, offer := range o.list {
		whole := flagBefore(typed) + offer.text
		text, ok := strings.CutPrefix(s.quoted(typed, whole), stays)
		if !ok {
			if text, ok = strings.CutPrefix(whole, before.words[0]); !ok {
				continue // bash cannot replace the part before word
			}
			text = s.escaped(text)
		}
		fmt.Fprintln(&b, text)
		if s.quote != 0 && o.kind() == "open" {
			// Otherwise bash would close the quote after the only offer.
			fmt.Fprintln(&b, text+"…")
		}
	}
	return b.String()
}

// quoted returns a word in the place of the last one, in the quotes that are open there.
// What was typed of it stays as it is.
func (s *shellWords) quoted(typed, word string) string {
	before := s.raw
	rest, ok := strings.CutPrefix(word, typed)
	if !ok {
		rest, before = word, ""
		if s.quote != 0 {
			before = string(s.quote)
		}
	}
	return before + s.escaped(rest)
}

// escaped returns a text as it is typed in the quotes that are open.
func (s *shellWords) escaped(text string) string {
	switch s.quote {
	case '\'':
		return strings.ReplaceAll(text, "'", `'\''`)
	case '"':
		return escapeEach(text, "\"\\$`")
	}
	return escapeEach(text, " !\"#$&'()*;<=>?[\\]^`{|}~")
}

// escapeEach puts a backslash before each of some characters.
func escapeEach(text, characters string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(characters, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
