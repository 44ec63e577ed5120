package lua

import (
	"fmt"
	"strings"
)

// classes writes the metatables M1 and M2 with some of the events each.
func (g *generator) classes() {
	for _, name := range []string{"M1", "M2"} {
		g.open("%s%s = {", pick(g, []string{"local ", "local ", ""}), name)
		event := func(percent int, format string, args ...any) {
			if g.chance(percent) {
				g.line(format+",", args...)
			}
		}
		for _, e := range []string{"add", "sub", "mul", "div", "mod", "pow"} {
			event(70, "__%s = function (x, y) tick (30) return %s end", e, g.metaResult(e))
		}
		event(70, "__unm = function (x, y) tick (30) return %s end", pick(g, []string{"-x.v + 0", "x", "x.w"}))
		event(70, "__concat = function (x, y) tick (30) return (type (x) == \"table\" and x.w or x) .. \"|\" .. (type (y) == \"table\" and y.w or y) end")
		event(50, "__eq = function (x, y) tick (30) return %s end", pick(g, []string{"x.v == y.v", "true", "nil", "\"yes\""}))
		event(70, "__lt = function (x, y) tick (30) return %s end", pick(g, []string{"x.v < y.v", "x.w < y.w", "1"}))
		event(50, "__le = function (x, y) tick (30) return %s end", pick(g, []string{"x.v <= y.v", "nil"}))
		event(60, "__call = function (self, ...) tick (30) return %s end", pick(g, []string{"self.v, ...", "select (\"#\", ...)", "..."}))
		event(60, "__index = %s", pick(g, []string{
			"function (t, k) tick (30) return k end", "setmetatable ({x = 2}, {__index = {y = 3}})", "setmetatable ({}, {__index = 5})", "{x = 1, y = \"why\", m = function (self, z) return self.v, z end}", "string", "function (t, k) tick (30) return rawget (t, \"v\") end",
		}))
		event(40, "__newindex = %s", pick(g, []string{
			"function (t, k, v) tick (30) rawset (t, k, v) end", "function (t, k, v) tick (30) rawset (t, \"last\", k) end", "{}", "setmetatable ({}, {__newindex = function (t, k, v) show (k, v) end})", "true", "function (t, k, v) error (\"no \" .. tostring (k)) end",
		}))
		event(40, "__tostring = function (x) tick (30) return %s end", pick(g, []string{"\"object \" .. x.w", "x.w", "\"M\""}))
		event(10, "__metatable = \"locked\"")
		g.close("}")
		g.declare(genVar{name: name, kind: nothing})
	}
}

// metaResult is what an operator of a class gives.
func (g *generator) metaResult(event string) string {
	return pick(g, []string{
		"\"" + event + "\"", "(type (x) == \"table\" and x.v or x)", "type (x) .. type (y)", "x", "nil",
		"(type (x) == \"table\" and x.v or x) + (type (y) == \"table\" and y.v or y)", "setmetatable ({v = 1, w = \"" + event + "\"}, M1), 2",
	})
}

// body writes n statements.
func (g *generator) body(n int) {
	for range n {
		g.statement()
	}
}

func (g *generator) statement() {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		g.simple()
		return
	}
	switch g.intn(31) {
	case 29:
		if g.chance(30) {
			g.bulk()
		}
	case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11:
		g.simple()
	case 12, 13:
		g.ifStatement()
	case 14:
		g.whileStatement()
	case 15:
		g.repeatStatement()
	case 16, 17:
		g.numericFor()
	case 18, 19:
		g.genericFor()
	case 20:
		g.open("do")
		g.block(func() { g.body(g.between(1, 3)) })
		g.close("end")
	case 21, 22, 23:
		g.functionStatement()
	case 24:
		g.recursion()
	case 25, 26:
		g.coroutine()
	case 27:
		g.errorPath()
	case 28:
		g.closures()
	default:
		g.ending()
	}
}

