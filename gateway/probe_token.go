package gateway

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

// ProbeTime is how long a token is good.
const ProbeTime = 5 * time.Minute

// probes holds the tokens' hashes.
var probes = objectdb.Address{"system", "temp", "probes"}

// NewProbe makes a token, leaves its hash in the root and removes those that
// are no longer good.
func NewProbe(tx *objectdb.Tx, now time.Time) (token string, err error) {
	var b [20]byte
	rand.Read(b[:])
	token = strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
	if err := removeProbes(tx, func(hash string, age time.Duration) bool { return !goodAge(age) }, now); err != nil {
		return "", err
	}
	hash := probeHash(token)
	return token, tx.Put(probes.Child(hash[:16]), objectdb.String(hash))
}

// RemoveProbe removes a token, and the tables made for it.
func RemoveProbe(tx *objectdb.Tx, token string) error {
	hash := probeHash(token)
	if err := removeProbes(tx, func(h string, _ time.Duration) bool { return h == hash }, time.Time{}); err != nil {
		return err
	}
	for _, a := range []objectdb.Address{probes, probes.Parent()} {
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

func removeProbes(tx *objectdb.Tx, which func(hash string, age time.Duration) bool, now time.Time) error {
	list, err := tx.List(probes)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, o := range list {
		if o.Kind != objectdb.KindString {
			continue // not ours
		}
		v, err := tx.Get(probes.Child(o.Name))
		if err != nil {
			return err
		}
		if hash, ok := v.(objectdb.String); ok && which(string(hash), now.Sub(o.Modified)) {
			if err := tx.Delete(probes.Child(o.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func probeHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// goodAge leaves room for the clocks of two machines.
func goodAge(age time.Duration) bool { return age < ProbeTime && age > -time.Minute }

// knownProbe tells whether a token is good, in a time that does not tell how
// much of it is right.
func knownProbe(tx *objectdb.Tx, token string, now time.Time) bool {
	list, err := tx.List(probes)
	if err != nil {
		return false
	}
	hash := []byte(probeHash(token))
	known := 0
	for _, o := range list {
		if !goodAge(now.Sub(o.Modified)) || o.Kind != objectdb.KindString {
			continue
		}
		v, err := tx.Get(probes.Child(o.Name))
		if err == nil {
			known |= subtle.ConstantTimeCompare(hash, []byte(v.(objectdb.String)))
		}
	}
	return known == 1
}
