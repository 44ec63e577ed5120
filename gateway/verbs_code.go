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
		Name: "base64.encode", Usage: "base64.encode (text)",
		Doc: "The bytes in base64 (RFC 4648, 4), without line ends.",
		Func: func(v *script.Call) error {
			v.Return(base64.StdEncoding.EncodeToString([]byte(v.String(1))))
			return nil
		},
	},
	{
		Name: "base64.decode", Usage: "base64.decode (text)",
		Doc: "The bytes that base64 text stands for. Line ends in it do not matter; anything else that is no base64 is an error.",
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
		Name: "hash.sha256", Usage: "hash.sha256 (text)",
		Doc: "The SHA-256 digest, in hex.",
		Func: func(v *script.Call) error {
			sum := sha256.Sum256([]byte(v.String(1)))
			v.Return(hex.EncodeToString(sum[:]))
			return nil
		},
	},
	{
		Name: "hash.hmac", Usage: "hash.hmac (key, text)",
		Doc: "The HMAC with SHA-256 (RFC 2104), in hex: proves that who made it knew the key.",
		Func: func(v *script.Call) error {
			m := hmac.New(sha256.New, []byte(v.String(1)))
			m.Write([]byte(v.String(2)))
			v.Return(hex.EncodeToString(m.Sum(nil)))
			return nil
		},
	},
	{
		Name: "hash.equal", Usage: "hash.equal (a, b)",
		Doc: "Whether two texts are equal, in a time that does not tell how far they agree: for digests and tokens.",
		Func: func(v *script.Call) error {
			v.Return(subtle.ConstantTimeCompare([]byte(v.String(1)), []byte(v.String(2))) == 1)
			return nil
		},
	},
	{
		Name: "random.token", Usage: "random.token ([bytes = 16])",
		Doc: "Random bytes that nobody can guess, as text for URLs and cookies (RFC 4648, 5), 4 characters for 3 bytes.",
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
