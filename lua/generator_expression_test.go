package lua

import (
	"fmt"
	"strings"
)

// exprs returns n expressions, now and then one more or less.
func (g *generator) exprs(n int, kind genKind, depth int) []string {
	if g.chance(5) {
		n = max(1, n+g.between(-1, 1))
	}
	list := make([]string, n)
	for i := range list {
		list[i] = g.expr(kind, depth)
	}
	return list
}

// expr returns an expression of a kind; the deeper it may be, the longer.
func (g *generator) expr(kind genKind, depth int) string {
	if g.intn(1000) < g.wild {
		kind = pick(g, []genKind{number, text1, boolean, list, record, object, function, nothing})
	}
	if kind == anything {
		kind = pick(g, plainKinds)
	}
	if v, ok := g.variable(kind); ok && g.chance(40+20*max(0, 2-depth)) {
		return v.name
	}
	e := g.made(kind, depth)
	if g.lines && g.chance(8) {
		return lineBreak + e
	}
	return e
}

// made returns an expression that is more than a variable.
func (g *generator) made(kind genKind, depth int) string {
	deeper := depth - 1
	if depth > 0 && g.chance(8) {
		return g.logical(kind, deeper)
	}
	if depth > 0 && kind == number && g.fn().yields && g.chance(4) {
		return "(" + g.yielding() + ")"
	}
	if depth > 0 && g.chance(12) {
		if call, ok := g.call(kind, deeper); ok {
			return call
		}
	}
	switch kind {
	case number:
		return g.number(depth)
	case text1:
		return g.text(depth)
	case boolean:
		return g.boolean(depth)
	case list:
		items := g.exprs(g.between(0, 5), number, min(deeper, 1))
		for i, e := range items { // the length of a list with holes is undefined
			if _, isNumber := ParseNumber(e); !isNumber {
				items[i] = "(" + e + " or 0)"
			}
		}
		return "{" + strings.Join(items, ", ") + "}"
	case record:
		return g.record(deeper)
	case object:
		return fmt.Sprintf("setmetatable ({v = %s, w = %s}, %s)", g.expr(number, min(deeper, 1)), g.expr(text1, 0), pick(g, []string{"M1", "M1", "M2"}))
	case function:
		return g.lambda()
	case nothing:
		return pick(g, []string{"nil", "nil", "undefined", "(nil)"})
	}
	return "nil"
}

// logical joins two expressions so that both may be the result.
func (g *generator) logical(kind genKind, depth int) string {
	switch g.intn(5) {
	case 0:
		return fmt.Sprintf("(%s and %s or %s)", g.expr(boolean, depth), g.expr(kind, depth), g.expr(kind, depth))
	case 1:
		return fmt.Sprintf("(%s or %s)", pick(g, []string{"nil", "false", "not true", g.expr(kind, depth)}), g.expr(kind, depth))
	case 2:
		return fmt.Sprintf("(%s and %s)", pick(g, []string{"1", "true", "not nil", "\"\"", g.expr(anything, depth)}), g.expr(kind, depth))
	case 3:
		return fmt.Sprintf("(%s)", g.expr(kind, depth))
	}
	return fmt.Sprintf("(not %s and %s or %s)", g.expr(boolean, depth), g.expr(kind, depth), g.expr(kind, depth))
}

var numbers = []string{
	"0", "1", "2", "3", "4", "7", "10", "42", "100", "255", "1000", "65536", "0.5", "1.5", ".25", "3.75", "1e3", "2.5e-3",
	"0x10", "0xFF", "007", "1e15", "123456789", "2147483648", "9007199254740992", "0.1", "-1", "-7", "-0.5", "1e100", "1/0", "math.huge",
}

