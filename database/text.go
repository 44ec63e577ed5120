package database

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The first words of statements. The others change the session, the transaction or the schema, name files, or run a
// program of the server.
var (
	reads  = []string{"SELECT", "WITH", "VALUES", "EXPLAIN"}
	writes = []string{"INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "WITH"}
)

// maxText bounds a statement, in bytes.
const maxText = 1 << 20

// prepare checks that a text is one statement of a kind that is allowed, and replaces each ? outside of quotes and
// comments by the placeholder of the database, unless the text has placeholders such as $1 itself. returns says that
// the statement has a RETURNING clause.
func prepare(
	text string, args int, write bool, placeholder func(int) string,
) (out string, returns bool, err error) {
	switch {
	case len(text) > maxText:
		return "", false, fmt.Errorf("the statement has %d bytes, more than %d", len(text), maxText)
	case strings.IndexByte(text, 0) >= 0:
		return "", false, errors.New("the statement has a NUL byte; texts are given as arguments")
	}
	allowed := reads
	if write {
		allowed = writes
	}
	var b strings.Builder
	var first string
	marks, ended, numbered := 0, false, false
	for kind, part := range parts(text) {
		switch {
		case kind == space && strings.HasPrefix(part, "/*") && strings.Contains(part[2:], "/*"):
			return "", false, errors.New("a comment within a comment is not read alike by all databases")
		case kind == space:
			b.WriteString(part)
			continue
		case ended:
			return "", false, errors.New("there is more than one statement; a call takes one")
		case first == "":
			first = strings.ToUpper(part)
			if kind != word || !slices.Contains(allowed, first) {
				return "", false, fmt.Errorf("a statement begins with one of %s, not with %.40q",
					strings.Join(allowed, ", "), part)
			}
		}
		switch {
		case part == ";":
			ended = true
			continue
		case part == "?":
			marks++
			b.WriteString(placeholder(marks))
			continue
		case kind == word && part[0] == '$':
			numbered = true
		case kind == word && strings.EqualFold(part, "returning"):
			returns = true
		}
		b.WriteString(part)
	}
	if first == "" {
		return "", false, errors.New("there is no statement")
	}
	if numbered {
		if marks > 0 && placeholder(1) != "?" {
			return text, returns, errors.New("the statement has both ? and $1; use one of them")
		}
		return strings.TrimRight(text, "; \t\r\n"), returns, nil
	}
	if marks != args {
		return "", false, fmt.Errorf("the statement has %d placeholders (?), and there are %d arguments", marks, args)
	}
	return b.String(), returns, nil
}

// The kinds of parts.
const (
	space  = iota // blanks and comments
	word          // a name, a keyword, a number, a placeholder such as $1
	quoted        // a text, or a name in quotes
	sign          // any other character
)

// parts returns an iterator over the parts of a statement, with their kinds. A quote or a comment that does not end
// reaches to the end of the text.
func parts(text string) func(yield func(kind int, part string) bool) {
	return func(yield func(int, string) bool) {
		for before := byte(0); text != ""; {
			kind, n := part(text, before)
			if !yield(kind, text[:n]) {
				return
			}
			before, text = text[n-1], text[n:]
		}
	}
}

// part returns the kind and the length of the part that a text begins with. before is the byte before it.
func part(text string, before byte) (kind, n int) {
	c := text[0]
	switch {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		return space, 1
	case strings.HasPrefix(text, "--"):
		if n = strings.IndexByte(text, '\n'); n < 0 {
			n = len(text)
		}
		return space, n
	case strings.HasPrefix(text, "/*"):
		return space, commentLength(text)
	case c == '\'' || c == '"' || c == '`':
		return quoted, quoteLength(text, c, c == '\'' && (before == 'E' || before == 'e'))
	case c == '[':
		return sign, 1
	case c == '$':
		if n = dollarLength(text); n > 0 {
			return quoted, n
		}
		n = 1
		for n < len(text) && isWordByte(text[n]) {
			n++
		}
		return word, n
	case isWordByte(c):
		for n = 1; n < len(text) && (isWordByte(text[n]) || text[n] == '$'); n++ {
		}
		return word, n
	}
	return sign, 1
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// commentLength returns the length of a comment as SQLite reads it. Those of PostgreSQL may contain others.
func commentLength(text string) int {
	if n := strings.Index(text[2:], "*/"); n >= 0 {
		return n + 4
	}
	return len(text)
}

// quoteLength returns the length of a text in quotes, in which a quote is doubled. escapes says that a backslash
// protects the next byte (E'…' of PostgreSQL).
func quoteLength(text string, quote byte, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] != quote:
		case i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// dollarLength returns the length of a text in dollar quotes ($$…$$, $tag$…$tag$) of PostgreSQL, or 0.
func dollarLength(text string) int {
	n := 1
	for n < len(text) && isWordByte(text[n]) && (n > 1 || text[n] < '0' || text[n] > '9') {
		n++
	}
	if n >= len(text) || text[n] != '$' {
		return 0
	}
	tag := text[:n+1]
	if end := strings.Index(text[n+1:], tag); end >= 0 {
		return n + 1 + end + len(tag)
	}
	return len(text)
}
