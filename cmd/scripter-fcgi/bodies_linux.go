package main

import (
	"context"
	"sync"
	"time"
)

// bodies tells how large a body may be, by the settings that the root has when it
// is asked: a setting counts from the next request on.
type bodies struct {
	mu    sync.Mutex
	root  string
	known int64     // what it has found last; 0: nothing
	when  time.Time // it has looked
}

// bodyLooks is how often it looks at most: what looking costs, many at a time
// who send too much shall not make the master pay.
const bodyLooks = 100 * time.Millisecond

func (b *bodies) move(root string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.root, b.when = root, time.Time{}
}

// largest returns the most bytes that a body may have, 0 when that cannot be
// told.
func (b *bodies) largest() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.when) < bodyLooks {
		return b.known
	}
	b.known = 0
	if bounds, err := boundsOf(context.Background(), b.root); err == nil {
		b.known = bounds.Body
	}
	b.when = time.Now()
	return b.known
}
