package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxCaptures   = 32    // LUA_MAXCAPTURES
	maxMatchDepth = 20000 // of the matcher's own recursion
	matchCharge   = 4096  // steps between two looks at the budget
)

// Lengths of captures that are not text.
const (
	captureOpen     = -1
	capturePosition = -2
)

// noMatch is what match returns instead of an end.
const noMatch = -1

type capture struct{ from, length int }

// A matcher matches a pattern against a subject, as PUC Lua's lstrlib.c does. It
// counts its steps, because their number may grow exponentially with the subject.
type matcher struct {
	L       *lua.LState
	b       *State
	subject string
	pattern string
	level   int // captures in use
	depth   int
	steps   int   // since the last look at the budget
	total   int64 // steps before that
	caps    [maxCaptures]capture
}

// start initialises m. It returns nothing, so that m can stay on Go's stack.
func (m *matcher) start(L *lua.LState, subject, pattern string) {
	m.L, m.b, m.subject, m.pattern = L, Of(L), subject, pattern
}

// step counts one step.
func (m *matcher) step() {
	if m.steps++; m.steps >= matchCharge {
		m.settle()
	}
}

// settle charges the steps counted so far.
func (m *matcher) settle() {
	m.total += int64(m.steps)
	n := m.steps
	m.steps = 0
	if m.total > m.b.limits.PatternSteps {
		m.b.refuse(m.L, "patterns", "limit of %d pattern steps exceeded", m.b.limits.PatternSteps)
	}
	m.b.Charge(m.L, n/4)
}

// at matches the whole pattern, from p on, at position s of the subject and
// returns where the match ends.
func (m *matcher) at(s, p int) int {
	m.level = 0
	m.depth = 0
	return m.match(s, p)
}

func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		fail(m.L, "pattern too complex")
	}
	end := m.matchHere(s, p)
	m.depth--
	return end
}

func (m *matcher) matchHere(s, p int) int {
	for {
		m.step()
		if p == len(m.pattern) {
			return s
		}
		switch m.pattern[p] {
		case '(':
			if p+1 < len(m.pattern) && m.pattern[p+1] == ')' {
				return m.startCapture(s, p+2, capturePosition)
			}
			return m.startCapture(s, p+1, captureOpen)
		case ')':
			return m.endCapture(s, p+1)
		case '%':
			if p+1 < len(m.pattern) {
				switch c := m.pattern[p+1]; {
				case c == 'b':
					if s = m.balance(s, p+2); s == noMatch {
						return noMatch
					}
					p += 4
					continue
				case c == 'f':
					next, ok := m.frontier(s, p+2)
					if !ok {
						return noMatch
					}
					p = next
					continue
				case '0' <= c && c <= '9':
					if s = m.backReference(s, c); s == noMatch {
						return noMatch
					}
					p += 2
					continue
				}
			}
		case '$':
			if p+1 == len(m.pattern) {
				if s == len(m.subject) {
					return s
				}
				return noMatch
			}
		}
		ep := m.classEnd(p)
		var suffix byte
		if ep < len(m.pattern) {
			suffix = m.pattern[ep]
		}
		switch suffix {
		case '?':
			if m.single(s, p, ep) {
				if end := m.match(s+1, ep+1); end != noMatch {
					return end
				}
			}
			p = ep + 1
		case '*':
			return m.maxExpand(s, p, ep)
		case '+':
			if !m.single(s, p, ep) {
				return noMatch
			}
			return m.maxExpand(s+1, p, ep)
		case '-':
			return m.minExpand(s, p, ep)
		default:
			if !m.single(s, p, ep) {
				return noMatch
			}
			s++
			p = ep
		}
	}
}

// classEnd returns the position after the single-character class at p.
func (m *matcher) classEnd(p int) int {
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p == len(m.pattern) {
			fail(m.L, "malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if p < len(m.pattern) && m.pattern[p] == '^' {
			p++
		}
		for first := true; first || p == len(m.pattern) || m.pattern[p] != ']'; first = false {
			if p >= len(m.pattern) {
				fail(m.L, "malformed pattern (missing ']')")
			}
			c := m.pattern[p]
			p++
			if c == '%' && p < len(m.pattern) {
				p++
			}
		}
		return p + 1
	}
	return p
}