func (g *generator) number(depth int) string {
	if depth <= 0 {
		return pick(g, numbers)
	}
	deeper := depth - 1
	switch g.intn(17) {
	case 0, 1, 2, 3:
		// The machine's arithmetic gives 0 for -0: "+ 0" makes it so everywhere.
		switch op := pick(g, []string{"+", "-", "*", "/", "%"}); op {
		case "/":
			return fmt.Sprintf("%s / nz (%s) + 0", g.operand(deeper), g.expr(number, deeper))
		default:
			return fmt.Sprintf("%s %s %s + 0", g.operand(deeper), op, g.operand(deeper))
		}
	case 4:
		e := strings.TrimLeft(g.operand(deeper), lineBreak)
		if strings.HasPrefix(e, "-") {
			e = "(" + e + ")"
		}
		if strings.Trim(e, "(0)") == "" {
			e = "1" // what -0 is depends on the other constants of the function
		}
		return "-" + e + " + 0"
	case 5:
		return fmt.Sprintf("#%s", g.primary(list, deeper))
	case 6:
		return fmt.Sprintf("#%s", g.primary(text1, deeper))
	case 7:
		return fmt.Sprintf("(%s [ %s ] or %s)", g.primary(list, deeper), g.expr(number, 0), g.expr(number, deeper))
	case 8:
		return fmt.Sprintf("%s.%s", g.primary(record, deeper), pick(g, []string{"a", "b", "c"}))
	case 9:
		return fmt.Sprintf("%s.v", g.primary(object, deeper))
	case 10:
		return fmt.Sprintf("select (\"#\", %s)", strings.Join(g.exprs(g.between(1, 3), anything, deeper), ", "))
	case 11:
		return fmt.Sprintf("%s (%s) + 0", pick(g, []string{"math.floor", "math.abs", "math.ceil", "tonumber"}), g.expr(number, deeper))
	case 12:
		return fmt.Sprintf("math.%s (%s, %s)", pick(g, []string{"max", "min"}), g.expr(number, deeper), g.expr(number, deeper))
	case 13:
		return fmt.Sprintf("(\"%d\" %s %s + 0)", g.between(-9, 99), pick(g, []string{"+", "-", "*", "%"}), g.operand(deeper))
	case 14:
		if g.fn().vararg {
			return pick(g, []string{"select (\"#\", ...)", "(select (\"#\", ...))"})
		}
		return fmt.Sprintf("%s ^ %d", pick(g, []string{"2", "3", "10", "0.5"}), g.between(0, 4))
	case 15:
		return fmt.Sprintf("%s:byte (%d)", g.primary(text1, deeper), g.between(-2, 3))
	}
	return fmt.Sprintf("%s.%s (%s)", g.primary(record, deeper), "f", g.expr(number, deeper))
}

// operand returns a number that may stand beside an operator.
func (g *generator) operand(depth int) string {
	e := g.expr(number, depth)
	if strings.HasPrefix(e, "-") || strings.ContainsAny(e, " \n") && g.chance(70) {
		return "(" + e + ")"
	}
	return e
}

// primary returns an expression that may be indexed or called.
func (g *generator) primary(kind genKind, depth int) string {
	if v, ok := g.variable(kind); ok && g.chance(85) {
		return v.name
	}
	return "(" + g.expr(kind, depth) + ")"
}

var texts = []string{
	`""`, `"a"`, `"b"`, `"hello"`, `'single'`, `"two words"`, `"10"`, `"0x1F"`, `" 7 "`, `"-3.5e1"`, `"line\nbreak"`, `"tab\tq\"\\"`,
	`"\65\066\0677"`, `[[long]]`, `[==[ ]] ]=] ]==]`, `"äöü"`, `"x y z"`, `"abcabc"`,
}

func (g *generator) text(depth int) string {
	if depth <= 0 {
		return pick(g, texts)
	}
	deeper := depth - 1
	switch g.intn(11) {
	case 0, 1, 2:
		parts := make([]string, g.between(2, 4))
		for i := range parts {
			parts[i] = g.joinable(deeper)
		}
		return strings.Join(parts, " .. ")
	case 3: // not of objects: their addresses differ between runs
		return fmt.Sprintf("tostring (%s)", pick(g, []string{pick(g, numbers), pick(g, texts), "true", "nil", "#" + g.primary(list, 0)}))
	case 4:
		return fmt.Sprintf("%s:sub (%d, %d)", g.primary(text1, deeper), g.between(-3, 4), g.between(-2, 6))
	case 5:
		return fmt.Sprintf("%s:%s ()", g.primary(text1, deeper), pick(g, []string{"upper", "lower", "reverse"}))
	case 6:
		return fmt.Sprintf("%s.%s", g.primary(record, deeper), pick(g, []string{"s", "t"}))
	case 7:
		return fmt.Sprintf("%s:rep (%d)", g.primary(text1, deeper), g.between(-1, 3))
	case 8:
		return fmt.Sprintf("(%s:gsub (%s, %s))", g.primary(text1, deeper), pick(g, []string{`"%a"`, `"(%w)(%w)"`, `"."`, `"%s+"`, `"b*"`}),
			pick(g, []string{`"<%0>"`, `"%1"`, `""`, `{a = "A", b = 2, c = false}`, "function (x) return x:upper () end", "function () end"}))
	case 9:
		return fmt.Sprintf("type (%s)", g.expr(anything, deeper))
	}
	return fmt.Sprintf("table.concat (%s, %s)", g.primary(list, deeper), pick(g, []string{`","`, `""`, `" "`, "1"}))
}

