package script

import "strings"

// maxChain is how many operators may follow one another in one expression
// before the parser, which keeps what is on their left, needs much memory.
const maxChain = 1000

// checkNesting looks at the brackets, blocks and operators of a script before
// the parser does: the parser's own stack has no limit, and a quarter of a
// megabyte of "(" makes it use a quarter of a gigabyte. What is refused here
// would be refused later; strings and comments are passed over.
func checkNesting(name, source string) error {
	depth, chain, line := 0, 0, 1
	for i := 0; i < len(source); {
		switch c := source[i]; {
		case c == '\n':
			line++
			i++
		case c == '(' || c == '{':
			depth++
			i++
		case c == ')' || c == '}' || c == ']':
			depth--
			chain = 0
			i++
		case c == ',' || c == ';' || c == '=':
			chain = 0
			i++
		case c == '"' || c == '\'':
			n := quotedLength(source[i:])
			line += strings.Count(source[i:i+n], "\n")
			i += n
		case c == '[':
			n := longLength(source[i:])
			if n == 0 {
				depth++
				n = 1
			}
			line += strings.Count(source[i:i+n], "\n")
			i += n
		case c == '-' && strings.HasPrefix(source[i:], "--"):
			n := 2 + longLength(source[i+2:])
			if n == 2 {
				n = lineLength(source[i:])
			}
			line += strings.Count(source[i:i+n], "\n")
			i += n
		case c == '-' || c == '^' || c == '#' || c == '.':
			chain++
			i++
		case c == '_' || isAlpha(c):
			n := 1
			for i+n < len(source) && (source[i+n] == '_' || isAlpha(source[i+n]) || isDigit(source[i+n])) {
				n++
			}
			switch source[i : i+n] {
			case "function", "do", "if", "repeat":
				depth++
				chain = 0
			case "end", "until":
				depth--
				chain = 0
			case "local", "return", "then", "else", "elseif", "while", "for":
				chain = 0
			case "not":
				chain++
			}
			i += n
		default:
			i++
		}
		if depth > maxNesting || chain > maxChain {
			return &SyntaxError{Name: name, Line: line, Message: "chunk has too many syntax levels"}
		}
	}
	return nil
}

// quotedLength returns the length of the string literal that s begins with, at
// most to the end of its line.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			return i + 1
		case '\\':
			i++
		case '\n':
			return i
		}
	}
	return len(s)
}

// longLength returns the length of the long bracket that s begins with, [[…]]
// or [=[…]=], or 0.
func longLength(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	n := 1
	for n < len(s) && s[n] == '=' {
		n++
	}
	if n == len(s) || s[n] != '[' {
		return 0
	}
	end := strings.Index(s[n:], "]"+s[1:n]+"]")
	if end < 0 {
		return len(s)
	}
	return n + end + n + 1
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}
