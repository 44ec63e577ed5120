package lua

// A Defect is a difference of gopher-lua v1.1.2 from Lua 5.1 that this package
// cures.
type Defect struct {
	File    string // has the cure, and says first what is wrong
	What    string // one sentence
	Example string // a script that shows it; "" where only time and memory do
	Gives   string // the text of what it returns here, as in PUC Lua
}

// Defects lists what would be wrong without this package. A test runs each example
// in gopher-lua alone, so that it fails when a cure is not needed any more.
func Defects() []Defect {
	return []Defect{
		{"defect_assignment.go", "An assignment stores into its first variable while it still evaluates for the second.",
			`local a, b = 1, 2 a, b = b, a return a .. b`, "21"},
		{"defect_temporary.go", "An expression is computed in the register of the local that it is assigned to, and reads its own half-made value.",
			`local a, b, c = 1, true, 5 a = not b and c return tostring (a)`, "false"},
		{"defect_temporary.go", "A call in brackets is computed in the register of its own argument.",
			`local function f (p) p = (tostring (p)) return p end return f (5)`, "5"},
		{"defect_constant.go", "An assignment to a field of a constant stores into some local.",
			`local t = {} return tostring (pcall (function () local u = t; ("x").y = 5 end))`, "false"},
		{"defect_jump.go", "A loop whose body begins with a jump never ends, or ends at once.",
			`for k in pairs {1} do while true do break end end return "ended"`, "ended"},
		{"defect_break.go", "A break does not close the locals of the blocks that it leaves.",
			`local f while true do do local y = 1 f = function () return y end break end end local z, w = 5, 6 return f ()`, "1"},
		{"defect_for_values.go", "A generic for takes the values that are missing from whatever its registers hold.",
			`local function two () return {y = 2}, nil end for k in next, two () do return k end`, "y"},
		{"defect_for_values.go", "A generic for loses the result of a call from which its expression goes on.",
			`local function it () return {f = function (_, i) if not i then return 1 end end} end for k in it ().f do return k end`, "1"},
		{"loop.go", "A numeric for refuses strings that are numbers.",
			`local n = 0 for i = "1", "3" do n = n + i end return n`, "6"},
		{"defect_local_function.go", "In \"local f = function\" the function sees itself as f.",
			`local f = 1 do local f = function () return f end return tostring (f () == 1) end`, "true"},
		{"defect_constructor.go", "A constructor of a multiple of 50 items and a keyed field stores the last items twice.",
			`local t = {1, ` + fortyNine + `x = tostring ("v")} return t [1]`, "1"},
		{"defect_constructor.go", "The results of a call after 50 items are stored over the first.",
			`local function r () return "r" end local t = {1, ` + fortyNine + `r ()} return t [1]`, "1"},
		{"defect_constructor.go", "A call in a keyed field at the end of a constructor gives an item as well.",
			`return tostring (({1, x = tostring ("v")}) [2])`, "nil"},
		{"defect_numeral.go", "A numeral that begins with 0 is octal.", `return 0010`, "10"},
		{"defect_numeral.go", "A numeral that is too large is not a number.", `return 1e999`, "inf"},
		{"defect_concat.go", "The operator .. writes numbers with more than 14 digits, and knows no limit of length.",
			`return 2^53 .. ""`, "9.007199254741e+15"},
		{"metamethod.go", "A remainder is rounded otherwise than in C, and wrong for an infinite divisor.",
			`return tostring (5 % math.huge ~= 5)`, "true"},
		{"defect_nesting.go", "A deeply nested script ends the program.", "", ""},
		{"defect_upvalues.go", "A function with more than 255 upvalues gets those of others.", "", ""},
		{"defect_constants.go", "The time of the compiler grows with the square of the constants and names.", "", ""},
		{"syntax.go", "The parser takes what is no Lua, such as an ambiguous call on a new line.",
			`return tostring (loadstring ("a\n(b)"))`, "nil"},
		{"lexer.go", "An escape beyond 255 is accepted in a string.",
			`return tostring (loadstring ("x = 'a\\400'"))`, "nil"},
		{"invoke.go", "An error that pcall catches closes the upvalues of all functions that go on.",
			`local n = 1 local function f () return n end pcall (error) n = 2 return f ()`, "2"},
		{"coroutine.go", "A resumption gives yield neither fewer nor more values than it is given, whatever the script awaits.",
			`local co = coroutine.wrap (function () local a, b = coroutine.yield () return tostring (b) end) co () return co (1)`, "nil"},
		{"metamethod.go", "A metamethod that is no function but can be called is not called.",
			`return setmetatable ({}, {__add = setmetatable ({}, {__call = function () return 7 end})}) + 1`, "7"},
		{"operand.go", "A message says neither which variable was nil nor what was called.",
			`return (select (2, pcall (function () local t = {} t.x.y = 1 end)):match "field 'x'")`, "field 'x'"},
		{"number.go", "A number with many digits is not written as C writes it.", `return tostring (1e15)`, "1e+15"},
		{"number.go", "Hexadecimal numbers with an exponent are unknown.", `return tostring (tonumber "0x1p4")`, "16"},
		{"pattern.go", "Patterns have no frontier, and no limit for the work that a match may take.",
			`return (("THE (quick) fox"):find "%f[%a]%a+%f[%A]")`, "1"},
		{"format.go", "Some conversions of string.format differ from C, such as %x of a negative number.", `return string.format ("%x", -1)`, "ffffffffffffffff"},
		{"table_items.go", "A queue, a far index and a table that is emptied take time and memory without bound.", "", ""},
		{"loop.go", "A deadline costs a question through a channel before each instruction, and no other limit is there.", "", ""},
	}
}

const fortyNine = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
