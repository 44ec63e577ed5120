package lua

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// A Token is one word, number, string, sign or comment of a script. Line and Column
// are those of its first character, counted from 1.
type Token struct {
	Text         string
	Line, Column int
}

// A Tree is a parsed script. gopher-lua's parser keeps lines only; a Tree knows
// the token of each node.
type Tree struct {
	Stmts    []ast.Stmt
	Tokens   []Token
	Comments []Token
	at       []int // line that the parser saw -> index of a token
}

// ParseTree parses a script that compiles.
func ParseTree(name, source string) (*Tree, error) {
	t := &Tree{}
	spread, err := t.spread(name, source)
	if err != nil {
		return nil, err
	}
	t.Stmts, err = parse.Parse(strings.NewReader(spread), name)
	return t, err
}

// Token returns the index of the token at which a node begins.
func (t *Tree) Token(n ast.PositionHolder) int {
	return t.at[min(max(n.Line(), 1), len(t.at)-1)]
}

// spread reads the tokens and writes them one to a line, so that the lines that
// the parser notes name tokens. A bracket stays in its line: Lua wants a call's
// on the line of the function.
func (t *Tree) spread(name, source string) (text string, err error) {
	l := &lexer{source: source, line: 1}
	defer l.rescue(name, &err)
	var b strings.Builder
	t.at = append(t.at, 0) // lines count from 1
	line, start := 1, 0    // start: of the line
	token := func(from, in int) Token {
		if in > line {
			_, last := lineEnds(source[start:from])
			line, start = in, start+last
		}
		return Token{source[from:l.at], in, utf8.RuneCountInString(source[start:from]) + 1}
	}
	for {
		for from, in := l.at, l.line; l.skip(); from, in = l.at, l.line {
			if strings.HasPrefix(source[from:], "--") {
				t.Comments = append(t.Comments, token(from, in))
			}
		}
		if l.next(); l.kind == lexEOF {
			return b.String(), nil
		}
		i := len(t.Tokens)
		t.Tokens = append(t.Tokens, token(l.start, l.from))
		if l.kind == '(' && i > 0 {
			b.WriteString(" (")
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.respeltToken())
		for range 1 + l.line - l.from {
			t.at = append(t.at, i)
		}
	}
}
