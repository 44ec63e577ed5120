// Package expect has the verbs by which tests say what they expect. Only tests see them.
//
// A verb that fails returns a [Failure], which has both values for the report of the test. There is
// no verb that checks a condition, because Lua's own assert (value, message) does.
package expect

import (
	"errors"
	"fmt"
	"strings"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "expect.equal",
		Doc: "Fails unless both values are equal. Tables are compared by their cells, a table of the " +
			"root like any other; a text equals a string.",
		Params: []script.Param{
			script.Arg("got", "any", ""), script.Arg("wanted", "any", ""),
			script.Opt("what", "string", "", "what is compared, for the report"),
		},
		Errors: "values that differ, with the first place where they do; tables that contain themselves",
		Example: `expect.equal ({1, 1 + 1}, {1, 2})
local ok, why = pcall (expect.equal, 2, 3, "entries")
return why`,
		Gives: "expect.equal: entries: got 2, wanted 3",
		Func:  equal,
	},
	{
		Name: "expect.contains",
		Doc:  "Fails unless the text contains the part, which is plain text and not a pattern.",
		Params: []script.Param{
			script.Arg("text", "string", ""), script.Arg("part", "string", ""),
			script.Opt("what", "string", "", "what the text is, for the report"),
		},
		Errors: "a text without the part",
		Example: `expect.contains ("<b>1 + 1</b>", "1 + 1")
local ok, why = pcall (expect.contains, "tea", "coffee")
return why`,
		Gives: `expect.contains: "tea" does not contain "coffee"`,
		Func:  contains,
	},
	{
		Name: "expect.match",
		Doc:  "Fails unless the text matches the Lua pattern. Gives the first result of string.match.",
		Params: []script.Param{
			script.Arg("text", "string", ""), script.Arg("pattern", "string", ""),
			script.Opt("what", "string", "", "what the text is, for the report"),
		},
		Results: script.Returns("any", "the first capture, or the match if there is no capture"),
		Errors:  "a text that does not match; an invalid pattern",
		Example: `expect.match ("Order 12", "Order (%d+)")`,
		Gives:   "12",
		Func:    match,
	},
	{
		Name: "expect.error",
		Doc: "Calls the function, and fails unless the function fails with a message that matches the " +
			"Lua pattern. What the function has written before stays.",
		Params: []script.Param{
			script.Arg("fn", "any", "a function or a script"),
			script.Opt("pattern", "string", "", "without it, any message matches"),
		},
		Results: script.Returns("string", "the message"),
		Errors:  "a function that returns; another message",
		Example: `expect.error (function () error ("no tea") end, "no %a+")`,
		Gives:   "no tea",
		Func:    expectError,
	},
}

// A Failure is the error of an expectation that was not met.
type Failure struct {
	Message string
	// Got and Wanted are the values that expect.equal has compared, as text.
	Got, Wanted string
}

func (f *Failure) Error() string { return f.Message }

// failure returns a Failure without values.
func failure(what, format string, args ...any) error {
	return &Failure{Message: about(what) + fmt.Sprintf(format, args...)}
}

// about returns the beginning of a message.
func about(what string) string {
	if what == "" {
		return ""
	}
	return clip(what, 200) + ": "
}

func contains(v *script.Call) error {
	text, part := v.String(1), v.String(2)
	if strings.Contains(text, part) {
		return nil
	}
	return failure(v.OptString(3, ""), "%s does not contain %s", quote(text), quote(part))
}

func match(v *script.Call) error {
	text, pattern := v.String(1), v.String(2)
	found, err := stringMatch(v.Thread(), text, pattern)
	if err != nil {
		return err
	}
	if found == nil {
		return failure(v.OptString(3, ""), "%s does not match %s", quote(text), quote(pattern))
	}
	v.Return(found)
	return nil
}

// stringMatch is Lua's string.match.
func stringMatch(t *script.Thread, text, pattern string) (script.Value, error) {
	library, err := t.Lookup("string")
	if err != nil {
		return nil, err
	}
	lib, ok := library.(*script.Table)
	if !ok {
		return nil, errors.New("the test has replaced the library string")
	}
	return t.CallValue(lib.Get("match"), text, pattern)
}

func expectError(v *script.Call) error {
	pattern := v.OptString(2, "")
	switch v.Value(1).(type) {
	case *script.Function, *script.Object:
	default:
		v.Bad(1, "function expected")
	}
	_, err := v.Thread().CallValue(v.Value(1))
	if err == nil {
		return failure("", "the function returned, but should have failed")
	}
	message := plainMessage(err)
	for _, text := range []string{message, err.Error()} { // without the place of the error, and with it
		found, failed := stringMatch(v.Thread(), text, pattern)
		if failed != nil {
			return failed
		}
		if found != nil {
			v.Return(message)
			return nil
		}
	}
	return failure("", "the error %s does not match %s", quote(err.Error()), quote(pattern))
}

// plainMessage returns the message of an error without its place.
func plainMessage(err error) string {
	var e *script.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}
