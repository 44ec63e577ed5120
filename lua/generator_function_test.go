package lua

import (
	"fmt"
	"strings"
)

// functionStatement writes a function, of which there are several forms, and
// mostly a call of it.
func (g *generator) functionStatement() {
	v := genVar{name: g.name(), kind: function, gives: pick(g, plainKinds[:5])}
	inner := &genFunc{vararg: g.chance(30)}
	var params []string
	for i := range g.between(0, 3) {
		p := genVar{name: fmt.Sprintf("p%d", i), kind: pick(g, plainKinds)}
		params = append(params, p.name)
		inner.vars = append(inner.vars, p)
		v.takes = append(v.takes, p.kind)
	}
	if inner.vararg {
		params = append(params, "...")
	}
	list := strings.Join(params, ", ")
	holder, hasHolder := g.variable(record)
	before := false
	switch form := g.intn(6); {
	case form == 0:
		g.open("local %s = function (%s)", v.name, list)
	case form == 1 && hasHolder:
		v.name = holder.name + ".f"
		v.takes, v.gives = []genKind{number}, number
		inner.vars, inner.vararg = []genVar{{name: "p0", kind: number}}, false
		g.open("function %s (p0)", v.name)
	case form == 2 && hasHolder:
		v.name = holder.name + ":g"
		v.gives, v.kind = number, nothing
		inner.vars = append(inner.vars, genVar{name: "self", kind: record})
		g.open("function %s (%s)", v.name, list)
	case form == 3:
		v.name = pick(g, []string{"F1", "F2"})
		g.open("function %s (%s)", v.name, list)
	default:
		before = true
		g.open("local function %s (%s)", v.name, list)
	}
	if before {
		g.declare(genVar{name: v.name, kind: nothing})
	}
	g.pushFunc(inner)
	g.line("tick ()")
	g.body(g.between(0, 4))
	g.returned(v.gives)
	g.popFunc()
	g.close("end")
	if v.kind == function && !strings.Contains(v.name, ".") {
		g.declare(v)
	}
	args := make([]string, len(v.takes))
	for i, k := range v.takes {
		args[i] = g.expr(k, 1)
	}
	if g.chance(70) {
		g.line("show (%s (%s))", v.name, strings.Join(args, ", "))
	}
}

// returned writes what a function gives back.
func (g *generator) returned(kind genKind) {
	switch call, ok := g.call(kind, 1); {
	case ok && g.chance(30):
		g.line("return %s", call) // a tail call, unless in parentheses
	case g.chance(85):
		e := g.expr(kind, 2)
		if kind == text1 {
			e = "cut (" + e + ")"
		}
		if g.chance(25) {
			e += ", " + g.expr(anything, 1)
		}
		g.line("return %s%s", e, pick(g, []string{"", ";"}))
	}
}

// recursion writes one of a few functions that call themselves.
func (g *generator) recursion() {
	f := pick(g, []string{"f", "g", "r"})
	g.line("%s", strings.NewReplacer("F", f, "N", fmt.Sprint(g.between(0, 9))).Replace(pick(g, []string{
		"local function F (n) tick () if n < 2 then return n end return F (n - 1) + F (n - 2) end show (F (N))",
		"local function F (n, acc) tick () if n == 0 then return acc end return F (n - 1, acc * n) end show (F (N, 1))",
		"local F function F (n, ...) tick () if n == 0 then return ... end return F (n - 1, n, ...) end show (F (N))",
		"local even, odd function even (n) tick () if n == 0 then return true end return odd (n - 1) end function odd (n) tick () if n == 0 then return false end return even (n - 1) end show (even (N))",
		"local function F (a, b) while b ~= 0 do tick () a, b = b, a % b end return a end show (F (N * 6, 18))",
		"local F = function (n) tick () if n == 0 then error (\"bottom\") end return 1 + _G.rec (n - 1) end rec = F try (F, N)",
		"local function F (t, n) tick () if n > 0 then t [#t + 1] = n F (t, n - 1) t [#t + 1] = -n end return t end show (F ({}, N))",
	})))
}

