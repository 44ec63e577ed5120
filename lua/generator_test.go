package lua

import (
	"fmt"
	"strings"
)

// A generator writes random Lua programs that end, print what they do, and
// print the same on every machine: see testdata/differential/prelude.lua for
// the functions that they use. The same seed gives the same program.
type generator struct {
	state  uint64 // of the random numbers
	out    strings.Builder
	indent int
	funcs  []*genFunc // functions around the place that is being written
	wild   int        // how many in a thousand expressions are of the wrong kind
	lines  bool       // whether expressions may be broken into lines
	depth  int        // of statements
	names  int        // made so far
}

// A genFunc is a function that is being written.
type genFunc struct {
	vars    []genVar
	vararg  bool
	yields  bool   // runs in a coroutine
	yielder string // a function that yields for it, "" if there is none
	loops   int    // loops around the place, in this function
}

// A genVar is a variable that can be seen.
type genVar struct {
	name  string
	kind  genKind
	gives genKind // of a function
	takes []genKind
}

// A genKind is what a value is for.
type genKind int

const (
	number genKind = iota
	text1          // a string
	boolean
	list   // of numbers, without holes
	record // fields a, b, c hold numbers, s and t strings, f a function of a number
	object // has a metatable
	function
	anything
	nothing
)

// plainKinds are those that most variables have.
var plainKinds = []genKind{number, number, number, text1, text1, boolean, list, record, object}

// callsOfEach is the number of library calls, or of scripts with mistakes, in one
// program.
const callsOfEach = 20

// program returns the program of a seed. One in which PUC Lua makes a constant
// of -0 shows a listed departure: the next attempt takes its place.
func program(seed uint64) string {
	state := seed*0x9e3779b97f4a7c15 + 1
	for {
		if source := programFrom(state); !hasNegativeZero(source) {
			return source
		}
		state ^= 0x5851f42d4c957f2d
		state *= 0x2545f4914f6cdd1d
	}
}

func programFrom(state uint64) string {
	g := &generator{state: state}
	g.wild = pick(g, []int{0, 0, 3, 10, 40, 120})
	g.lines = g.chance(20)
	g.funcs = []*genFunc{{vararg: true}}
	g.classes()
	for range g.between(2, 7) {
		g.topLevel()
	}
	g.line("show (%s)", strings.Join(g.exprs(3, anything, 2), ", "))
	return g.broken(g.out.String())
}

// lineBreak stands where an expression goes on in the next line.
const lineBreak = "\x01"

// broken puts real line breaks and comments in the place of lineBreak. There is
// none after a bracket: the parser keeps the line of the bracket alone.
func (g *generator) broken(source string) string {
	for strings.Contains(source, "("+lineBreak) {
		source = strings.ReplaceAll(source, "("+lineBreak, "(")
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(source, lineBreak)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(pick(g, []string{"\n", "-- why\n", "--[[ here ]] ", "--[[ two\nlines ]] "}))
		source = after
	}
}

// topLevel writes a statement of the main function, now and then a protected
// one, so that a mistake does not end the program.
func (g *generator) topLevel() {
	if g.chance(50) {
		g.statement()
		return
	}
	g.open("try (function (...)")
	g.pushFunc(&genFunc{vararg: true})
	g.body(g.between(1, 5))
	if g.chance(60) {
		g.line("return %s", strings.Join(g.exprs(g.between(1, 3), anything, 2), ", "))
	}
	g.popFunc()
	g.close("end, %s)", strings.Join(g.exprs(g.between(1, 3), anything, 1), ", "))
}

// next returns the next random number (splitmix64).
func (g *generator) next() uint64 {
	g.state += 0x9e3779b97f4a7c15
	z := g.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (g *generator) intn(n int) int { return int(g.next() % uint64(n)) }

func (g *generator) between(low, high int) int { return low + g.intn(high-low+1) }

func (g *generator) chance(percent int) bool { return g.intn(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.intn(len(list))] }

func (g *generator) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat(" ", g.indent))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
	if g.chance(3) {
		g.out.WriteString(pick(g, []string{"-- comment\n", "--[[ long\ncomment ]]\n", "\n", ";\n"[1:], "--[==[ ]] ]==]\n"}))
	}
}

func (g *generator) open(format string, args ...any) {
	g.line(format, args...)
	g.indent++
}

func (g *generator) close(format string, args ...any) {
	g.indent--
	g.line(format, args...)
}

func (g *generator) fn() *genFunc { return g.funcs[len(g.funcs)-1] }

func (g *generator) pushFunc(f *genFunc) { g.funcs = append(g.funcs, f) }

func (g *generator) popFunc() { g.funcs = g.funcs[:len(g.funcs)-1] }

// declare makes a variable visible from here to the end of the block.
func (g *generator) declare(v genVar) {
	f := g.fn()
	f.vars = append(f.vars, v)
}

// block writes statements that have their own variables.
func (g *generator) block(write func()) {
	f := g.fn()
	visible := len(f.vars)
	write()
	f.vars = f.vars[:visible]
}

// name returns a name for a new variable. Names come again, so that they hide
// one another.
func (g *generator) name() string {
	g.names++
	return string(rune('a'+g.intn(14))) + pick(g, []string{"", "", "1", "2"})
}

// visible returns the variables of a kind that can be seen, own ones first.
func (g *generator) visible(kind genKind) []genVar {
	var found []genVar
	hidden := map[string]bool{}
	for i := len(g.funcs) - 1; i >= 0; i-- {
		vars := g.funcs[i].vars
		for j := len(vars) - 1; j >= 0; j-- {
			v := vars[j]
			if !hidden[v.name] && (v.kind == kind || kind == anything) {
				found = append(found, v)
			}
			hidden[v.name] = true
		}
	}
	return found
}

// variable returns a visible variable of a kind.
func (g *generator) variable(kind genKind) (genVar, bool) {
	found := g.visible(kind)
	if len(found) == 0 {
		return genVar{}, false
	}
	return pick(g, found), true
}
