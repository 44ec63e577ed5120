// Package random has the verb random.token.
package random

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "random.token",
		Doc: "Random bytes that nobody can guess, as text for URLs and cookies (RFC 4648, 5), 4 " +
			"characters for 3 bytes.",
		Params:  []script.Param{script.Opt("bytes", "integer", "16", "how many random bytes, 1 to 1024")},
		Results: script.Returns("string", ""),
		Errors:  "another number of bytes",
		Example: "#random.token ()",
		Gives:   "22",
		Func: func(v *script.Call) error {
			n := v.OptInt(1, 16)
			if n < 1 || n > 1024 {
				v.Bad(1, "from 1 to 1024 bytes")
			}
			b := make([]byte, n)
			if _, err := rand.Read(b); err != nil {
				return fmt.Errorf("read random bytes: %w", err)
			}
			v.Return(base64.RawURLEncoding.EncodeToString(b))
			return nil
		},
	},
}