// single reports whether the character at s belongs to the class at p.
func (m *matcher) single(s, p, ep int) bool {
	if s >= len(m.subject) {
		return false
	}
	c := m.subject[s]
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pattern[p+1])
	case '[':
		return m.inSet(c, p, ep-1)
	}
	return m.pattern[p] == c
}

func (m *matcher) maxExpand(s, p, ep int) int {
	n := 0
	for m.single(s+n, p, ep) {
		m.step()
		n++
	}
	for ; n >= 0; n-- {
		if end := m.match(s+n, ep+1); end != noMatch {
			return end
		}
	}
	return noMatch
}

func (m *matcher) minExpand(s, p, ep int) int {
	for {
		if end := m.match(s, ep+1); end != noMatch {
			return end
		}
		if !m.single(s, p, ep) {
			return noMatch
		}
		s++
	}
}

func (m *matcher) startCapture(s, p, what int) int {
	if m.level >= maxCaptures {
		fail(m.L, "too many captures")
	}
	m.caps[m.level] = capture{s, what}
	m.level++
	end := m.match(s, p)
	if end == noMatch {
		m.level--
	}
	return end
}

func (m *matcher) endCapture(s, p int) int {
	i := m.level - 1
	for ; i >= 0 && m.caps[i].length != captureOpen; i-- {
	}
	if i < 0 {
		fail(m.L, "invalid pattern capture")
	}
	m.caps[i].length = s - m.caps[i].from
	end := m.match(s, p)
	if end == noMatch {
		m.caps[i].length = captureOpen
	}
	return end
}

// balance is %bxy, its x and y at p.
func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pattern) {
		fail(m.L, "unbalanced pattern")
	}
	if s >= len(m.subject) || m.subject[s] != m.pattern[p] {
		return noMatch
	}
	open, shut := m.pattern[p], m.pattern[p+1]
	depth := 1
	for s++; s < len(m.subject); s++ {
		m.step()
		switch m.subject[s] {
		case shut:
			if depth--; depth == 0 {
				return s + 1
			}
		case open:
			depth++
		}
	}
	return noMatch
}

// frontier is %f[set], its set at p; it returns the position after the set.
func (m *matcher) frontier(s, p int) (int, bool) {
	if p >= len(m.pattern) || m.pattern[p] != '[' {
		fail(m.L, "missing '[' after '%%f' in pattern")
	}
	ep := m.classEnd(p)
	var before, here byte
	if s > 0 {
		before = m.subject[s-1]
	}
	if s < len(m.subject) {
		here = m.subject[s]
	}
	return ep, !m.inSet(before, p, ep-1) && m.inSet(here, p, ep-1)
}

// backReference is %1 to %9.
func (m *matcher) backReference(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= m.level || m.caps[i].length == captureOpen {
		fail(m.L, "invalid capture index")
	}
	c := m.caps[i]
	if c.length == capturePosition {
		return noMatch // C's match_capture reads its length as larger than any text
	}
	text := m.subject[c.from : c.from+c.length]
	m.steps += len(text) >> 4
	if !strings.HasPrefix(m.subject[s:], text) {
		return noMatch
	}
	return s + len(text)
}

// value returns capture i of a match from s to end; without captures, capture
// 0 is the whole match.
func (m *matcher) value(i, s, end int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			fail(m.L, "invalid capture index")
		}
		return lua.LString(m.subject[s:end])
	}
	switch c := m.caps[i]; c.length {
	case captureOpen:
		fail(m.L, "unfinished capture")
	case capturePosition:
		return lua.LNumber(c.from + 1)
	default:
		return lua.LString(m.subject[c.from : c.from+c.length])
	}
	return lua.LNil
}

// push pushes all captures, or the whole match when there are none and whole
// is set.
func (m *matcher) push(s, end int, whole bool) int {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	for i := range n {
		m.L.Push(m.value(i, s, end))
	}
	return n
}
