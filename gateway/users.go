package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"scripter/script"
)

// Passwords are kept as what Argon2id makes of them (RFC 9106), with a salt
// of their own, written as other programs write it:
//
//	$argon2id$v=19$m=19456,t=2,p=1$salt$hash
//
// The cost is what guessing costs, about 20 ms and 19 MB; it is written with
// each hash, so that it can be raised later.
var passwordCost = argonCost{memory: 19 << 10, time: 2, threads: 1}

type argonCost struct {
	memory, time uint32 // KB, passes
	threads      uint8
}

// The largest cost of a hash that came from elsewhere: one request must not
// take the machine.
var maxPasswordCost = argonCost{memory: 64 << 10, time: 16, threads: 4}

const (
	maxPassword  = 1024 // bytes
	passwordSalt = 16   // bytes
	passwordHash = 32   // bytes
	// passwordWait is how long a request waits for its turn.
	passwordWait = 2 * time.Second
)

// hashing is held while a password is hashed: two at a time, so that a crowd at
// the door takes neither all processors nor the memory.
var hashing = make(chan struct{}, 2)

func hashPassword(ctx context.Context, password string, salt []byte, cost argonCost, size uint32) ([]byte, error) {
	if len(password) > maxPassword {
		return nil, fmt.Errorf("the password has more than %d bytes", maxPassword)
	}
	timer := time.NewTimer(passwordWait)
	defer timer.Stop()
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-timer.C:
		return nil, &Error{Status: 503, Message: "too many passwords are being checked"}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	key := argon2.IDKey([]byte(password), salt, cost.time, cost.memory, cost.threads, size)
	// The memory of each hash is garbage now. Several of them would exceed the memory
	// limit of a worker process before the collector runs by itself.
	runtime.GC()
	return key, nil
}

// makeHash makes the text that is kept of a password.
func makeHash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, passwordSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	hash, err := hashPassword(ctx, password, salt, passwordCost, passwordHash)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, passwordCost.memory, passwordCost.time,
		passwordCost.threads, b64.EncodeToString(salt), b64.EncodeToString(hash)), nil
}

var errHash = errors.New(`this is no hash of hash.password, which begins "$argon2id$v=19$m="`)

// parseHash reads the text that is kept of a password.
func parseHash(text string) (cost argonCost, salt, hash []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost, nil, nil, errHash
	}
	n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.memory, &cost.time, &cost.threads)
	if err != nil || n != 3 || parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", cost.memory, cost.time, cost.threads) {
		return cost, nil, nil, errHash
	}
	most := maxPasswordCost
	if cost.memory > most.memory || cost.time > most.time || cost.threads > most.threads || cost.time < 1 || cost.threads < 1 {
		return cost, nil, nil, fmt.Errorf("the cost %s is outside of what is checked here, %d KB, %d passes, %d threads", parts[3], most.memory, most.time, most.threads)
	}
	if salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4]); err != nil || len(salt) < 8 || len(salt) > 64 {
		return cost, nil, nil, errHash
	}
	if hash, err = base64.RawStdEncoding.Strict().DecodeString(parts[5]); err != nil || len(hash) < 16 || len(hash) > 64 {
		return cost, nil, nil, errHash
	}
	return cost, salt, hash, nil
}

// nobody is a hash that no password has: a name that is not known takes as
// long to refuse as one that is.
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// checkPassword tells whether a password has this hash, in a time that tells
// nothing. The hash "" is nobody's.
func checkPassword(ctx context.Context, text, password string) (bool, error) {
	known := text != ""
	if !known {
		text = nobody
	}
	cost, salt, want, err := parseHash(text)
	if err != nil {
		return false, err
	}
	if len(password) > maxPassword { // nobody has such a password, but the check takes as long
		password, known = password[:maxPassword], false
	}
	got, err := hashPassword(ctx, password, salt, cost, uint32(len(want)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(want, got) == 1 && known, nil
}

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
			hash, err := makeHash(v.Thread().Context(), v.String(1))
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
			ok, err := checkPassword(v.Thread().Context(), v.String(1), v.String(2))
			v.Return(ok)
			return err
		},
	},
}
