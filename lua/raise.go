package lua

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// raise is lua.LState.Panic of our states: it puts the line into the message, stores
// the traceback if no pcall will catch the error, and panics.
func raise(L *lua.LState) {
	v := L.Get(-1)
	s := Of(L)
	if message, ok := v.(lua.LString); ok && !s.verbatim {
		v = lua.LString(reword(L, string(message)))
	}
	s.verbatim = false
	ending := s.err.Load() != nil
	if (s.guarded == 0 || ending) && !s.passing && !s.ending {
		s.frames = traceback(L)
		s.ending = ending
	}
	s.passing = false
	// gopher-lua writes a stack trace unless there is one.
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: v, StackTrace: " "})
}

// Throw raises v, without adding a position.
func Throw(L *lua.LState, v lua.LValue) {
	Of(L).verbatim = true
	L.Error(v, 0)
}

// A level is one entry of a state's call stack.
type level struct {
	fn   *lua.LFunction
	line int    // the position in gopher-lua's terms, see describe
	what string // "main", "Lua", "G", "tail"
	name string
	lost int // callers that tail calls have replaced
}

// levelAt returns the i-th level of L, 0 being the function that runs.
func levelAt(L *lua.LState, i int) (level, bool) {
	d, ok := L.GetStack(i)
	if !ok {
		return level{}, false
	}
	fn, err := L.GetInfo("flSn", d, nil)
	f, isFunction := fn.(*lua.LFunction)
	if err != nil || !isFunction {
		return level{}, false
	}
	return level{f, d.CurrentLine, d.What, d.Name, tailCalls(d)}, true
}

// own reports whether the level is a function of this package in Lua, see bodyProto.
func (l level) own() bool { return !l.fn.IsG && l.fn.Proto.SourceName == ownChunk }

// prefix returns the position in front of messages, "" for functions in Go.
func (l level) prefix() string {
	if l.fn.IsG || l.own() {
		return ""
	}
	return l.fn.Proto.SourceName + ":" + strconv.Itoa(plainLine(l.line)) + ": "
}

// where returns the position to put in front of a message for level i, as
// luaL_where does. The function below a protected call is the one that made it.
func where(L *lua.LState, i int) string {
	for s := Of(L); ; {
		l, ok := levelAt(L, i)
		if ok && i > 1 {
			if before, _ := levelAt(L, i-1); before.what == "tail" {
				return ""
			}
		}
		if ok {
			return l.prefix()
		}
		from := s.callerOf(L)
		if from == nil {
			return ""
		}
		for j := i - 1; !ok && j >= 0; j-- {
			if _, ok = levelAt(L, j); ok {
				i -= j
			}
		}
		L = from
	}
}

// callerOf returns the state that made the protected call which runs in L.
func (s *State) callerOf(L *lua.LState) *lua.LState {
	for i := len(s.protected) - 1; i >= 0; i-- {
		if p := s.protected[i]; p.in == L && p.from != L {
			return p.from
		}
	}
	return nil
}

// reword puts the real line into a message of gopher-lua.
func reword(L *lua.LState, message string) string {
	top, ok := levelAt(L, 0)
	if !ok {
		return message
	}
	l := top
	for i := 1; ok && l.fn.IsG; i++ {
		l, ok = levelAt(L, i)
	}
	if !ok { // there is no position, but the space after it
		if top.fn.IsG {
			message = strings.TrimPrefix(message, " ")
		}
		return message
	}
	machine := fmt.Sprintf("%s:%d: ", l.fn.Proto.SourceName, l.line)
	rest, found := strings.CutPrefix(message, machine)
	if !found {
		return message
	}
	if rest == "registry overflow" {
		rest = "stack overflow"
	}
	return l.prefix() + rest
}

// splitName returns the parts of the name of a call: patch has stored "field 'x'". If
// it has not, both are empty.
func splitName(s string) (kind, name string) {
	kind, name, ok := strings.Cut(s, " '")
	if !ok || !strings.HasSuffix(name, "'") {
		return "", ""
	}
	return kind, strings.TrimSuffix(name, "'")
}

// typeName is what scripts call the type of v.
func typeName(v lua.LValue) string { return v.Type().String() }
