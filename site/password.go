package site

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
)

// A password is stored as its Argon2id hash (RFC 9106) with a salt of its own, in the
// usual text form:
//
//	$argon2id$v=19$m=19456,t=2,p=1$salt$hash
//
// passwordCost is the cost of one guess. Each hash names its cost, so that the cost of new
// hashes can be raised later.
var passwordCost = argonCost{memory: 19 << 10, time: 2, threads: 1}

type argonCost struct {
	memory, time uint32 // KB, passes
	threads      uint8
}

// maxPasswordCost is the largest cost of a hash that is checked. It bounds the memory
// and time that one request can use.
var maxPasswordCost = argonCost{memory: 64 << 10, time: 16, threads: 4}

const (
	maxPassword  = 1024 // bytes
	passwordSalt = 16   // bytes
	passwordHash = 32   // bytes
	// maxHashes is how many hashes are computed at a time, so that many logins at once
	// use neither all processors nor all memory.
	maxHashes = 2
	// passwordWait is how long a hash waits for the ones before it.
	passwordWait = 2 * time.Second
)

// ErrManyPasswords is returned if a hash has waited longer than passwordWait for others.
var ErrManyPasswords = errors.New("too many passwords are being checked")

// Passwords hashes passwords and checks them. It is safe for concurrent use.
type Passwords struct {
	slots chan struct{}
}

// NewPasswords returns a Passwords. A process needs one.
func NewPasswords() *Passwords { return &Passwords{make(chan struct{}, maxHashes)} }

// key computes the hash of a password.
func (p *Passwords) key(
	ctx context.Context, password string, salt []byte, cost argonCost, size uint32,
) ([]byte, error) {
	if len(password) > maxPassword {
		return nil, fmt.Errorf("the password has more than %d bytes", maxPassword)
	}
	timer := time.NewTimer(passwordWait)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-timer.C:
		return nil, ErrManyPasswords
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	key := argon2.IDKey([]byte(password), salt, cost.time, cost.memory, cost.threads, size)
	// The memory of each hash is garbage now. Several of them would exceed the memory
	// limit of a worker process before the collector runs by itself.
	runtime.GC()
	return key, nil
}

// Hash returns the text that is stored for a password.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, passwordSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	hash, err := p.key(ctx, password, salt, passwordCost, passwordHash)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, passwordCost.memory, passwordCost.time,
		passwordCost.threads, b64.EncodeToString(salt), b64.EncodeToString(hash)), nil
}

// notHash is the error of a text that is not a stored hash.
const notHash = `this is no hash of hash.password, which begins "$argon2id$v=19$m="`

// parseHash parses the text that is stored for a password.
func parseHash(text string) (cost argonCost, salt, hash []byte, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost, nil, nil, errors.New(notHash)
	}
	n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.memory, &cost.time, &cost.threads)
	if err != nil || n != 3 || parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", cost.memory, cost.time, cost.threads) {
		return cost, nil, nil, errors.New(notHash)
	}
	most := maxPasswordCost
	if cost.memory > most.memory || cost.time > most.time || cost.threads > most.threads ||
		cost.time < 1 || cost.threads < 1 {
		return cost, nil, nil, fmt.Errorf("the cost %s exceeds the limits %d KB, %d passes, %d threads, or is zero",
			parts[3], most.memory, most.time, most.threads)
	}
	b64 := base64.RawStdEncoding.Strict()
	if salt, err = b64.DecodeString(parts[4]); err != nil || len(salt) < 8 || len(salt) > 64 {
		return cost, nil, nil, errors.New(notHash)
	}
	if hash, err = b64.DecodeString(parts[5]); err != nil || len(hash) < 16 || len(hash) > 64 {
		return cost, nil, nil, errors.New(notHash)
	}
	return cost, salt, hash, nil
}

// CheckHash returns an error unless a text is a stored hash.
func CheckHash(text string) error {
	_, _, _, err := parseHash(text)
	return err
}

// nobody is a hash that no password has. It is checked for an unknown name, so that
// refusing one takes as long as refusing a known name.
const nobody = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Check reports whether a password has this hash, in a time that does not depend on the
// answer. No password has the hash "".
func (p *Passwords) Check(ctx context.Context, text, password string) (bool, error) {
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
	got, err := p.key(ctx, password, salt, cost, uint32(len(want)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(want, got) == 1 && known, nil
}
