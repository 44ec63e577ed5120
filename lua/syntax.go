package lua

import (
	"fmt"
	"unicode/utf8"
)

// maxLocals is how many locals one function may have at a time (LUAI_MAXVARS).
const maxLocals = 200

// maxSyntaxDepth is the depth to which blocks and expressions nest: PUC Lua's
// LUAI_MAXCCALLS less the calls that lead to a loadstring.
const maxSyntaxDepth = maxNesting - 2

// A syntax checks a script against the grammar of Lua 5.1, and builds no tree:
// gopher-lua's parser does that. The messages of that parser say little, it accepts
// more than Lua, and it may overflow Go's stack unless nesting is limited here.
type syntax struct {
	lexer
	kind     lexeme // of the present token
	lastLine int    // in which the token before it ends
	ahead    bool   // the lexer has read one token more
	depth    int
	fn       *syntaxFunction
}

// A syntaxFunction is a function that is being checked.
type syntaxFunction struct {
	outer  *syntaxFunction
	line   int // where it is defined, 0 for the script
	vararg bool
	locals int // that are visible
	loops  int // around the present token
}

// checkSyntax returns source in the spelling for gopher-lua's parser, or a
// *SyntaxError with PUC Lua's message.
func checkSyntax(name, source string) (respelt string, err error) {
	s := &syntax{lexer: lexer{source: source, line: 1}, fn: &syntaxFunction{vararg: true}}
	defer s.rescue(name, &err)
	s.advance()
	s.chunk()
	s.expectAt(lexEOF)
	return s.respelt(), nil
}

// syntaxError makes the error of a refusal. It has a column if the token begins in the
// line that the message names.
func (r *refusal) syntaxError(name, source string) *SyntaxError {
	e := &SyntaxError{Name: name, Line: r.line, Message: r.message, Near: r.near, Source: SourceLine(source, r.line)}
	if r.from != r.line {
		return e
	}
	line := source[:r.start]
	if _, last := lineEnds(line); last > 0 {
		line = line[last:]
	}
	e.Column = utf8.RuneCountInString(line) + 1
	if whole, n := utf8.DecodeRuneInString(source[r.start:]); n > 1 && r.near == source[r.start:r.start+1] {
		e.Near = string(whole) // PUC Lua shows its first byte
	}
	return e
}

// advance goes to the next token.
func (s *syntax) advance() {
	s.lastLine = s.line
	if !s.ahead {
		s.next()
	}
	s.ahead = false
	s.kind = s.lexer.kind
}

// peek returns the kind of the token after the present one.
func (s *syntax) peek() lexeme {
	s.next()
	s.ahead = true
	return s.lexer.kind
}

// fail refuses the present token.
func (s *syntax) fail(message string) {
	switch s.kind {
	case 0: // a byte of 0 has no name
		s.refuse(message, "")
	case lexGoto:
		message = "goto and labels are not part of Lua 5.1"
	}
	s.refuse(message, s.text(s.kind))
}

func (s *syntax) failExpected(k lexeme) { s.fail("'" + k.String() + "' expected") }

// accept passes over a token if it is of kind k.
func (s *syntax) accept(k lexeme) bool {
	if s.kind != k {
		return false
	}
	s.advance()
	return true
}

func (s *syntax) expectAt(k lexeme) {
	if s.kind != k {
		s.failExpected(k)
	}
}

func (s *syntax) expect(k lexeme) {
	s.expectAt(k)
	s.advance()
}

// close expects the token that closes what open began in line.
func (s *syntax) close(k, open lexeme, line int) {
	if s.kind != k && line != s.line {
		s.fail(fmt.Sprintf("'%s' expected (to close '%s' at line %d)", k, open, line))
	}
	s.expect(k)
}

func (s *syntax) name() {
	s.expectAt(lexName)
	s.advance()
}

func (s *syntax) enter() {
	if s.depth++; s.depth > maxSyntaxDepth {
		s.refuse("chunk has too many syntax levels", "")
	}
}

func (s *syntax) leave() { s.depth-- }

// bound refuses a function that has too many of something.
func (s *syntax) bound(n, limit int, what string) {
	if n > limit {
		s.refuse(tooMany(s.fn.line, limit, what), "")
	}
}

