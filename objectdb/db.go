package objectdb

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the ways to open a root. The zero value is right for most.
type Options struct {
	// ReadOnly refuses every write, and opens files that may only be read.
	ReadOnly bool
	// Reading says that nothing will be written. Then Open does not change a byte of a
	// saved copy and makes no files beside it, and it opens a file that this user may only
	// read as ReadOnly.
	Reading bool
	// Relaxed makes commits faster. When the power fails, the last ones may be lost; the root
	// stays consistent.
	Relaxed bool
	// BusyTimeout bounds all waiting for other writers in one transaction; 0 is 5 s.
	BusyTimeout time.Duration
	// LockTime is how long a transaction may hold the writer's lock before it is
	// committed: from its start in UpdateLocked, else while its writes are applied. 0 is
	// 2 s, negative is no limit. Only the commit itself, after the last write, is not
	// bounded.
	LockTime time.Duration
	// CacheBytes is about how much memory the cache takes; 0 is 32 MB, negative is none.
	CacheBytes int
	// WALBytes is how long an SQLite root's file -wal may grow before a commit folds it
	// into the root and empties it; 0 is right for processes that stay, which do it at
	// 1000 pages. Processes that end without Close need it: each reads the whole file
	// before it can begin, and does not know how much of it another one has folded, so the
	// file would grow for ever.
	WALBytes int64
	// Program is the name and version of the program, such as "scripter 0.1.0". A root records
	// which program made it, and which migrated it.
	Program string
	// Origin is the origin of transactions that do not set their own (Tx.Origin).
	Origin Origin
	// History returns the rules for what is kept in the history, as a transaction sees them. It
	// must be quick, because each commit calls it. nil stands for DefaultHistory.
	History func(*Tx) (*HistoryRules, error)
	// Now is the clock of created and modified times; nil is time.Now.
	Now func() time.Time
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultLockTime    = 2 * time.Second
	defaultCacheBytes  = 32 << 20
)

// WithDefaults returns o with the values that stand for zero.
func (o Options) WithDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	if o.LockTime == 0 {
		o.LockTime = defaultLockTime
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCacheBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// DB is an open root. It may be used by any number of goroutines at once.
type DB struct {
	store   Store
	options Options
	cache   *cache
	past    bool // see IsPast

	indexing *Derived[*indexing]

	// See CacheStats. A transaction counts for itself and adds its sums when it ends, so
	// that transactions do not contend for them.
	hits, misses atomic.Uint64

	publishing  sync.Mutex   // held from before a commit until the cache knows of it
	uncommitted atomic.Int64 // the last id or version below zero
}

// New returns a DB of an open store. The packages of stores have functions that open
// both.
func New(s Store, o Options) *DB {
	o = o.WithDefaults()
	return &DB{store: s, options: o, cache: newCache(max(o.CacheBytes, 0)), indexing: NewDerived(readIndexing)}
}

// Path names the root: the file's path as it was given, or the URL without a password.
func (db *DB) Path() string { return db.store.Path() }

// Size returns how much space the root takes.
func (db *DB) Size(ctx context.Context) (Size, error) { return db.store.Size(ctx) }

// Close ends the use of the root when the last transaction has ended. A process
// that lives for one request may exit without it: what is committed is safe,
// and exiting is faster.
func (db *DB) Close() error { return db.store.Close() }

// Info returns what the root says of itself.
func (db *DB) Info(ctx context.Context) (info Info, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		info, err = tx.session.Info(ctx)
		return err
	})
	return info, err
}

// Replication returns which standbys the server of the root has; nil if the root is a file.
func (tx *Tx) Replication() (*Replication, error) {
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	if r, ok := s.(Replicated); ok {
		return r.Replication(tx.ctx)
	}
	return nil, nil
}

// follow brings the cache to the state that a session sees, if that is newer. A commit
// of this process holds publishing until it has told the cache. follow waits for it a
// little; if that is not enough, the transaction does without the cache.
func (db *DB) follow(s State) {
	if s.Losses > db.cache.losses.Load() {
		db.publishing.Lock()
		defer db.publishing.Unlock()
		db.cache.reset(s.Generation, s.Losses)
		return
	}
	for try := 0; s.Generation > db.cache.generation() && try < 20; try++ {
		if !db.publishing.TryLock() {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		defer db.publishing.Unlock()
		db.cache.advance(s.Generation, s.Changes)
		return
	}
}

// nextUncommitted returns a new negative number, the id or version of an object that is
// not committed yet.
func (db *DB) nextUncommitted() int64 { return -db.uncommitted.Add(1) }
