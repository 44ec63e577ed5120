package lua

// An exprUse says what an expression may be used as.
type exprUse int

const (
	isValue exprUse = iota
	isVariable
	isCall
)

// exprs reads one or more expressions.
func (s *syntax) exprs() {
	s.expr()
	for s.accept(',') {
		s.expr()
	}
}

func (s *syntax) expr() { s.operands(0) }

// binding returns the priorities of a binary operator on its left and on its right, or
// 0 if k is none. An operator whose right priority is lower associates to the right.
func binding(k lexeme) (left, right int) {
	switch k {
	case lexOr:
		return 1, 1
	case lexAnd:
		return 2, 2
	case '<', '>', lexLe, lexGe, lexNe, lexEq:
		return 3, 3
	case lexConcat:
		return 5, 4
	case '+', '-':
		return 6, 6
	case '*', '/', '%':
		return 7, 7
	case '^':
		return 10, 9
	}
	return 0, 0
}

const unaryBinding = 8

// operands reads an expression whose operators bind stronger than limit.
func (s *syntax) operands(limit int) {
	s.enter()
	if s.kind == lexNot || s.kind == '-' || s.kind == '#' {
		s.advance()
		s.operands(unaryBinding)
	} else {
		s.simple()
	}
	for {
		left, right := binding(s.kind)
		if left <= limit {
			break
		}
		s.advance()
		s.operands(right)
	}
	s.leave()
}

func (s *syntax) simple() {
	switch s.kind {
	case lexDots:
		if !s.fn.vararg {
			s.fail("cannot use '...' outside a vararg function")
		}
		s.advance()
	case lexNumber, lexString, lexNil, lexTrue, lexFalse:
		s.advance()
	case '{':
		s.constructor()
	case lexFunction:
		s.advance()
		s.body(false, s.line)
	default:
		s.primary()
	}
}

// primary reads a name or an expression in brackets, with the fields and calls
// that follow.
func (s *syntax) primary() exprUse {
	is := isVariable
	if s.kind == '(' {
		line := s.line
		s.advance()
		s.expr()
		s.close(')', '(', line)
		is = isValue
	} else if s.kind == lexName {
		s.name()
	} else {
		s.fail("unexpected symbol")
	}
	for {
		switch s.kind {
		case '.':
			s.advance()
			s.name()
			is = isVariable
		case '[':
			s.index()
			is = isVariable
		case ':':
			s.advance()
			s.name()
			s.arguments()
			is = isCall
		case '(', '{', lexString:
			s.arguments()
			is = isCall
		default:
			return is
		}
	}
}

// index reads an expression in square brackets.
func (s *syntax) index() {
	s.advance()
	s.expr()
	s.expect(']')
}

func (s *syntax) arguments() {
	switch line := s.line; s.kind {
	case '(':
		if line != s.lastLine {
			s.fail("ambiguous syntax (function call x new statement)")
		}
		s.advance()
		if s.kind != ')' {
			s.exprs()
		}
		s.close(')', '(', line)
	case '{':
		s.constructor()
	case lexString:
		s.advance()
	default:
		s.fail("function arguments expected")
	}
}

func (s *syntax) constructor() {
	line := s.line
	s.expect('{')
	for s.kind != '}' {
		switch {
		case s.kind == '[':
			s.index()
			s.expect('=')
		case s.kind == lexName && s.peek() == '=':
			s.advance()
			s.advance()
		}
		s.expr()
		if !s.accept(',') && !s.accept(';') {
			break
		}
	}
	s.close('}', '{', line)
}

// body reads a function from its parameters on.
func (s *syntax) body(method bool, line int) {
	f := &syntaxFunction{outer: s.fn, line: line}
	s.fn = f
	s.expect('(')
	if method {
		s.declare(1)
	}
	for more := s.kind != ')'; more; more = !f.vararg && s.accept(',') {
		switch s.kind {
		case lexName:
			s.name()
		case lexDots:
			s.advance()
			f.vararg = true // it has a local arg
		default:
			s.fail("<name> or '...' expected")
		}
		s.declare(1)
	}
	s.expect(')')
	s.chunk()
	s.close(lexEnd, lexFunction, line)
	s.fn = f.outer
}
