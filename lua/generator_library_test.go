package lua

import (
	"fmt"
	"strings"
)

// libraryCalls are the functions that generated calls are of, and the kinds of
// their arguments; "?" makes those that follow optional.
var libraryCalls = []string{
	"string.byte s ? i i", "string.char ? c c i", "string.find s p ? i b", "string.match s p ? i", "string.gsub s p r ? i", "string.gmatch s p",
	"string.format f y ? y", "string.format f y y", "string.format e n ? s", "string.format e n", "string.format h s ? s", "string.format h v s", "string.format q c", "string.len s", "string.lower s", "string.upper s", "string.rep s j", "string.reverse s", "string.sub s i ? i",
	"string.byte B ? i i", "string.sub B i ? i", "string.len B", "string.reverse B", "string.upper B", "string.rep B j", "string.gsub B p r", "string.find B p",
	"string.find s p", "string.match s p", "string.gsub s p r", "string.gfind s p",
	"table.concat t ? s i i", "table.insert t v", "table.insert t j v", "table.remove t ? i", "table.sort t ? o", "table.maxn t", "table.getn l", "table.foreach l g", "table.foreachi l g",
	"math.abs n", "math.ceil n", "math.floor n", "math.fmod n n", "math.mod n n", "math.frexp n", "math.ldexp n i", "math.max n ? n n", "math.min n ? n n", "math.modf n",
	"math.sqrt n", "math.deg m", "math.rad m", "math.acos m", "math.asin m", "math.atan m", "math.atan2 m m", "math.cos m", "math.sin m", "math.tan m", "math.cosh m", "math.sinh m", "math.tanh m",
	"math.exp m", "math.log m", "math.log10 m", "math.pow m m", "math.random b b b", "math.randomseed n",
	"tonumber x ? a", "tonumber x", "tonumber x a", "tostring v", "type v", "select i ? v v v", "unpack l ? j j", "next l", "rawget l v", "rawset l v v", "rawequal v v", "ipairs l", "pairs l",
	"setmetatable t t", "getmetatable l", "assert v ? v v", "error v ? j", "pcall g v", "xpcall g g", "loadstring k ? z", "load G",
	"os.date d w", "os.date d w", "os.time u", "os.difftime w ? w",
	"coroutine.create g", "coroutine.resume v v", "coroutine.status v", "coroutine.running", "coroutine.wrap g", "coroutine.yield v",
}

