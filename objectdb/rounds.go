package objectdb

import (
	"os"
	"sync"
)

// rounds has the commits of a DB's goroutines reach the disk together: one sync
// at a time, for all who have come while the one before was under way.
type rounds struct {
	mu      sync.Mutex
	next    *round     // that has not begun; nil: nobody waits
	running sync.Mutex // held by the round under way
}

// round is one sync. Done is closed when it has ended, with err as its result.
type round struct {
	wal  *walFile
	done chan struct{}
	err  error
}

// join returns when a sync of w has ended that began after the call. Who comes
// first does it for those who come before it begins.
func (rs *rounds) join(w *walFile, sync func() error) error {
	rs.mu.Lock()
	if r := rs.next; r != nil {
		rs.mu.Unlock()
		if !os.SameFile(r.wal.info, w.info) { // SQLite has begun another one meanwhile
			return sync()
		}
		<-r.done
		return r.err
	}
	r := &round{wal: w, done: make(chan struct{})}
	rs.next = r
	rs.mu.Unlock()

	rs.running.Lock()
	defer rs.running.Unlock()
	defer close(r.done)
	rs.mu.Lock()
	rs.next = nil
	rs.mu.Unlock()
	r.err = sync()
	return r.err
}