// closures writes functions that share variables and outlive them.
func (g *generator) closures() {
	g.line("%s", strings.ReplaceAll(pick(g, []string{
		"do local fs = {} for i = 1, N do local j = i * 2 fs [i] = function (d) j = j + (d or 0) return i, j end end for i = 1, N do show (fs [i] (i)) show (fs [i] ()) end end",
		"do local a = N local function get () return a end local function set (x) a = x end set (7) show (a, get ()) a = 8 show (get ()) pcall (error) a = 9 show (get ()) end",
		"do local fs = {} local i = 0 while i < N do i = i + 1 local k = i fs [i] = function () k = k + 1 return k end if i == 2 then break end end for _, f in ipairs (fs) do show (f (), f ()) end end",
		"do local fs = {} local i = 0 repeat i = i + 1 local k = i fs [i] = function () return k, i end until k >= N for _, f in ipairs (fs) do show (f ()) end end",
		"do local function counter () local c = 0 return function () c = c + 1 return c end, function () return c end end local inc, get = counter () inc () inc () show (get (), (counter ()) ()) end",
		"do local x = N local f = function (...) local y = ... return function () x = x + y return x end end local g, h = f (1), f (10) show (g (), h (), g (), x) end",
		"do local a = 1 local f try (function () local b = N f = function () b = b + 1 a = a + 1 return a, b end f () error (\"out\") end) show (f ()) show (f ()) show (a) end",
		"do local co = coroutine.wrap (function () local u = N local f = function () u = u + 1 return u end while true do coroutine.yield (f) u = u * 2 end end) local f = co () show (f ()) co () show (f ()) end",
	}), "N", fmt.Sprint(g.between(1, 4))))
}

// coroutine writes a coroutine and what resumes it.
func (g *generator) coroutine() {
	co := "co" + fmt.Sprint(g.intn(3))
	wrap := g.chance(35)
	how := "create"
	if wrap {
		how = "wrap"
	}
	g.open("local %s = coroutine.%s (function (x, ...)", co, how)
	g.pushFunc(&genFunc{vararg: true, yields: true})
	g.declare(genVar{name: "x", kind: number})
	g.line("tick (25)")
	if g.chance(20) { // a function between the coroutine and its yields
		g.line("local function Y (...) tick () %s end", pick(g, []string{"return coroutine.yield (...)", "return (coroutine.yield (...))",
			"local a, b = coroutine.yield (...) return b, a", "local o = setmetatable ({}, M1) local a, b, c = coroutine.yield (...) pcall (function () return o.x end) return a, b, c, -b"}))
		g.fn().yielder = "Y"
	}
	for range g.between(1, 3) {
		if g.chance(70) {
			g.yield()
		}
		g.statement()
	}
	switch g.intn(8) {
	case 0:
		g.line("error (%s)", pick(g, []string{"\"in coroutine\"", "{code = 1}", "\"no place\", 0", "nil"}))
	case 1:
		g.line("show (coroutine.status (%s == nil and 1 or coroutine.running ()))", co)
	case 2:
		g.line("try (coroutine.yield, 1)")
	default:
		g.line("return %s", strings.Join(g.exprs(2, anything, 1), ", "))
	}
	g.popFunc()
	g.close("end)")
	for range g.between(1, 5) {
		if wrap {
			g.line("try (%s)", strings.Join(append([]string{co}, g.exprs(g.between(0, 2), number, 1)...), ", "))
			continue
		}
		g.line("show (coroutine.resume (%s))", strings.Join(append([]string{co}, g.exprs(g.between(0, 3), number, 1)...), ", "))
		if g.chance(40) {
			g.line("show (coroutine.status (%s))", co)
		}
	}
}

// yield writes a yield that sets one to three variables, and returns their names.
func (g *generator) yield() []string {
	e := g.yielding()
	names := []string{g.name()}
	for i := range g.intn(3) {
		names = append(names, fmt.Sprintf("%s_%d", g.name(), i))
	}
	if g.chance(20) {
		e = g.expr(anything, 1) + ", " + e
	}
	g.line("local %s = %s", strings.Join(names, ", "), e)
	for _, n := range names {
		g.declare(genVar{name: n, kind: number})
	}
	return names
}

// yielding returns an expression that yields.
func (g *generator) yielding() string {
	name := "coroutine.yield"
	if g.fn().yielder != "" && g.chance(50) {
		name = g.fn().yielder
	}
	saved := g.fn().yields
	g.fn().yields = false // not one in the other for ever
	e := fmt.Sprintf("%s (%s)", name, strings.Join(g.exprs(g.between(1, 2), anything, 1), ", "))
	g.fn().yields = saved
	if g.chance(30) {
		return "(" + e + ")"
	}
	return e
}

// bulk writes more of something than the instructions of the machine have room
// for in one: constants, items, variables of functions around. It has a function
// of its own: beyond 256 constants PUC Lua does not know the names of fields.
func (g *generator) bulk() {
	n := pick(g, []int{40, 90, 250, 260, 300})
	var parts []string
	g.open("local bulk = (function ()")
	switch g.intn(4) {
	case 0:
		for i := range n {
			parts = append(parts, fmt.Sprintf("k%d = %d.5", i, i))
		}
		g.line("local t = {%s}", strings.Join(parts, ", "))
		g.line("show (t.k%d + t.k%d, t.k%d < t.k3, t.k1 == %d.5, t.none)", n-1, n/2, n-2, n-3)
		g.line("t.k%d, t.new = t.k1 show (t.k%[1]d)", n-4)
	case 1:
		for i := range n {
			parts = append(parts, fmt.Sprint(i))
		}
		last := pick(g, []string{"nil", "(function () return 1, 2, 3 end) ()", "x and 1 or 2", "#\"abc\""})
		g.line("local t = {%s, %s}", strings.Join(parts, ","), last)
		g.line("show (#t, t [%d], t [%d], select (\"#\", unpack (t)))", n, n+1)
	case 2:
		for i := range n {
			parts = append(parts, fmt.Sprintf("t.f%d = (t.f%d or %d) + t.f", i, i/2, i))
		}
		g.line("local t = {f = 1} %s show (t.f%d, t.f%d)", strings.Join(parts, " "), n-1, n/3)
	default:
		n = g.between(2, 58)
		for i := range n {
			parts = append(parts, fmt.Sprintf("v%d", i))
		}
		list := strings.Join(parts, ", ")
		g.line("local %s = %s", list, strings.ReplaceAll(list, "v", ""))
		g.line("local f = function () v%d = v0 v0 = v0 + 1 return %s end", n-1, strings.Join(parts, " + "))
		g.line("show (f ()) show (f ()) show (v0)")
	}
	g.close("end) ()")
}