// arguments are what the kinds may be. Bytes of value 0 in patterns and
// formats, and numbers that fit no C int, are left out: there PUC Lua reads
// less than it is given.
var libraryArguments = map[byte][]string{
	's': {`""`, `"a"`, `"abc"`, `"hello world"`, `"THE (quick) fox"`, `"key = value"`, `"a,b,,c"`, `"äöü\255"`, `"  trim  "`, `"123"`, "12", "-0.5", `("x"):rep (150)`, `"f(a(b)c)d"`, `"\n\t\r"`, `"[]%.^$*+-?"`, `"aaa"`},
	'p': {`""`, `"a"`, `"."`, `".*"`, `".-"`, `"%a+"`, `"^(%w+)%s*=%s*(%w+)$"`, `"%b()"`, `"%f[%w]%w+"`, `"()a()"`, `"(.)(.)"`, `"(a*(.)%w(%s*))"`, `"[^,]*"`, `"[%a_][%w_]*"`, `"[]]"`, `"[^]]"`, `"[a-]"`, `"[a-c]?"`,
		`"%"`, `"["`, `"[a"`, `"("`, `")"`, `"(()"`, `"%1"`, `"(a)%1"`, `"(.)%1"`, `"%b"`, `"%f"`, `"%bx"`, `"^"`, `"$"`, `"^$"`, `"a$b"`, `"%$"`, `"[%]]"`, `"[%"`, `"%z"`, `"%S+"`, `"%p"`, `"%u"`, `"%x%X"`, `"\255"`, `"[\128-\255]+"`, `"a-b"`, `"a**"`, `"(%a+)-?(%a*)"`, `"%d+%.?%d*"`, `"12"`, "1", `"[[:alpha:]]"`, `"[a-%z]"`, `"[z-a]"`, `"(((((.)))))"`},
	'r': {`""`, `"x"`, `"%0"`, `"%1"`, `"%2"`, `"<%1>"`, `"%%"`, `"%"`, `"%x"`, `"%9"`, "5", `{a = "A", b = true, [""] = "e"}`, `{}`, "function (x) return x end", "function (...) return select (\"#\", ...) end", "function () return false end", "function () return {} end", "function () error (\"in gsub\") end", `{a = {}}`, "string.upper", "nil", "true"},
	'i': {"0", "1", "2", "3", "-1", "-2", "-3", "10", "-10", "100", "1.7", "-1.7", "0.5", `"2"`, `" 3 "`, "nil", "1e9", "-1e9", "5"},
	'j': {"0", "1", "2", "3", "-1", "4", "1.5", `"2"`, "nil"},
	'c': {"65", "97", "255", "65.9", `"66"`, "10"},
	'b': {"nil", "true", "false", "1"},
	// Formats of integers, of other numbers, of text and of one character.
	'f': {`""`, `"%d"`, `"%5d|%-5d|%05d"`, `"%+d % d"`, `"%i"`, `"%u"`, `"%o"`, `"%x"`, `"%X"`, `"%#x"`, `"%#o"`, `"%5.3d"`, `"%.0d"`, `"%"`, `"%123d"`, `"%.123d"`, `"%-+ #0d"`, `"%-+ #00d"`, `"%d%d"`, `"%5"`, `"x%"`, `"%*d"`, `"% 5d"`, `"%x%X"`, `"%.10x"`, `"%08X"`, `"%-08d|"`, `"%+x"`, `"% x"`, `"%#X"`, `"%%"`, `"%y"`, `"%l"`},
	'e': {`"%e"`, `"%E"`, `"%.3e"`, `"%f"`, `"%.2f"`, `"%10.3f|"`, `"%-10.1f|"`, `"%+.1f"`, `"%010.2f"`, `"%g"`, `"%G"`, `"%.3g"`, `"%#g"`, `"%.14g"`, `"%.20f"`, `"%.0f"`, `"%#.0f"`, `"%+5.2f"`, `"%.0e"`, `"%#.3g"`, `"%G %s"`, `"% .3f"`, `"%-+12.3e|"`, `"%012g"`, `"%#.0e"`},
	'h': {`"%s"`, `"%10s|"`, `"%-10s|"`, `"%.2s"`, `"%5.1s|"`, `"%q"`, `"%s %s"`, `"%5q"`, `"%a%"`, `"%.20s"`, `"%q%q"`},
	'q': {`"%c"`, `"%5c|"`, `"%-3c|"`, `"%c%c"`},
	'y': {"0", "1", "-1", "42", "-42", "3.99", "-3.99", "2^31", "-2^31", "2^40", "255", "8", "1e15", `"0x1F"`, `"12"`, `"z"`, "nil", "{}"},
	'n': {"0", "1", "-1", "0.5", "-0.5", "1.5", "2.5", "-1.5", "1e15", "1e300", "-1e300", "1/0", "-1/0", "123.456", "3", "7", "-7", "2^31", "2^53", "1e-300", `"10"`, `"0x10"`, "nil", "{}", "0.1"},
	'm': {"0", "1", "-1", "0.5", "2", "3", "10", "0.25", `"1"`},
	'x': {`"10"`, `"0x10"`, `" 10 "`, `"1e3"`, `"1E+3"`, `".5"`, `"5."`, `"-7"`, `"+7"`, `"- 7"`, `"--7"`, `""`, `" "`, `"z"`, `"ff"`, `"FF"`, `"zz"`, `"101"`, `"8"`, `"1 2"`, `"1e"`, `"0x"`, `"0xg"`, `"1_0"`, `"１"`, `"1e400"`, `"-1e400"`, `"1e-400"`, "10", "1.5", "nil", "true", "{}", `"7fffffff"`, `"0X1f"`, `"-ff"`, `"\t1\n"`, `"00012"`, `"1.2.3"`, `"1e5e"`, `"123456789012345678901234567890"`},
	'a': {"2", "8", "10", "16", "36", "1", "37", "0", "-1", "nil", `"16"`, "16.5"},
	'v': {"nil", "true", "false", "0", "1", "-1", "42", "0.1", "1e15", "123456789.123", "1e100", "-1e-7", "1/0", `""`, `"a"`, `"12"`, `"a\nb\"\\\r"`, `"hello"`, `("y"):rep (120)`, "65", "3.99", "-3.99", "2^31", "-2^31", "2^40", `"0x1F"`, `"äö"`},
	't': {"{}", "{1, 2, 3}", "{3, 1, 2}", `{"b", "a", "c"}`, "{5}", "{1, \"2\", 3.5}", "{1, {}, 3}", "{true}", "{3, \"x\", 1}", "{a = 1}", "{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}", "{2, 1, 2, 1, 2}", "{-1.5, 1e3, 0.1}", "nil", "1", `"s"`, "{{}, {}}", `{__metatable = "m"}`, `{"x", "y", "z", n = 3}`},
	'l': {"{}", "{1, 2, 3}", `{"x"}`, "{1, 2, 3, 4, 5}", "nil", "5", `{a = 1}`},
	'o': {"nil", "function (a, b) return a > b end", "function (a, b) return a < b end", "function () return false end", "function (a, b) return tostring (a) < tostring (b) end", "function () error (\"in sort\") end", "1", "{}"},
	'g': {"function (...) return ... end", "function (k, v) show (k, v) end", "function (k, v) return v end", "function () error (\"e\") end", "function () error ({}) end", "function () end", "tostring", "nil", "1", "{}", "type"},
	'G': {"function () end", "function () error (\"e\") end", "function () error ({}) end", "tostring", "nil", "1", "function () return {} end", "coroutine.wrap (function () coroutine.yield (\"return \") coroutine.yield (\"1, 2\") end)"},
	'B': {`"a\0b\0"`, `"\0"`, `"\0\1\2\255"`},
	'k': {`"return 1"`, `"return ..."`, `"error ('x')"`, `"x = 1 return x"`, `"local t = {} return t.x.y"`, `""`, `"-- nothing"`, `"return"`, "nil", "{}", `"return 'a' .. {}"`, `"\n\n  error 'third'"`},
	'z': {`""`, `"=name"`, `"@file.lua"`, `"two\nlines"`, `("long "):rep (20)`, `"=" .. ("long "):rep (20)`, `"@" .. ("long/"):rep (20)`, "5", "nil"},
	'd': {`"%Y-%m-%d %H:%M:%S"`, `"!%c"`, `"!%x %X"`, `"%a %A %b %B"`, `"!%d%e%j"`, `"%I:%M %p"`, `"%U %W %w %u"`, `"%y %C %G %g %V"`, `"%D %F %T %R %r"`, `"%h%n%t%%"`, `"%s"`, `"%z %Z"`, `"*t"`, `"!*t"`, `""`, `"text"`, `"!%H"`},
	'w': {"0", "1", "86399", "86400", "1e9", "951782400", "1709208000", "4102444800", "-1", "-86400", "1234567890.7", `"1000"`, "68169600", "253402300799", "1230768000", "1293839999"},
	'u': {"{year = 2000, month = 1, day = 1}", "{year = 2009, month = 2, day = 13, hour = 23, min = 31, sec = 30}", "{year = 2000, month = 13, day = 1}", "{year = 2000, month = 1, day = 0, hour = 0}", "{year = 1970, month = 1, day = 1, hour = 0}", "{year = \"2024\", month = 2, day = 30}", "{year = 2000, month = 1}", "{}", "{year = 2000, month = -1, day = 400, sec = -5}", "{year = 2000, month = 6, day = 1, isdst = false}", "1", "\"x\""},
}

