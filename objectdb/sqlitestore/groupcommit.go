package sqlitestore

import (
	"os"
	"sync"
)

// groupCommit syncs the commits of a store's goroutines together: one sync at a time, for
// all commits that came while the one before was under way.
type groupCommit struct {
	mu      sync.Mutex
	next    *group     // that waits for its sync to begin; nil if none does
	running sync.Mutex // held during a sync
}

// A group is the commits that share one sync. done is closed when the sync has ended,
// with err as its result.
type group struct {
	wal  *walFile
	done chan struct{}
	err  error
}

// join returns after a sync of w that began after the call. The first commit of a group
// makes that sync for all commits that join before it begins.
func (g *groupCommit) join(w *walFile, sync func() error) error {
	g.mu.Lock()
	if r := g.next; r != nil {
		g.mu.Unlock()
		if !os.SameFile(r.wal.info, w.info) { // SQLite has begun another one meanwhile
			return sync()
		}
		<-r.done
		return r.err
	}
	r := &group{wal: w, done: make(chan struct{})}
	g.next = r
	g.mu.Unlock()

	g.running.Lock()
	defer g.running.Unlock()
	defer close(r.done)
	g.mu.Lock()
	g.next = nil
	g.mu.Unlock()
	r.err = sync()
	return r.err
}