// errorPath writes a protected call of something that fails in one of the ways
// in which programs do.
func (g *generator) errorPath() {
	opening := pick(g, []string{"try (function ()", "show (xpcall (function ()", "local ok, e = pcall (function ()"})
	g.open("%s", opening)
	g.line("tick (25)")
	g.pushFunc(&genFunc{})
	g.block(func() {
		g.body(g.between(0, 2))
		g.failure()
	})
	g.popFunc()
	switch {
	case strings.Contains(opening, "xpcall"):
		g.close("end, %s))", pick(g, []string{"function (e) return type (e), e end", "tostring", "function (e) error (e) end", "function () end", "show", "1"}))
	case strings.Contains(opening, "local ok"):
		g.close("end)")
		g.line("show (ok, e)")
	default:
		g.close("end)")
	}
}

func (g *generator) failure() {
	switch g.intn(5) {
	case 0:
		g.line("error (%s)", pick(g, []string{"\"plain\"", "\"level\", 1", "\"level\", 2", "\"level\", 3", "\"none\", 0", "{1, 2}", "nil", "", "42", "true", "setmetatable ({v = 1, w = \"e\"}, M1)"}))
	case 1:
		g.line("assert (%s)", pick(g, []string{"false", "nil, \"message\"", "1 == 2, \"sum\"", "false, {1}", "nil, nil", "1, \"fine\"", "", "false, 12"}))
	case 2:
		e := g.expr(anything, 1)
		g.line("local t = {x = %s, [2] = 1}", e)
		g.line("%s", pick(g, []string{
			"return t.y.z", "return t.x.y.z", "t.y.z = 1", "t:nomethod ()", "t.y ()", "return t.y + 1", "return t.x .. t.y", "return -t.y", "return #t.y",
			"return t.y < 1", "return t < t", "return t.x < t.y", "return t [2] [3]", "return t [2].x.y", "t [nil] = 1", "t [0 / 0] = 1", "return t [1] [2]", "return (t.y) ()", "local u = t.y return u.v", "local u = t.y u ()",
			"return 1 + t", "return t .. \"x\"", "return \"x\" + 1", "return {} + 1", "return 2 ^ {}", "return t.x.x.x", "for i = 1, t do end", "for i = t, 1 do end", "for i = 1, 2, t do end", "(function () for k in t do end end) ()", "(function () for k in 1 do end end) ()", // alone: PUC Lua names what was in the register before
			"return undefinedfunction ()", "return undefinedtable.x", "undefinedtable.x = 1", "return undefinedvalue + 1", "return undefinedvalue .. 1", "string.nofunction ()", "return (\"x\"):bad ()", "return (\"x\").y.z",
			"return math.floor ({})", "return string.rep ()", "return (\"x\"):rep ({})", "return setmetatable (1, {})", "return ipairs ()", "return tostring ()", "return select (0)", "return string.char (256)",
			"return table.concat ({1, {}, 3})", "return t:x ()", "local s = \"str\" return s.x.y", "local n = 1 return n.x", "local n = 1 n ()", "local n = 1 n.x = 2", "(\"s\").x = 1", "(5) [t] = t",
		}))
	case 3:
		g.line("local function deep (n) if n == 0 then error (\"deep\", %d) end deep (n - 1) end", g.between(0, 3))
		g.line("deep (%d)", g.between(0, 3))
	default:
		saved := g.wild
		g.wild = 400
		g.line("return %s", g.expr(pick(g, []genKind{number, text1, boolean}), 3))
		g.wild = saved
	}
}

// ending writes what leaves the function or the loop.
func (g *generator) ending() {
	if g.fn().loops > 0 && g.chance(50) {
		g.line("if %s then break end", g.expr(boolean, 1))
		return
	}
	if len(g.funcs) > 1 {
		g.line("do return %s end", strings.Join(g.exprs(g.between(1, 2), anything, 2), ", "))
	}
}
