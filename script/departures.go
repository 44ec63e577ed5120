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
			What:    "print, io, dofile, loadfile, debug, package, module, newproxy, collectgarbage, getfenv, setfenv, string.dump, and of os all but clock, date, difftime and time, are not there.",
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
			What:    "Strings may hold bytes of value 0 in formats too.",
			Why:     "What comes from the net may hold them, and PUC Lua's format stops there.",
			Example: `return #string.format ("%s", "a\0b") .. " " .. ("a\0b"):find ("\0b")`,
			Gives:   "3 2", PUC: "1 2",
		},
		{
			What:    "A number that fits no integer is the largest one for the conversion %d.",
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
			What:    "A list has at most 1048575 items for #; what lies beyond is kept, and not counted.",
			Why:     "Beyond that the machine keeps items under their names, so that one far index costs no memory.",
			Example: `local t = {} t [1048576] = 1 return #t`,
			Gives:   "0", PUC: "0 or 1048576",
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
