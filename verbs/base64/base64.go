// Package base64 has the verbs of the group base64.
package base64

import (
	"encoding/base64"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "base64.encode",
		Doc:     "The bytes in base64 (RFC 4648, 4), without line ends.",
		Params:  []script.Param{script.Arg("text", "string", "any bytes")},
		Results: script.Returns("string", ""),
		Example: `base64.encode ("AB")`,
		Gives:   "QUI=",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(base64.StdEncoding.EncodeToString([]byte(v.String(1))))
			return nil
		},
	},
	{
		Name: "base64.decode",
		Doc: "The bytes that base64 text stands for. Line ends in it do not matter; anything else that " +
			"is no base64 is an error.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("string", "the bytes"),
		Errors:  "text that is no base64",
		Example: `base64.decode ("QUI=")`,
		Gives:   "AB",
		Page:    true,
		Func: func(v *script.Call) error {
			b, err := base64.StdEncoding.DecodeString(v.String(1))
			if err != nil {
				return err
			}
			v.Return(string(b))
			return nil
		},
	},
}
