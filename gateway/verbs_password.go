package gateway

import (
	"scripter/script"
	"scripter/site"
)

var passwordVerbs = []script.Verb{
	{
		Name:    "hash.password",
		Doc:     "What is to be kept of a password: what Argon2id makes of it and a salt, each time another text.",
		Params:  []script.Param{script.Arg("password", "string", "at most 1024 bytes")},
		Results: script.Returns("string", ""),
		Errors:  "a longer password; more than two seconds of waiting for other passwords",
		Example: `hash.password ("open sesame"):match ("^%$argon2id%$")`,
		Gives:   "$argon2id$",
		Func: func(v *script.Call) error {
			hash, err := site.HashPassword(v.Thread().Context(), v.String(1))
			v.Return(hash)
			return err
		},
	},
	{
		Name:    "hash.checkPassword",
		Doc:     `Whether a password is the one that was hashed, in a time that tells nothing. The hash "" is nobody's and takes as long; so does a password of more than 1024 bytes.`,
		Params:  []script.Param{script.Arg("hash", "string", "what hash.password gave"), script.Arg("password", "string", "")},
		Results: script.Returns("boolean", ""),
		Errors:  "a text that is no such hash; more than two seconds of waiting for other passwords",
		Example: `hash.checkPassword (hash.password ("open sesame"), "open sesame")`,
		Gives:   "true",
		Func: func(v *script.Call) error {
			ok, err := site.CheckPassword(v.Thread().Context(), v.String(1), v.String(2))
			v.Return(ok)
			return err
		},
	},
}