// libraryProgram returns a program of a seed that calls library functions.
func libraryProgram(seed uint64) string {
	g := &generator{state: seed*0xd1342543de82ef95 + 7}
	for range 20 {
		g.libraryCall(pick(g, libraryCalls))
	}
	return g.out.String()
}

// libraryCall writes a call of one function and shows what it gives.
func (g *generator) libraryCall(description string) {
	words := strings.Fields(description)
	name := words[0]
	var args []string
	for _, kind := range words[1:] {
		if kind == "?" {
			if g.chance(40) {
				break
			}
			continue
		}
		list := libraryArguments[kind[0]]
		if g.chance(4) && !strings.ContainsAny(kind, "kzwucG") && name != "getmetatable" { // something else
			list = libraryArguments[pick(g, []byte("stg"))]
		}
		args = append(args, pick(g, list))
	}
	if g.chance(3) && len(args) > 0 && !strings.HasPrefix(name, "os.") {
		args = args[:g.intn(len(args))]
	}
	all := strings.Join(args, ", ")
	switch {
	case name == "string.gmatch" || name == "string.gfind":
		g.line("try (function () for a, b, c in %s (%s) do show (a, b, c) end end)", name, all)
		return
	case strings.HasPrefix(name, "table.") && len(args) > 0 && g.chance(80):
		rest := strings.Join(append([]string{"t"}, args[1:]...), ", ")
		g.line("try (function () local t = %s show (pcall (function () return %s (%s) end)) return t end)", args[0], name, rest)
		return
	case strings.HasPrefix(name, "math.") && strings.Contains(description, " m"):
		g.line("try (function () local a, b = %s (%s) return round (a), round (b) end)", name, all)
		return
	case name == "math.random": // where there is nothing to choose from
		g.line("try (function () local r = math.random (%s) return r >= 0 and r < 1 end)", pick(g, []string{"", "0", "-1", "2, 1", "1, 2, 3", "{}", "nil", "\"x\""}))
		return
	case name == "tostring" && strings.Contains(all, "{"), name == "getmetatable":
		g.line("try (function () return type (%s (%s)) end)", name, all)
		return
	case strings.HasPrefix(name, "string.") && len(args) > 0 && strings.HasPrefix(args[0], "\"") && g.chance(25):
		g.line("try (function () local a, b, c, d = (%s):%s (%s) return a, b, c, d end)", args[0], strings.TrimPrefix(name, "string."), strings.Join(args[1:], ", "))
		return
	case name == "loadstring" || name == "load":
		g.line("try (function () local f, m = %s (%s) if f then show (pcall (f, 1, 2)) end return f, m end)", name, all)
		return
	}
	switch g.intn(4) {
	case 0: // the function without its name
		g.line("try (%s)", strings.TrimSuffix(fmt.Sprintf("%s, %s", name, all), ", "))
	case 1: // under another name
		g.line("do local f = %s try (function () local a, b, c, d = f (%s) return a, b, c, d end) end", name, all)
	default:
		g.line("try (function () local a, b, c, d = %s (%s) return a, b, c, d end)", name, all)
	}
}
