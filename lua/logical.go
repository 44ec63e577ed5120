package lua

import "github.com/yuin/gopher-lua/ast"

// What PUC Lua says of an operand that is made with "and", "or" and "not"
// depends on the code that its compiler makes: to name the operand it walks
// through the code up to the complaint, takes every jump forward as it comes,
// and looks at what wrote the register last (symbexec and getobjname of
// ldebug.c). This file makes that code, in outline, as lcode.c does, and walks
// through it.

// describeLogical says where the value of e comes from, as PUC Lua does, or "".
func (n *normaliser) describeLogical(e ast.Expr) string {
	o := &outline{n: n}
	x := o.expr(e)
	o.toRegister(x)
	return o.walk()
}

// An outline is code that puts one value into one register.
type outline struct {
	n    *normaliser
	code []coded
}

// A coded is one instruction. A test is followed by its jump.
type coded struct {
	op     codedOp
	target int    // of a jump
	name   string // of what is written
	writes bool   // the register
	inside bool   // a test of what is in the register
}

type codedOp int

const (
	codedOther   codedOp = iota
	codedTest            // goes on without the value
	codedTestSet         // goes on with the value, if it jumps
	codedJump
)

// A logical is an expression under way: expdesc of lparser.c.
type logical struct {
	kind   logicalKind
	name   string // of a local that is not loaded yet
	jump   int    // of a comparison
	ifTrue []int  // jumps that leave when the value is true
	if0    []int  // those that leave when it is false
}

type logicalKind int

const (
	inRegister logicalKind = iota
	isLocal                // in a register of its own
	isTrue                 // or another constant that counts as true
	isFalse                // or nil
	isNot                  // of what a test can look at
	isJump                 // a comparison
)

func (o *outline) emit(s coded) int {
	o.code = append(o.code, s)
	return len(o.code) - 1
}

// load puts a value with a name, or none, into the register.
func (o *outline) load(name string) logical {
	o.emit(coded{name: name, writes: true})
	return logical{kind: inRegister}
}

func (o *outline) expr(e ast.Expr) logical {
	switch e := e.(type) {
	case *ast.LogicalOpExpr:
		return o.join(e)
	case *ast.UnaryNotOpExpr:
		return o.not(o.expr(e.Expr))
	case *ast.RelationalOpExpr:
		o.emit(coded{})
		return logical{kind: isJump, jump: o.emit(coded{op: codedJump})}
	case *ast.TrueExpr, *ast.StringExpr:
		return logical{kind: isTrue}
	case *ast.FalseExpr, *ast.NilExpr:
		return logical{kind: isFalse}
	case *ast.IdentExpr:
		if o.n.kind(e.Value) == "local" {
			return logical{kind: isLocal, name: o.n.describeValue(e)}
		}
	}
	if isNumeral(e) {
		return logical{kind: isTrue}
	}
	return o.load(o.n.describeValue(e))
}

// join is luaK_infix and luaK_posfix.
func (o *outline) join(e *ast.LogicalOpExpr) logical {
	left := o.expr(e.Lhs)
	if e.Operator == "and" {
		left.if0 = o.leave(left, isTrue, left.if0)
		o.patchHere(left.ifTrue)
		right := o.expr(e.Rhs)
		right.if0 = append(right.if0, left.if0...)
		return right
	}
	left.ifTrue = o.leave(left, isFalse, left.ifTrue)
	o.patchHere(left.if0)
	right := o.expr(e.Rhs)
	right.ifTrue = append(right.ifTrue, left.ifTrue...)
	return right
}

// leave is luaK_goiftrue and luaK_goiffalse: it adds the jump over the right
// operand to jumps, unless the left one is a constant of the kind that never takes
// it.
func (o *outline) leave(left logical, never logicalKind, jumps []int) []int {
	switch left.kind {
	case never:
		return jumps
	case isJump:
		return append(jumps, left.jump)
	}
	return append(jumps, o.test(left))
}

// test is jumponcond: it leaves if x is true, or false, and returns the jump.
func (o *outline) test(x logical) int {
	s := coded{op: codedTestSet}
	switch x.kind {
	case isNot:
		s = o.code[len(o.code)-1]
		o.code = o.code[:len(o.code)-1]
		s = coded{op: codedTest, inside: s.inside}
		s.writes = s.inside
	case isLocal:
	case inRegister:
		s.inside = true
	default:
		o.load("")
		s.inside = true
	}
	o.emit(s)
	return o.emit(coded{op: codedJump})
}

// not is codenot.
func (o *outline) not(x logical) logical {
	switch x.kind {
	case isTrue:
		x.kind = isFalse
	case isFalse:
		x.kind = isTrue
	case isJump:
	default:
		o.emit(coded{writes: true, inside: x.kind != isLocal})
		x.kind = isNot
	}
	x.ifTrue, x.if0 = x.if0, x.ifTrue
	for _, list := range [][]int{x.ifTrue, x.if0} {
		for _, j := range list {
			o.dropValue(j)
		}
	}
	return x
}

// control returns the test before a jump.
func (o *outline) control(jump int) *coded { return &o.code[jump-1] }

// dropValue makes a test with the value one without.
func (o *outline) dropValue(jump int) {
	if c := o.control(jump); c.op == codedTestSet {
		c.op, c.writes = codedTest, c.inside
	}
}

func (o *outline) patchHere(list []int) {
	for _, j := range list {
		o.dropValue(j)
		o.code[j].target = len(o.code)
	}
}

// toRegister is exp2reg.
func (o *outline) toRegister(x logical) {
	switch x.kind {
	case isLocal:
		o.load(x.name)
	case isTrue, isFalse:
		o.load("")
	case isJump:
		x.ifTrue = append(x.ifTrue, x.jump)
	}
	jumps := append(append([]int{}, x.if0...), x.ifTrue...)
	bare := false
	for _, j := range jumps {
		bare = bare || o.control(j).op != codedTestSet
	}
	ifFalse, ifTrue := 0, 0
	if bare {
		over := -1
		if x.kind != isJump {
			over = o.emit(coded{op: codedJump})
		}
		ifFalse = o.emit(coded{writes: true})
		ifTrue = o.emit(coded{writes: true})
		if over >= 0 {
			o.code[over].target = len(o.code)
		}
	}
	for i, j := range jumps {
		switch c := o.control(j); {
		case c.op == codedTestSet:
			c.writes = true // with the value, or as the test of what is there
			o.code[j].target = len(o.code)
		case i < len(x.if0):
			o.code[j].target = ifFalse
		default:
			o.code[j].target = ifTrue
		}
	}
}

// walk returns the name of what wrote the register last.
func (o *outline) walk() string {
	name := ""
	for i := 0; i < len(o.code); i++ {
		s := o.code[i]
		if s.writes {
			name = s.name
		}
		if s.op == codedJump && s.target > i {
			i = s.target - 1
		}
	}
	return name
}

// isNumeral reports whether PUC Lua's compiler makes a number of e.
func isNumeral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return true
	case *ast.UnaryMinusOpExpr:
		return isNumeral(e.Expr)
	case *ast.ArithmeticOpExpr:
		return isNumeral(e.Lhs) && isNumeral(e.Rhs)
	}
	return false
}