func (g *generator) joinable(depth int) string {
	e := g.expr(pick(g, []genKind{text1, text1, number, object}), depth)
	if strings.ContainsAny(e, " -\n") || e[0] >= '0' && e[0] <= '9' || e[0] == '.' {
		return "(" + e + ")"
	}
	return e
}

func (g *generator) boolean(depth int) string {
	if depth <= 0 {
		return pick(g, []string{"true", "false", "nil", "not nil", "1 == 1"})
	}
	deeper := depth - 1
	switch g.intn(7) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", g.expr(number, deeper), pick(g, []string{"<", "<=", ">", ">=", "==", "~="}), g.expr(number, deeper))
	case 2:
		return fmt.Sprintf("(%s %s %s)", g.expr(text1, deeper), pick(g, []string{"<", "<=", ">", ">=", "==", "~="}), g.expr(text1, deeper))
	case 3:
		return fmt.Sprintf("(%s %s %s)", g.expr(object, deeper), pick(g, []string{"<", "<=", ">", ">=", "==", "~="}), g.expr(object, deeper))
	case 4:
		return fmt.Sprintf("not %s", g.expr(boolean, deeper))
	case 5:
		return fmt.Sprintf("(%s %s %s)", g.expr(anything, deeper), pick(g, []string{"==", "~="}), g.expr(anything, deeper))
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(boolean, deeper), pick(g, []string{"and", "or"}), g.expr(boolean, deeper))
}

func (g *generator) record(depth int) string {
	fields := []string{
		"a = " + g.expr(number, min(depth, 1)), `["b"] = ` + g.expr(number, min(depth, 1)), "c = " + g.expr(number, 0),
		"s = " + g.expr(text1, min(depth, 1)), "t = " + g.expr(text1, 0), "f = " + pick(g, []string{"math.abs", g.unary()}),
	}
	for i := range fields { // in any order
		j := g.intn(i + 1)
		fields[i], fields[j] = fields[j], fields[i]
	}
	if g.chance(20) {
		fields = append(fields, "[1] = true", "...", "[true] = 1", "nil", "2")
		if !g.fn().vararg {
			fields[len(fields)-4] = "nil"
		}
	}
	return "{" + strings.Join(fields, pick(g, []string{", ", "; "})) + pick(g, []string{"", ",", ";"}) + "}"
}

// unary returns a short function of a number.
func (g *generator) unary() string {
	x := pick(g, []string{"x", "y", "self"})
	return fmt.Sprintf("function (%s, ...) tick () return %s %s %s + 0 end", x, x, pick(g, []string{"+", "-", "*"}), pick(g, numbers[:18]))
}

// call returns a call of a visible function that gives a kind.
func (g *generator) call(kind genKind, depth int) (string, bool) {
	var found []genVar
	for _, v := range g.visible(function) {
		if v.gives == kind {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return "", false
	}
	v := pick(g, found)
	args := make([]string, len(v.takes))
	for i, k := range v.takes {
		args[i] = g.expr(k, min(depth, 1))
	}
	switch {
	case len(args) > 0 && g.intn(1000) < 2*g.wild:
		args = args[1:]
	case g.chance(15):
		args = append(args, g.expr(anything, 0), pick(g, []string{"nil", "1", v.name}))
	}
	e := fmt.Sprintf("%s (%s)", v.name, strings.Join(args, ", "))
	if g.chance(30) {
		return "(" + e + ")", true
	}
	return e, true
}

// lambda returns a function expression.
func (g *generator) lambda() string {
	if g.chance(60) {
		return g.unary()
	}
	return pick(g, []string{
		"function () end", "function (...) return ... end", "function (...) return select (\"#\", ...), ... end",
		"function (x) tick () return x end", "function (x, y) tick () return y, x end", "tostring", "type", "math.max", "error",
		"function (x) tick () error (x, 2) end", "function (x) tick () return x.y.z end", "function () tick () return arg end",
		"function (...) return arg end", "function (...) return arg.n, ... end",
	})
}
