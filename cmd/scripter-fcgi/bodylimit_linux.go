package main

import (
	"context"
	"sync"
	"time"

	"scripter/gateway"
	"scripter/objectdb"
)

// bodyLimit reads from the settings of a root how large a body may be. The master does not
// keep the root open, so bodyLimit opens it for each read.
type bodyLimit struct {
	mu   sync.Mutex
	root string
	last int64     // the limit that was read last; 0: it could not be read
	when time.Time // the time of the last read
}

// bodyLimitInterval is how often the settings are read at most: many bodies that are too
// large must not occupy the master.
const bodyLimitInterval = 100 * time.Millisecond

func (b *bodyLimit) move(root string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.root, b.when = root, time.Time{}
}

// current returns the limit in bytes, or 0 if the settings cannot be read.
func (b *bodyLimit) current() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.when) < bodyLimitInterval {
		return b.last
	}
	b.last = readBodyLimit(b.root)
	b.when = time.Now()
	return b.last
}

func readBodyLimit(root string) (bytes int64) {
	db, err := openDB(root)
	if err != nil {
		return 0
	}
	defer db.Close()
	err = db.View(context.Background(), func(tx *objectdb.Tx) error {
		b, err := gateway.ReadBounds(tx)
		bytes = b.Body
		return err
	})
	if err != nil {
		return 0
	}
	return bytes
}
