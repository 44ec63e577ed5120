package records

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A key is 16 of these letters: 10 for the time in milliseconds, 6 that are random. There are no vowels, so that
// keys spell no words, and no digits, so that a key is a name in Lua.
const (
	letters    = "bcdfghjklmnpqrstvwxz"
	timeDigits = 10
	tailDigits = 6
	tails      = 20 * 20 * 20 * 20 * 20 * 20
)

// clockwork makes keys that grow, even if the clock does not.
type clockwork struct {
	mu   sync.Mutex
	last int64 // milliseconds of the last key
	tail int64
}

var keys clockwork

// NewKey returns a key that no other record has. Keys that a process makes grow, and so do those of different processes
// whose times differ by a millisecond. No counter is read for a key, so that two transactions that add do not conflict.
func NewKey(now time.Time) string { return keys.next(max(now.UnixMilli(), 0)) }

func (c *clockwork) next(now int64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now > c.last {
		c.last, c.tail = now, rand.Int64N(tails)
	} else {
		c.tail += 1 + rand.Int64N(200)
	}
	if c.tail >= tails {
		c.last, c.tail = c.last+1, rand.Int64N(tails/2)
	}
	key := make([]byte, timeDigits+tailDigits)
	put(key[:timeDigits], c.last)
	put(key[timeDigits:], c.tail)
	return string(key)
}

// put writes n in letters.
func put(digits []byte, n int64) {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = letters[n%int64(len(letters))]
		n /= int64(len(letters))
	}
}