// tooMany says that the function at a line, 0 for the script, has too many of
// something.
func tooMany(line, limit int, what string) string {
	if line == 0 {
		return fmt.Sprintf("main function has more than %d %s", limit, what)
	}
	return fmt.Sprintf("function at line %d has more than %d %s", line, limit, what)
}

// declare counts n locals. Those of a "local" are visible only after it, but here
// their number alone matters.
func (s *syntax) declare(n int) {
	s.fn.locals += n
	s.bound(s.fn.locals, maxLocals, "local variables")
}

// chunk reads statements up to a word that ends a block.
func (s *syntax) chunk() {
	s.enter()
	for last := false; !last && !s.blockEnds(); {
		last = s.statement()
		s.accept(';')
	}
	s.leave()
}

func (s *syntax) blockEnds() bool {
	switch s.kind {
	case lexElse, lexElseif, lexEnd, lexUntil, lexEOF:
		return true
	}
	return false
}

// block reads statements with their own locals.
func (s *syntax) block() {
	locals := s.fn.locals
	s.chunk()
	s.fn.locals = locals
}

// statement reads a statement. It reports whether that must be the last of its
// block.
func (s *syntax) statement() (last bool) {
	line := s.line
	switch s.kind {
	case lexIf:
		s.ifStatement(line)
	case lexWhile:
		s.advance()
		s.expr()
		s.expect(lexDo)
		s.loop()
		s.close(lexEnd, lexWhile, line)
	case lexDo:
		s.advance()
		s.block()
		s.close(lexEnd, lexDo, line)
	case lexFor:
		s.forStatement(line)
	case lexRepeat:
		s.advance()
		locals := s.fn.locals
		s.fn.loops++
		s.chunk()
		s.close(lexUntil, lexRepeat, line)
		s.expr() // sees the locals of the block
		s.fn.loops--
		s.fn.locals = locals
	case lexFunction:
		s.functionStatement(line)
	case lexLocal:
		s.advance()
		s.localStatement()
	case lexReturn:
		s.advance()
		if !s.blockEnds() && s.kind != ';' {
			s.exprs()
		}
		return true
	case lexBreak:
		s.advance()
		if s.fn.loops == 0 {
			s.fail("no loop to break")
		}
		return true
	default:
		s.exprStatement()
	}
	return false
}

// loop reads the body of a loop.
func (s *syntax) loop() {
	s.fn.loops++
	s.block()
	s.fn.loops--
}

func (s *syntax) ifStatement(line int) {
	for more := true; more; more = s.kind == lexElseif {
		s.advance()
		s.expr()
		s.expect(lexThen)
		s.block()
	}
	if s.accept(lexElse) {
		s.block()
	}
	s.close(lexEnd, lexIf, line)
}

func (s *syntax) forStatement(line int) {
	locals := s.fn.locals
	s.advance()
	s.name()
	s.declare(4) // PUC Lua has three of its own
	switch s.kind {
	case '=':
		s.advance()
		s.expr()
		s.expect(',')
		s.expr()
		if s.accept(',') {
			s.expr()
		}
	case ',', lexIn:
		for s.accept(',') {
			s.name()
			s.declare(1)
		}
		s.expect(lexIn)
		s.exprs()
	default:
		s.fail("'=' or 'in' expected")
	}
	s.expect(lexDo)
	s.loop()
	s.close(lexEnd, lexFor, line)
	s.fn.locals = locals
}

func (s *syntax) functionStatement(line int) {
	s.advance()
	s.name()
	for s.accept('.') {
		s.name()
	}
	method := s.accept(':')
	if method {
		s.name()
	}
	s.body(method, line)
}

func (s *syntax) localStatement() {
	if s.accept(lexFunction) {
		s.name()
		s.declare(1)
		s.body(false, s.line)
		return
	}
	n := 0
	for {
		s.name()
		n++
		s.bound(s.fn.locals+n, maxLocals, "local variables")
		if !s.accept(',') {
			break
		}
	}
	if s.accept('=') {
		s.exprs()
	}
	s.fn.locals += n
}

// exprStatement reads a call or an assignment.
func (s *syntax) exprStatement() {
	is := s.primary()
	if is == isCall {
		return
	}
	for n := 1; ; n++ {
		if is != isVariable {
			s.fail("syntax error")
		}
		if !s.accept(',') {
			break
		}
		is = s.primary()
		s.bound(n, maxSyntaxDepth-s.depth, "variables in assignment")
	}
	s.expect('=')
	s.exprs()
}
