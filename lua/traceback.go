package lua

import (
	"cmp"
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// A Frame is one call of a traceback.
type Frame struct {
	Source   string // chunk name: the script's address; "" for a function in Go
	Line     int    // the line being run, 0 for a function in Go
	Function string // its name: a verb's whole name, else the name that the call gives
	// Tail counts the calls that tail calls have replaced: "return f ()" gives its
	// place to f, and its line is lost. Source is the script that was called first,
	// if that is known.
	Tail int
}

// String returns the frame's line in a traceback.
func (f Frame) String() string {
	text := f.Source
	switch {
	case f.Tail == 1:
		text += " (tail call)"
	case f.Tail > 1:
		text += fmt.Sprintf(" (%d tail calls)", f.Tail)
	case f.Line > 0:
		text += fmt.Sprintf(":%d", f.Line)
	default:
		text = "[Go]"
	}
	if f.Function != "" {
		text += " in " + f.Function
	}
	if f.Source == "" && f.Tail > 0 {
		return text[1:]
	}
	return text
}

// maxFrames is how many frames a traceback has at either end.
const maxFrames = 10

// traceback returns the calls that led to where L is, innermost first, also those in
// the coroutines that resumed L and in the scripts whose verbs called it. A long
// traceback lacks its middle.
func traceback(L *lua.LState) []Frame {
	frames := []Frame{}
	add := func(f Frame) {
		if frames = append(frames, f); len(frames) > 2*maxFrames {
			frames = append(frames[:maxFrames], frames[maxFrames+1:]...)
		}
	}
	for s := Of(L); L != nil; {
		var last level
		for _, i := range ends(levels(L)) {
			l, ok := levelAt(L, i)
			if !ok {
				break
			}
			if last.lost > 0 {
				add(Frame{Tail: last.lost})
			}
			if f, ok := l.frame(s); ok {
				add(f)
			}
			last = l
		}
		from, entry := s.callerOf(L), s.entryOf(L)
		if last.lost > 0 {
			add(Frame{Source: entry, Tail: last.lost})
		}
		if L = L.Parent; from != nil {
			L = from
		}
	}
	return frames
}

// levels returns the number of each call of L, innermost first, as GetStack
// counts. The numbers of callers that a tail call has replaced are left out.
func levels(L *lua.LState) []int {
	d, ok := L.GetStack(0)
	if !ok {
		return nil
	}
	var list []int
	for i, f := 0, frameOf(d); f != nil; f = f.Parent {
		list = append(list, i)
		i += 1 + f.TailCall
	}
	return list
}

// ends returns a list without its middle if it is much longer than a traceback:
// gopher-lua walks all calls above a call to find it.
func ends(list []int) []int {
	const most = 4 * maxFrames
	if len(list) <= 2*most {
		return list
	}
	return append(list[:most:most], list[len(list)-most:]...)
}

// entryOf returns the name of the script that was called first in L, "" if it was a
// function in Go.
func (s *State) entryOf(L *lua.LState) string {
	var fn lua.LValue
	for _, p := range s.protected {
		if p.in == L {
			fn = p.fn
		}
	}
	if fn == nil && L == s.base {
		fn = s.entry
	}
	if f, ok := fn.(*lua.LFunction); ok && !f.IsG {
		return f.Proto.SourceName
	}
	return ""
}

// frame describes a level. It returns false for functions of this package, for
// operators, and for functions in Go without a name.
func (l level) frame(s *State) (Frame, bool) {
	if l.own() || operatorFunctions[l.fn] {
		return Frame{}, false
	}
	_, name := splitName(l.name)
	if l.fn.IsG {
		if s.owner != nil {
			name = cmp.Or(s.owner.FunctionName(l.fn), name)
		}
		return Frame{Function: name}, name != ""
	}
	return Frame{Source: l.fn.Proto.SourceName, Line: plainLine(l.line), Function: name}, true
}

// tailCalls returns how many callers a frame has replaced.
func tailCalls(d *lua.Debug) int { return frameOf(d).TailCall }

// operatorFunctions are the functions that stand for an operator. A traceback
// leaves them out: the line of the operator says it all.
var operatorFunctions = map[*lua.LFunction]bool{}
