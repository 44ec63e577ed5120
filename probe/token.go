package probe

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"scripter/objectdb"
)

// TokenTime is how long a token is good.
const TokenTime = 5 * time.Minute

// Tokens is the table of the tokens' hashes.
var Tokens = objectdb.Address{"system", "temp", "probes"}

// NewToken makes a token, stores its hash in the root and removes the tokens that are no
// longer good.
func NewToken(tx *objectdb.Tx, now time.Time) (token string, err error) {
	var b [20]byte
	rand.Read(b[:])
	token = strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
	if err := removeTokens(tx, func(hash string, age time.Duration) bool { return !goodAge(age) }, now); err != nil {
		return "", err
	}
	hash := hashOf(token)
	return token, tx.Put(Tokens.Child(hash[:16]), objectdb.String(hash))
}

// RemoveToken removes a token, and the tables that were made for it.
func RemoveToken(tx *objectdb.Tx, token string) error {
	hash := hashOf(token)
	if err := removeTokens(tx, func(h string, _ time.Duration) bool { return h == hash }, time.Time{}); err != nil {
		return err
	}
	for _, a := range []objectdb.Address{Tokens, Tokens.Parent()} {
		if list, err := tx.List(a); err != nil || len(list) > 0 {
			return ignoreMissing(err)
		}
		if err := tx.Delete(a); err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil
	}
	return err
}

func removeTokens(tx *objectdb.Tx, which func(hash string, age time.Duration) bool, now time.Time) error {
	list, err := tx.List(Tokens)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, o := range list {
		if o.Kind != objectdb.KindString {
			continue // not a hash
		}
		v, err := tx.Get(Tokens.Child(o.Name))
		if err != nil {
			return err
		}
		if hash, ok := v.(objectdb.String); ok && which(string(hash), now.Sub(o.Modified)) {
			if err := tx.Delete(Tokens.Child(o.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// goodAge reports whether a token of this age is good. The clocks of two machines may differ.
func goodAge(age time.Duration) bool { return age < TokenTime && age > -time.Minute }

// IsGood reports whether a token is good, in a time that does not tell how much of it is
// right.
func IsGood(tx *objectdb.Tx, token string, now time.Time) bool {
	list, err := tx.List(Tokens)
	if err != nil {
		return false
	}
	hash := []byte(hashOf(token))
	known := 0
	for _, o := range list {
		if !goodAge(now.Sub(o.Modified)) || o.Kind != objectdb.KindString {
			continue
		}
		v, err := tx.Get(Tokens.Child(o.Name))
		if err == nil {
			known |= subtle.ConstantTimeCompare(hash, []byte(v.(objectdb.String)))
		}
	}
	return known == 1
}
