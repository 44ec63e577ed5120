// Package uuid has the verbs that make and read UUIDs (RFC 9562).
package uuid

import (
	"fmt"

	"github.com/gofrs/uuid/v5"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "uuid.v4",
		Doc:     "A random UUID. Nobody can guess it.",
		Results: script.Returns("string", "36 characters"),
		Example: `uuid.v4 ():match ("^%x+%-%x+%-4%x+%-[89ab]%x+%-%x+$") ~= nil`,
		Gives:   "true",
		Func:    func(v *script.Call) error { return give(v)(uuid.NewV4()) },
	},
	{
		Name: "uuid.v7",
		Doc: "A UUID that begins with the time in milliseconds, so that later ones sort after earlier ones: for " +
			"keys. Everybody can read the time in it.",
		Results: script.Returns("string", "36 characters"),
		Example: `local first, second = uuid.v7 (), uuid.v7 ()
return tostring (first < second)`,
		Gives: "true",
		Func:  func(v *script.Call) error { return give(v)(uuid.NewV7()) },
	},
	{
		Name: "uuid.parse",
		Doc: "A UUID of any version as it is usually written: lower case, with hyphens. It may be given in upper " +
			`case, without hyphens, in braces, or after "urn:uuid:".`,
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string|nil", "nil when the text is no UUID"),
		Example: `uuid.parse ("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}")`,
		Gives:   "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		Page:    true,
		Func: func(v *script.Call) error {
			u, err := uuid.FromString(v.String(1))
			if err != nil {
				v.Return(nil)
				return nil
			}
			v.Return(u.String())
			return nil
		},
	},
}

// give returns a function that returns a new UUID to the script.
func give(v *script.Call) func(uuid.UUID, error) error {
	return func(u uuid.UUID, err error) error {
		if err != nil {
			return fmt.Errorf("read random bytes: %w", err)
		}
		v.Return(u.String())
		return nil
	}
}