// simple writes a statement without statements in it.
func (g *generator) simple() {
	switch g.intn(22) {
	case 0, 1, 2, 3, 4:
		kind := pick(g, plainKinds)
		e, name := g.expr(kind, 3), g.name()
		g.line("local %s = %s", name, e)
		g.declare(genVar{name: name, kind: kind})
	case 5:
		e, n1, n2 := g.exprs(2, number, 2), g.name(), g.name()
		if n1 == n2 {
			n2 += "_"
		}
		g.line("local %s, %s = %s", n1, n2, strings.Join(e, ", "))
		g.declare(genVar{name: n1, kind: number})
		g.declare(genVar{name: n2, kind: number})
	case 6, 7, 8, 9:
		g.assignment()
	case 10, 11:
		g.multipleAssignment()
	case 12, 13, 14, 15:
		g.line("show (%s)", strings.Join(g.exprs(g.between(1, 3), anything, 3), ", "))
	case 16:
		if v, ok := g.variable(list); ok {
			g.line(pick(g, []string{"%[1]s [#%[1]s + 1] = %[2]s", "table.insert (%[1]s, %[2]s or 0)", "table.insert (%[1]s, 1, %[2]s or 0)", "table.remove (%[1]s)",
				"table.remove (%[1]s, 1)", "%[1]s [#%[1]s] = nil", "table.sort (%[1]s)", "table.sort (%[1]s, function (x, y) return x > y end)",
				"show (unpack (%[1]s))", "show (next (%[1]s) == nil, #%[1]s, %[1]s [1])"}), v.name, g.expr(number, 2))
		}
	case 17:
		g.line("G1 = %s", pick(g, []string{"[[\nfirst line gone]]", "\"\\\n\"", "[=[two\nlines\n]=]", "'\\\r\n'", "[[\r\nx\ry]]"}))
		g.objectStatement()
	case 18:
		g.line("%s = %s", pick(g, []string{"G1", "G2"}), g.expr(anything, 2))
		g.line("show (%s)", pick(g, []string{"G1", "G2", "_G.G1", "G1 == G2", "rawget (_G, \"G2\")"}))
	case 19:
		if g.fn().yields {
			g.line("show (%s)", strings.Join(g.yield(), ", "))
			return
		}
		g.line("show (select (%d, %s))", g.between(1, 3), strings.Join(g.exprs(3, anything, 1), ", "))
	case 20:
		if g.fn().vararg {
			g.line("show (%s)", pick(g, []string{"...", "(...)", "..., 1", "select (2, ...)", "{...}", "#{...} > 100", "unpack ({...}, 1, 2)"}))
		}
	default:
		g.line("show (%s)", strings.Join(g.exprs(2, pick(g, plainKinds), 3), ", "))
	}
}

// value returns what is assigned: a string that grows in a loop is cut.
func (g *generator) value(kind genKind, depth int) string {
	e := g.expr(kind, depth)
	if g.wild > 0 {
		return "cut (" + e + ")"
	}
	return e
}

func (g *generator) assignment() {
	kind := pick(g, plainKinds)
	v, ok := g.variable(kind)
	if !ok {
		return
	}
	switch {
	case kind == record && g.chance(60):
		field := pick(g, []string{"a", "b", "c"})
		g.line("%s%s = %s", v.name, pick(g, []string{"." + field, `["` + field + `"]`, "." + field}), g.value(number, 2))
	case kind == list && g.chance(60):
		g.line("if #%[1]s > 0 then %[1]s [%[2]s] = %[3]s or 0 end", v.name, pick(g, []string{"1", "#" + v.name}), g.value(number, 2))
	case kind == object && g.chance(70):
		g.line("%s.%s = %s", v.name, pick(g, []string{"v", "v", "new", "x"}), g.value(number, 2))
	case kind == text1:
		g.line("%s = cut (%s)", v.name, g.expr(kind, 3))
	case kind == number && g.chance(10):
		g.line("%s = round (%s) + 0", v.name, g.value(kind, 3))
	default:
		g.line("%s = %s", v.name, g.value(kind, 3))
	}
}

// multipleAssignment writes one of two or three targets, which may depend on
// one another.
func (g *generator) multipleAssignment() {
	var targets, values []string
	for range g.between(2, 3) {
		target, value := "G1", g.value(anything, 1)
		switch v, ok := g.variable(pick(g, []genKind{number, number, list, record})); {
		case ok && v.kind == number:
			target, value = v.name, g.value(number, 2)
		case ok && v.kind == list:
			target, value = fmt.Sprintf("%[1]s [#%[1]s + 1]", v.name), g.value(number, 1)
		case ok:
			target, value = v.name+"."+pick(g, []string{"a", "b", "c"}), g.value(number, 2)
		}
		targets, values = append(targets, target), append(values, value)
	}
	if v, ok := g.variable(number); ok && g.chance(40) { // a swap
		targets[0], values[1] = v.name, v.name
	}
	// Two new items of one list would be a matter of the order of storing.
	if strings.Count(strings.Join(targets, ""), "#") > 1 {
		targets[0] = "G2"
	}
	g.line("%s = %s", strings.Join(targets, ", "), strings.Join(values, ", "))
}

// objectStatement shows what the metatable of an object does.
func (g *generator) objectStatement() {
	g.open("try (function ()")
	g.pushFunc(&genFunc{})
	g.line("local o, p = %s, %s", g.expr(object, 1), g.expr(pick(g, []genKind{object, number, text1}), 1))
	switch g.intn(8) {
	case 0, 1:
		g.line("return o %s p", pick(g, []string{"+", "-", "*", "/", "%", "^", "..", "<", "<=", "==", "~=", ">", ">="}))
	case 2:
		g.line("return p %s o", pick(g, []string{"+", "-", "*", "/", "%", "^", "..", "<", "<=", "==", "~=", ">", ">="}))
	case 3:
		g.line("return o (p, 1), -o")
	case 4:
		g.line("return o.x, o [1], o.zzz, o.v")
	case 5:
		g.line("o.x = p o [1] = 2 return rawget (o, \"x\"), rawget (o, 1), o.last")
	case 6:
		g.line("return o:m (p)")
	default:
		g.line("return tostring (o):gsub (\"0x%%x+\", \"\"), getmetatable (o) == M1, #o.w, p .. o .. p")
	}
	g.popFunc()
	g.close("end)")
}

