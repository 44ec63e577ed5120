package script

import (
	"errors"
	"strings"

	"scripter/lua"
)

// Eval runs typed Lua and returns the values of an expression, or of several with
// commas between them, or what the statements return. It ignores a "=" before an
// expression, as Lua's own program does. Messages call the text name.
func (t *Thread) Eval(name, typed string) ([]Value, error) {
	source, err := typedSource(name, typed, t.state.Limits().SourceBytes)
	if err != nil {
		return nil, t.syntaxError(err, nil, typed)
	}
	proto, err := t.state.Compile(name, source)
	if err != nil {
		return nil, t.syntaxError(err, nil, typed)
	}
	t.addChunk(name, &chunk{source: typed})
	fn := t.state.NewFunction(proto)
	var values []Value
	_, err = t.run(lua.GoFunction(func(L *lua.LState) int {
		L.Push(fn)
		L.Call(0, lua.MultRet)
		for i := 1; i <= L.GetTop(); i++ {
			values = append(values, t.fromLua(L.Get(i)))
		}
		return 0
	}), nil)
	return values, err
}

// typedSource returns typed Lua as a script.
func typedSource(name, typed string, most int) (string, error) {
	plain := typed
	if rest, ok := strings.CutPrefix(strings.TrimLeft(typed, " \t"), "="); ok {
		plain = rest
	}
	expression := lua.Check(name, "return "+plain, most)
	if expression == nil {
		return "return " + plain, nil
	}
	err := lua.Check(name, plain, most)
	if err != nil && Unfinished(expression) {
		err = expression
	}
	return plain, err
}

// CheckTyped returns the error with which Eval refuses typed Lua, nil for none.
func CheckTyped(name, typed string) error {
	_, err := typedSource(name, typed, 0)
	return err
}

// Unfinished reports whether err says only that the text ended too early, so that
// more lines may complete it.
func Unfinished(err error) bool {
	var s *lua.SyntaxError
	if !errors.As(err, &s) {
		return false
	}
	return s.Near == "<eof>" && s.Message != "unfinished string" && s.Message != "no loop to break"
}
