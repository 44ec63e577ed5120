// Package hash has the verbs that make and compare digests, and hashes of passwords.
package hash

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"

	"scripter/script"
	"scripter/site"
)

// Verbs returns the verbs of the group, which hash passwords with p.
func Verbs(p *site.Passwords) []script.Verb {
	return []script.Verb{
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
			Name: "hash.equal",
			Doc: "Whether two texts are equal, in a time that does not tell how far they agree: for " +
				"digests and tokens.",
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
			Name:    "hash.password",
			Doc:     "What is to be kept of a password: what Argon2id makes of it and a salt, each time another text.",
			Params:  []script.Param{script.Arg("password", "string", "at most 1024 bytes")},
			Results: script.Returns("string", ""),
			Errors:  "a longer password; more than two seconds of waiting for other passwords",
			Example: `hash.password ("open sesame"):match ("^%$argon2id%$")`,
			Gives:   "$argon2id$",
			Func: func(v *script.Call) error {
				hash, err := p.Hash(v.Thread().Context(), v.String(1))
				v.Return(hash)
				return err
			},
		},
		{
			Name: "hash.checkPassword",
			Doc: `Whether a password is the one that was hashed, in a time that tells nothing. The hash "" ` +
				`is nobody's and takes as long; so does a password of more than 1024 bytes.`,
			Params: []script.Param{
				script.Arg("hash", "string", "what hash.password gave"),
				script.Arg("password", "string", ""),
			},
			Results: script.Returns("boolean", ""),
			Errors:  "a text that is no such hash; more than two seconds of waiting for other passwords",
			Example: `hash.checkPassword (hash.password ("open sesame"), "open sesame")`,
			Gives:   "true",
			Func: func(v *script.Call) error {
				ok, err := p.Check(v.Thread().Context(), v.String(1), v.String(2))
				v.Return(ok)
				return err
			},
		},
	}
}
