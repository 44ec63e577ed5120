package script

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// ErrNotScript says that an object to be called is no script.
var ErrNotScript = errors.New("object is not a script")

// An Error says why a script failed. It is for the author of the script, never
// for a visitor.
type Error struct {
	Message string           // what went wrong, without the place
	Name    string           // the script, as messages call it: its address, or the name given to RunSource
	Address objectdb.Address // the script object; nil if it is none
	Line    int              // counted from 1; 0 if unknown
	Source  string           // the text of that line
	Frames  []lua.Frame      // the calls that were active, innermost first
	Limit   string           // the limit that ended the run: "time", "instructions", "memory" …
	Err     error            // the cause in Go, if there is one; what Stop was given

	text string // the whole script
}

// A SourceLine is one line of a script.
type SourceLine struct {
	Number int // from 1
	Text   string
}

// excerptLines is how many lines Excerpt returns on either side.
const excerptLines = 3

// Excerpt returns the lines of the script around the one where it failed, or nil if
// the line is not known.
func (e *Error) Excerpt() []SourceLine {
	if e.Line == 0 || e.text == "" {
		return nil
	}
	var lines []SourceLine
	rest, more := e.text, true
	for n := 1; more && n <= e.Line+excerptLines; n++ {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if n >= e.Line-excerptLines && (more || line != "" || n == e.Line) {
			lines = append(lines, SourceLine{n, lua.ShortLine(line)})
		}
	}
	return lines
}

// Error returns the message with its place: "user.hello:4: attempt to …".
func (e *Error) Error() string {
	if e.Name == "" || e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Message)
}

// Unwrap returns the cause in Go.
func (e *Error) Unwrap() error { return e.Err }

// Detail returns all that is known, for the log: the message, the source line,
// the frames and, after a panic of a verb, the Go stack.
func (e *Error) Detail() string {
	var b strings.Builder
	var syntax *lua.SyntaxError
	if errors.As(e.Err, &syntax) && syntax.Name == e.Name {
		b.WriteString(syntax.Detail())
	} else if b.WriteString(e.Error()); e.Source != "" {
		fmt.Fprintf(&b, "\n\t%s", strings.TrimSpace(e.Source))
	}
	for _, f := range e.Frames {
		b.WriteString("\n" + f.String())
	}
	var p *lua.PanicError
	if errors.As(e.Err, &p) {
		b.WriteString("\n" + p.Detail())
	}
	return b.String()
}

// fail raises a Lua error at the line that runs.
func (t *Thread) fail(L *lua.LState, format string, args ...any) {
	L.Error(lua.LString(fmt.Sprintf(format, args...)), 1)
}

// raise raises a Lua error for a Go one. A script can catch errors that it could
// have avoided. Others (the root is locked, damaged, or was changed by another
// request) stop the run.
func (t *Thread) raise(L *lua.LState, prefix string, err error) {
	var script *Error
	switch {
	case errors.As(err, &script):
		message := script.Error()
		t.state.Because(message, script)
		lua.Throw(L, lua.LString(message))
	case !catchable(err):
		t.state.Stop(err)
		t.state.RaiseStop(L)
	}
	message := prefix + plain(err)
	t.state.Because(message, err)
	L.Error(lua.LString(message), 1)
}

// catchable reports whether a script may go on after err.
func catchable(err error) bool {
	for _, fatal := range []error{objectdb.ErrConflict, objectdb.ErrBusy, objectdb.ErrClosed} {
		if errors.Is(err, fatal) {
			return false
		}
	}
	return !objectdb.IsFailure(err)
}

// plain returns the text of err for a script, without the names of packages.
func plain(err error) string {
	if e, ok := err.(*objectdb.Error); ok && e.Address != nil && e.Path == "" {
		name := e.Address.String()
		if name == "" {
			name = "root"
		}
		return fmt.Sprintf("%s %s: %v", e.Op, name, e.Err)
	}
	return strings.TrimPrefix(err.Error(), "objectdb: ")
}

