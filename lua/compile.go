package lua

import (
	"context"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

const (
	maxSource    = 256 << 10 // bytes of one source text, unless the limits of a run say otherwise
	mostSource   = 1 << 20   // the largest such limit: the compiler cannot be interrupted
	maxNesting   = 200       // levels of blocks and expressions, as in PUC Lua (LUAI_MAXCCALLS)
	maxConstants = 4000      // distinct constants of one function: the compiler's time grows with their square
)

// A SyntaxError is a script that does not compile. Line counts from 1; Column
// too, in characters, and it is 0 where the compiler knows only the line. Source
// is the text of the line. Near is the text at which the error was found, "" at the
// end of the source.
type SyntaxError struct {
	Name    string // the script's address or chunk name
	Line    int
	Column  int
	Near    string
	Message string
	Source  string
	limit   error // the limit that the source exceeds
}

// Unwrap returns the limit of a run that the source exceeds.
func (e *SyntaxError) Unwrap() error { return e.limit }

// Error has the form of Lua's own messages: "name:line: message near 'text'".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Text()) }

// Check reports whether source is a script that will compile, as a
// *SyntaxError if it is not. Nothing is run. The source may have the given
// number of bytes, see Limits.SourceBytes; 0 is the default.
func Check(name, source string, most int) error {
	_, err := newRun(context.Background(), Limits{SourceBytes: most}).Compile(name, source)
	return err
}

// Compile compiles source, which may be as long as the limits say.
func (s *State) Compile(name, source string) (*lua.FunctionProto, error) {
	if err := s.CheckSource(name, source); err != nil {
		return nil, err
	}
	return compileLimited(name, source, s.limits.SourceBytes)
}

// CheckSource returns an error if source is longer than the limits say.
func (s *State) CheckSource(name, source string) error {
	most := s.limits.SourceBytes
	if len(source) <= most {
		return nil
	}
	err := s.limitError("source", "source is longer than %d bytes", most)
	s.Because(err.text, err)
	return &SyntaxError{Name: name, Line: 1, Message: err.text, limit: err}
}

// Compile makes a function prototype of source, which may have 1 MB. The prototype
// is read-only, and any number of states may share it. name is what messages call
// the script.
func Compile(name, source string) (*lua.FunctionProto, error) {
	return compileLimited(name, source, mostSource)
}

// compileLimited is Compile with another limit.
func compileLimited(name, source string, limit int) (*lua.FunctionProto, error) {
	return (&normaliser{}).compile(name, source, limit)
}

func (n *normaliser) compile(name, source string, limit int) (proto *lua.FunctionProto, err error) {
	if len(source) > limit {
		return nil, &SyntaxError{Name: name, Line: 1, Message: fmt.Sprintf("source is longer than %d bytes", limit)}
	}
	respelt, err := checkSyntax(name, source)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			proto, err = nil, compileError(name, source, r)
		}
	}()
	chunk, err := parse.Parse(strings.NewReader(respelt), name)
	if err != nil {
		return nil, compileError(name, source, err)
	}
	chunk = n.chunk(chunk)
	proto, err = lua.Compile(chunk, name)
	if err != nil {
		return nil, compileError(name, source, err)
	}
	n.patch(proto)
	// The compiler gives a chunk that does not use "..." a table arg, which costs
	// more than most calls. PUC Lua's main chunk has none.
	proto.IsVarArg &^= lua.VarArgNeedsArg
	return proto, nil
}

// compileError makes a *SyntaxError of an error of the normaliser or the compiler. The
// parser has none, because checkSyntax is stricter.
func compileError(name, source string, v any) error {
	e := &SyntaxError{Name: name, Line: 1}
	switch v := v.(type) {
	case *lua.CompileError:
		e.Line, e.Message = max(plainLine(v.Line), 1), v.Message
		if strings.HasPrefix(v.Message, "register overflow") {
			e.Message = "function or expression too complex"
		}
	case *normaliseError:
		e.Line, e.Message = v.line, v.message
	default:
		e.Message = fmt.Sprint(v)
	}
	e.Source = SourceLine(source, e.Line)
	return e
}

// A normaliseError stops the normaliser.
type normaliseError struct {
	line    int
	message string
}

func refuse(at ast.PositionHolder, format string, args ...any) {
	panic(&normaliseError{plainLine(at.Line()), fmt.Sprintf(format, args...)})
}
