package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"scripter/script"
)

// codeVerbs encode, digest and draw lots.
var codeVerbs = []script.Verb{
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
		Name:    "base64.decode",
		Doc:     "The bytes that base64 text stands for. Line ends in it do not matter; anything else that is no base64 is an error.",
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
	{
		Name:    "hash.sha256",
		Doc:     "The SHA-256 digest, in hex.",
		Params:  []script.Param{script.Arg("text", "string", "any bytes")},
		Results: script.Returns("string", "64 characters"),
		Example: `hash.sha256 ("abc")`,
		Gives:   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		Page:    true,
		Func: func(v *script.Call) error {
			sum := sha256.Sum256([]byte(v.String(1)))
			v.Return(hex.EncodeToString(sum[:]))
			return nil
		},
	},
	{
		Name:    "hash.hmac",
		Doc:     "The HMAC with SHA-256 (RFC 2104), in hex: proves that who made it knew the key.",
		Params:  []script.Param{script.Arg("key", "string", ""), script.Arg("text", "string", "")},
		Results: script.Returns("string", "64 characters"),
		Example: `hash.hmac ("key", "text")`,
		Gives:   "6afa9046a9579cad143a384c1b564b9a250d27d6f6a63f9f20bf3a7594c9e2c6",
		Func: func(v *script.Call) error {
			m := hmac.New(sha256.New, []byte(v.String(1)))
			m.Write([]byte(v.String(2)))
			v.Return(hex.EncodeToString(m.Sum(nil)))
			return nil
		},
	},
	{
		Name:    "hash.equal",
		Doc:     "Whether two texts are equal, in a time that does not tell how far they agree: for digests and tokens.",
		Params:  []script.Param{script.Arg("a", "string", ""), script.Arg("b", "string", "")},
		Results: script.Returns("boolean", ""),
		Example: `hash.equal (hash.sha256 ("a"), hash.sha256 ("b"))`,
		Gives:   "false",
		Func: func(v *script.Call) error {
			v.Return(subtle.ConstantTimeCompare([]byte(v.String(1)), []byte(v.String(2))) == 1)
			return nil
		},
	},
	{
		Name:    "random.token",
		Doc:     "Random bytes that nobody can guess, as text for URLs and cookies (RFC 4648, 5), 4 characters for 3 bytes.",
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