// newError returns the Error of a run that failed.
func (t *Thread) newError(err error, frames []lua.Frame) *Error {
	e := &Error{Frames: frames, Message: err.Error()}
	var api *lua.ApiError
	if errors.As(err, &api) {
		e.Message = t.errorText(api.Object)
	} else {
		e.Err = err
	}
	if message, cause := t.state.Cause(); cause != nil && strings.HasSuffix(e.Message, message) {
		var inner *Error
		if errors.As(cause, &inner) && e.Message == message {
			// The error of a script that a verb called has more details, and
			// its frames include those of the outermost script.
			return inner
		}
		e.Err = cause
		if lua.LimitName(cause) == "depth" {
			e.Message = strings.TrimSuffix(e.Message, message) + cause.Error()
		}
	}
	t.locate(e)
	e.Message = clipMessage(e.Message)
	return e
}

// longestMessage is the number of bytes of a message that a log or a page gets. A script
// may raise a string of megabytes.
const longestMessage = 8 << 10

func clipMessage(s string) string {
	if len(s) <= longestMessage {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:longestMessage], ""), len(s))
}

// stoppedError returns the Error of a run that was stopped.
func (t *Thread) stoppedError(err error, frames []lua.Frame) *Error {
	e := &Error{Message: err.Error(), Frames: frames, Limit: lua.LimitName(err), Err: err}
	t.locate(e)
	return e
}

// syntaxError returns the Error of a script that does not compile.
func (t *Thread) syntaxError(err error, a objectdb.Address, source string) *Error {
	e := &Error{Message: err.Error(), Address: a, Err: err}
	var s *lua.SyntaxError
	if errors.As(err, &s) {
		e.Name, e.Line = s.Name, s.Line
		e.Message = strings.TrimPrefix(s.Error(), fmt.Sprintf("%s:%d: ", s.Name, s.Line))
		e.Source, e.text = lua.SourceLine(source, s.Line), source
	}
	return e
}

// errorText returns the text of an error value: of a table its field message.
func (t *Thread) errorText(lv lua.LValue) string {
	switch v := lv.(type) {
	case lua.LString, lua.LNumber, lua.LBool:
		return v.String()
	case *lua.LTable:
		if s, ok := lua.RawGet(v, lua.LString("message")).(lua.LString); ok {
			return string(s)
		}
	case *lua.LUserData:
		if markedValue(v) != nil {
			if s, err := t.Text(t.fromLua(v)); err == nil {
				return s
			}
		}
	}
	return fmt.Sprintf("(error value is a %s)", kindName(t.fromLua(lv)))
}

// locate sets the place of an error: the place at the beginning of its message, or
// the innermost line that ran. A message that went through coroutine.wrap
// begins with several places, the innermost last.
func (t *Thread) locate(e *Error) {
	found := false
	for {
		name, line, text := t.place(e.Message)
		if name == "" {
			break
		}
		c := t.chunks[name]
		e.Name, e.Address, e.Line, e.Message = name, c.address, line, text
		e.Source, e.text = lua.SourceLine(c.source, line), c.source
		found = true
	}
	if found {
		return
	}
	for _, f := range e.Frames {
		if f.Line == 0 {
			continue
		}
		e.Name, e.Line = f.Source, f.Line
		if c := t.chunks[f.Source]; c != nil {
			e.Address, e.Source, e.text = c.address, lua.SourceLine(c.source, f.Line), c.source
		}
		return
	}
}

// place splits a message that begins with a place: "name:line: text". name is "" for others.
func (t *Thread) place(message string) (name string, line int, text string) {
	for name := range t.chunks {
		rest, ok := strings.CutPrefix(message, name+":")
		if !ok {
			continue
		}
		digits, text, ok := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(digits); ok && err == nil {
			return name, line, text
		}
	}
	return "", 0, ""
}