func (g *generator) ifStatement() {
	g.open("if %s then", g.expr(boolean, 3))
	g.block(func() { g.body(g.between(0, 3)) })
	for range g.between(0, 2) {
		g.indent--
		g.open("elseif %s then", g.expr(boolean, 2))
		g.block(func() { g.body(g.between(0, 2)) })
	}
	if g.chance(50) {
		g.indent--
		g.open("else")
		g.block(func() { g.body(g.between(0, 2)) })
	}
	g.close("end")
}

// loop writes the body of a loop.
func (g *generator) loop(n int) {
	g.fn().loops++
	g.line("tick ()")
	g.body(n)
	if g.chance(20) {
		g.line("if %s then %sbreak end", g.expr(boolean, 1), pick(g, []string{"", "show (1) ", "do end "}))
	}
	g.fn().loops--
}

func (g *generator) whileStatement() {
	n := g.name()
	g.line("local %s = %d", n, g.between(0, 4))
	g.open("while %[1]s > 0 %[2]s do", n, pick(g, []string{"", "", "and true", "or false", "and " + g.expr(boolean, 1)}))
	g.block(func() {
		g.line("%[1]s = %[1]s - 1", n)
		if g.chance(15) {
			g.line("while true do tick () break end")
		}
		g.loop(g.between(0, 3))
	})
	g.close("end")
	g.declare(genVar{name: n, kind: number})
}

func (g *generator) repeatStatement() {
	n, inner := g.name(), g.name()
	g.line("local %s = %d", n, g.between(0, 3))
	g.declare(genVar{name: n, kind: nothing})
	g.open("repeat")
	g.block(func() {
		g.line("tick ()")
		g.line("local %s_ = %s", inner, g.expr(number, 1))
		g.line("%[1]s = %[1]s - 1", n)
		g.declare(genVar{name: inner + "_", kind: number})
		g.fn().loops++
		g.body(g.between(0, 2))
		g.fn().loops--
		g.indent--
		g.line("until %s < 0 or %s", n, pick(g, []string{"not " + inner + "_", "false", g.expr(boolean, 1), inner + "_ == 1"}))
	})
}

func (g *generator) numericFor() {
	v := g.name()
	bounds := pick(g, []string{"1, 3", "3, 1, -1", "1, 0", "0, 1, 0.25", "-2, 2", "1, 2, 5", "\"1\", 2", "1, \"3\"", "5, \"1\", \"-2\"", "1, 4, 2", "0.5, 2", "1, -1 / 0", "10, 8, -1",
		fmt.Sprintf("1, #%s", g.primary(list, 1)), fmt.Sprintf("%d, 3", g.between(-1, 2)), "3, 1", "1, 3, 1 / 0"})
	if g.intn(1000) < g.wild {
		bounds = g.expr(anything, 1) + ", " + g.expr(anything, 1) + pick(g, []string{"", ", " + g.expr(anything, 0)})
	}
	g.open("for %s = %s do", v, bounds)
	g.block(func() {
		g.declare(genVar{name: v, kind: number})
		g.loop(g.between(0, 3))
		if g.chance(20) {
			g.line("%s = %s", v, g.expr(number, 1))
		}
	})
	g.close("end")
}

func (g *generator) genericFor() {
	k, v := g.name(), g.name()
	if k == v {
		v += "_"
	}
	kind := number
	switch g.intn(8) {
	case 7:
		g.open("for %s, %s in %s do", k, v, pick(g, []string{
			"(function () return {f = function (_, i) i = (i or 0) + 1 if i < 4 then return i, i end end} end) ().f", "(function () return pairs end) () ({2})", "({ipairs}) [1] ({1, 2})",
			"(function () return ipairs, {5, 6} end) ()", "next, {3}", "next, {4}, nil, 5", "(function () return \"a b\" end) ():gmatch (\"%w\")",
		}))
	case 0, 1:
		g.open("for %s, %s in ipairs (%s) do", k, v, g.expr(list, 1))
	case 2:
		g.open("for %s, %s in keys (%s) do", k, v, g.expr(record, 1))
		kind = anything
	case 3:
		g.open("for %s, %s in (function (s, c) if c < %d then return c + 1, c * s end end), %s, 0 do", k, v, g.between(0, 4), pick(g, []string{"1", "2", "10"}))
	case 4:
		g.open("for %s, %s in coroutine.wrap (function () for i = 1, %d do coroutine.yield (i, i * 2) end end) do", k, v, g.between(0, 4))
	case 5:
		g.open("for %s, %s in (%s):gmatch (\"(%%w)(%%w*)\") do", k, v, g.expr(text1, 1))
		kind = text1
	default:
		g.open("for %s, %s in pairs ({%s}) do", k, v, g.expr(number, 1))
	}
	g.block(func() {
		if kind != anything {
			g.declare(genVar{name: k, kind: kind})
			g.declare(genVar{name: v, kind: kind})
		} else {
			g.declare(genVar{name: k, kind: number})
			g.declare(genVar{name: v, kind: text1})
		}
		g.loop(g.between(0, 3))
	})
	g.close("end")
}
