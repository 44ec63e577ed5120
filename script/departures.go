package script

// A Departure is a difference between scripts and PUC Lua 5.1.5.
type Departure struct {
	What    string // one sentence
	Why     string // one sentence
	Example string // a script that shows it
	Gives   string // the text of what it returns, or of its error, here
	PUC     string // the same in Lua's own program
}

// Departures lists every difference that a script can see, those of the root
// first. The tests run each example; what is not listed here answers as PUC
// Lua 5.1.5 does.
func Departures() []Departure {
	return []Departure{
		{
			What:    "An undefined global name is an error, unless this run has assigned it; rawget (_G, name) asks without one.",
			Why:     "A misspelt name would be nil, and nil is stored as the deletion of a cell.",
			Example: `return nothingHasThisName`,
			Gives:   "undefined name: nothingHasThisName", PUC: "nil",
		},
		{
			What:    "Names of the root and of the request are found in any case. Lua's own names are not, nor are the names of Lua tables.",
			Why:     "The root knows one object for all spellings of a name.",
			Example: `return SCRATCHPAD == scratchpad`,
			Gives:   "true", PUC: "true, both being nil",
		},
		{
			What:    "A table of the root is a table for type, pairs, ipairs, next, # and ==, and for nothing else.",
			Why:     "Its cells lie in the database; what changes Lua's own tables in place would not reach them.",
			Example: `return type (scratchpad) .. type (rawequal (scratchpad, {}))`,
			Gives:   "tableboolean", PUC: "nilboolean",
		},
		{
			What:    "require runs a script of the root by its address, once in a run. There are no modules.",
			Why:     "Scripts lie in the root, and have no files.",
			Example: `return require ("no.such.script")`,
			Gives:   `require "no.such.script": no script has this name`, PUC: "an error that lists files",
		},
		{
			What:    "print, io, dofile, loadfile, debug, package, module, newproxy, collectgarbage, gcinfo, getfenv, setfenv, string.dump, table.setn, and of os all but clock, date, difftime and time, are not there.",
			Why:     "They reach files, processes, other functions' variables or the memory of the server.",
			Example: `return tostring (rawget (_G, "io")) .. tostring (rawget (_G, "print")) .. tostring (os.execute)`,
			Gives:   "nilnilnil", PUC: "a table and functions",
		},
		{
			What:    "There is no bytecode: load and loadstring take source only.",
			Why:     "Bytecode that no compiler made can break the machine.",
			Example: `return tostring ((loadstring ("\27Lua")))`,
			Gives:   "nil", PUC: "nil; a function for bytecode that is whole",
		},
		{
			What:    "The metatables of strings and of _G can be neither seen nor set.",
			Why:     "They belong to the machinery that finds names.",
			Example: `return tostring (getmetatable ("")) .. tostring (pcall (setmetatable, _G, {}))`,
			Gives:   "nilfalse", PUC: "a table, and true",
		},
		{
			What:    "Bytes of value 0 count in formats, patterns and the text of numbers, as they do in all strings.",
			Why:     "What comes from the net may hold them, and PUC Lua stops there.",
			Example: `return #string.format ("%s", "a\0b") .. " " .. ("a\0b"):find ("\0b")`,
			Gives:   "3 2", PUC: "1 2",
		},
		{
			What:    "A number that fits no integer is the largest one for the conversion %d and as a place in a string.",
			Why:     "C leaves it undefined; x86 makes the smallest of it.",
			Example: `return string.format ("%d", 2^63)`,
			Gives:   "9223372036854775807", PUC: "-9223372036854775808",
		},
		{
			What:    "__len is honoured for tables.",
			Why:     "The machine does so, as Lua does from 5.2 on.",
			Example: `return #setmetatable ({}, {__len = function () return 7 end})`,
			Gives:   "7", PUC: "0",
		},
		{
			What:    "next takes any key; one that the table does not have ends the loop.",
			Why:     "The machine's tables cannot tell such a key from one that was deleted meanwhile.",
			Example: `return tostring (pcall (next, {}, 5))`,
			Gives:   "true", PUC: "false",
		},
		{
			What:    "goto is a reserved word, and refused.",
			Why:     "The machine's parser knows it, and its compiler gets it wrong.",
			Example: `return loadstring ("local goto = 1") == nil`,
			Gives:   "true", PUC: "false",
		},
		{
			What:    "A syntax error at a character outside ASCII shows all of it.",
			Why:     "Half a character is no text for a page or a log.",
			Example: `return (select (2, loadstring ("x = é", "=s")))`,
			Gives:   "s:1: unexpected symbol near 'é'", PUC: "the first byte",
		},
		{
			What:    "A byte of 0 in a source, outside strings and comments, is no part of a number or sign.",
			Why:     "PUC Lua finds it where it looks for a second dot, an exponent or its sign.",
			Example: `return loadstring ("return 0\0w") == nil`,
			Gives:   "true", PUC: "false",
		},
		{
			What:    "A function has 200 registers for its locals and all that an expression holds, and says \"function or expression too complex\" without a word near it.",
			Why:     "The machine has that many; PUC Lua has 250.",
			Example: `return (select (2, loadstring ("f (" .. ("1,"):rep (220) .. "1)", "=s")))`,
			Gives:   "s:1: function or expression too complex", PUC: "nothing: there the script compiles",
		},
		{
			What:    "Of several mistakes in one script, grammar comes before too many upvalues.",
			Why:     "The one is looked for in the text, the other in what was made of it.",
			Example: `local names = "" for i = 1, 70 do names = names .. "a" .. i .. (i < 70 and ", " or "") end return (select (2, loadstring ("local " .. names .. "\nfunction f () return " .. names, "=s")))`,
			Gives:   "s:2: 'end' expected near '<eof>'", PUC: "s:2: function at line 2 has more than 60 upvalues",
		},
		{
			What:    "A message names a field or method also where a function has more than 256 constants.",
			Why:     "PUC Lua's instructions have no room for the constant there, and its messages say '?'.",
			Example: `local names = "" for i = 1, 300 do names = names .. "x" .. i .. " = 1, " end return (select (2, pcall (loadstring ("local t = {" .. names .. "}\nreturn t.last.y", "=s"))))`,
			Gives:   "s:2: attempt to index field 'last' (a nil value)", PUC: "s:2: attempt to index field '?' (a nil value)",
		},
		{
			What:    "An operand that and, or or not has made has no name in the message.",
			Why:     "PUC Lua names what its compiler has put into the register last, which may be any of the operands.",
			Example: `return (select (2, pcall (loadstring ("local t, n = true return #((1 == 1 or t) and n)", "=s"))))`,
			Gives:   "s:1: attempt to get length of a nil value", PUC: "s:1: attempt to get length of local 'n' (a nil value)",
		},
		{
			What:    "What a for cannot call has no name in the message.",
			Why:     "PUC Lua looks at the copy that the loop makes, and may name what was in its register before.",
			Example: `return (select (2, pcall (loadstring ("local g = 'g' return (function () local t = {x = 'a' .. 'b' .. g .. g} for k in 1 do end end) ()", "=s"))))`,
			Gives:   "s:1: attempt to call a number value", PUC: "s:1: attempt to call upvalue 'g' (a number value)",
		},
		{
			What:    "In an expression over several lines, an error may name the line before a bracket at the beginning of a line, or of a bracket at the end of one.",
			Why:     "The parser keeps no other.",
			Example: `local ok, message = pcall (loadstring ("return {} .. (\n1)", "=s")) return message`,
			Gives:   "s:1: attempt to concatenate a table value", PUC: "s:2: attempt to concatenate a table value",
		},
		{
			What:    "The literal -0 is 0.",
			Why:     "The compiler would take a constant -0 for every 0 of the function, as PUC Lua does.",
			Example: `return 1 / -0`,
			Gives:   "inf", PUC: "-inf",
		},
		{
			What:    "The sixteenth and seventeenth digit of powers, logarithms and their like may be others.",
			Why:     "Go's mathematics rounds otherwise than C's; tostring shows fourteen digits.",
			Example: `return string.format ("%.17g", math.log (3))`,
			Gives:   "1.0986122886681096", PUC: "1.0986122886681098",
		},
		{
			What:    "The length of a list with holes may be another one of those that the manual allows.",
			Why:     "PUC Lua's depends on how the table was made.",
			Example: `return #{1, nil, 3, nil}`,
			Gives:   "3", PUC: "1",
		},
		{
			What:    "__mode has no effect: a table keeps what it holds, and __gc is never called.",
			Why:     "There is no collector of the script's own; all that a run holds goes with it.",
			Example: `local t = setmetatable ({}, {__mode = "k"}) t [{}] = 1 return next (t) ~= nil`,
			Gives:   "true", PUC: "true, until the collector has run",
		},
		{
			What:    "load asks its function no more once that has given nothing.",
			Why:     "PUC Lua's reader asks again at the end of an empty source.",
			Example: `local n = 0 load (function () n = n + 1 end) return n`,
			Gives:   "1", PUC: "2",
		},
		{
			What:    "The numbers of math.random are others than those of the C library.",
			Why:     "Every run has a generator of its own.",
			Example: `math.randomseed (1) return math.random (1000000)`,
			Gives:   "604661", PUC: "what rand () of the C library makes of it",
		},
		{
			What:    "Calls through pcall and coroutines nest 195 deep, and metamethods as deep as other calls.",
			Why:     "The limit of PUC Lua is 200 for all three, and is that of its C stack.",
			Example: `local n = 0 local t t = setmetatable ({}, {__index = function (_, k) n = k return k < 300 and t [k + 1] end}) local x = t [1] return n`,
			Gives:   "300", PUC: "C stack overflow",
		},
		{
			What:    "The error \"stack overflow\" has no position in front when it comes out of a coroutine.",
			Why:     "The machine has left the place when it tells.",
			Example: `return (select (2, coroutine.resume (coroutine.create (function () local function f () return 1 + f () end return f () end))))`,
			Gives:   "stack overflow", PUC: "the same after a position",
		},
		{
			What:    "A chain of operators, calls or fields has about 980 links at most, and an if about 9900 branches.",
			Why:     "The machine's compiler follows them by calling itself, and would end the program at the end of its stack.",
			Example: `return loadstring ("return " .. ("1+"):rep (1200) .. "1") == nil`,
			Gives:   "true", PUC: "false",
		},
		{
			What:    "A function has 4000 different constants at most, and a constructor 25550 items.",
			Why:     "The compiler's time grows with the square of the constants, and it cannot be stopped.",
			Example: `return loadstring ("return {" .. ("1,"):rep (26000) .. "}") == nil`,
			Gives:   "true", PUC: "false",
		},
		{
			What:    "os.clock is the time of the wall, from the start of the program.",
			Why:     "A server's processor time is that of all its requests.",
			Example: `return os.clock () >= 0`,
			Gives:   "true", PUC: "true",
		},
		{
			What:    "os.date knows the C locale, and os.setlocale is not there.",
			Why:     "A locale is the whole process's; date.format takes a zone.",
			Example: `return os.date ("!%A %x", 0) .. tostring (os.setlocale)`,
			Gives:   "Thursday 01/01/70nil", PUC: "the locale's words, and a function",
		},
		{
			What:    "Time, instructions, memory, the length of strings, the steps of patterns and the depth of calls are limited; calls nest 10000 deep, not 20000.",
			Why:     "A visitor's request must not stop the others'.",
			Example: `return string.rep ("x", 2^30)`,
			Gives:   "string length limit of 16777216 bytes exceeded", PUC: "a string of 1 GB",
		},
	}
}
