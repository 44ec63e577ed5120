package objectdb

import (
	"context"
	"errors"
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
	// Relaxed makes commits faster and gives up the last ones when the power
	// fails; the root stays consistent.
	Relaxed bool
	// BusyTimeout bounds all waiting for other writers in one transaction; 0 is 5 s.
	BusyTimeout time.Duration
	// LockTime is how long a transaction that holds the writer's lock from its
	// start may run before it commits; 0 is 2 s, negative is no limit.
	LockTime time.Duration
	// CacheBytes is about the memory that read objects are kept in; 0 is
	// 32 MB, negative is none.
	CacheBytes int
	// WALBytes is how long the file -wal may grow before a commit folds it into
	// the root and empties it; 0 is right for processes that stay, which do it at
	// 1000 pages. Processes that end without Close need it: each reads the whole
	// file before it can begin, and none knows what of it another one has folded in,
	// so that without it the file would grow for ever.
	WALBytes int64
	// Program is what the program calls itself, such as "scripter 0.1.0": a
	// root keeps who made it, and who brought it to a newer version.
	Program string
	// Now is the clock of created and modified times; nil is time.Now.
	Now func() time.Time
}

const (
	defaultBusyTimeout = 5 * time.Second
	defaultLockTime    = 2 * time.Second
	defaultCacheBytes  = 32 << 20
	idleConns          = 16
)

// DB is an open root. It may be used by any number of goroutines at once.
type DB struct {
	path    string
	options Options
	cache   *cache
	counts  cacheCounts
	file    fileID

	writer     chan struct{} // holds one token: the writer's lock among our goroutines
	queue      *queue        // and among processes
	rounds     rounds        // of syncs
	unsynced   unsynced      // a sync has failed
	publishing sync.Mutex    // held from before a commit until the cache knows of it
	commits    atomic.Int64
	foldNext   atomic.Int64 // pages in the WAL before it is looked at again

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newDB(path string, o Options) *DB {
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
	db := &DB{
		path: path, options: o, cache: newCache(max(o.CacheBytes, 0)),
		writer: make(chan struct{}, 1), queue: newQueue(path),
	}
	db.unsynced.root = db.queue.root
	db.writer <- struct{}{}
	return db
}

// Path is the file's path as it was given.
func (db *DB) Path() string { return db.path }

// Close ends the use of the root when the last transaction has ended. A process
// that lives for one request may exit without it: what is committed is safe,
// and exiting is faster.
func (db *DB) Close() error {
	unsynced := db.rewriteBeforeClose()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	errs := []error{unsynced}
	if unsynced == nil { // else SQLite would fold a WAL with gaps into the root
		for _, c := range db.idle {
			errs = append(errs, c.close())
		}
	}
	db.idle = nil
	forgetFile(db.file)
	db.queue.close()
	if !db.options.ReadOnly {
		db.queue.tidy()
	}
	if err := errors.Join(errs...); err != nil {
		return &Error{Op: "close", Path: db.path, Err: err}
	}
	return nil
}

// rewriteBeforeClose rewrites the WAL if a sync has failed.
func (db *DB) rewriteBeforeClose() error {
	if db.options.ReadOnly || !db.unsynced.marked() {
		return nil
	}
	err := db.UpdateLocked(context.Background(), func(*Tx) error { return nil })
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// take gives a connection that nobody else uses.
func (db *DB) take() (*conn, error) {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil, ErrClosed
	}
	if last := len(db.idle) - 1; last >= 0 {
		c := db.idle[last]
		db.idle = db.idle[:last]
		db.mu.Unlock()
		return c, nil
	}
	db.mu.Unlock()
	return db.connect()
}

// connect opens another connection.
func (db *DB) connect() (*conn, error) {
	c, err := openConn(db.path, db.options)
	if err == nil {
		c.file, c.unsynced = db.file.info, &db.unsynced
	}
	return c, err
}

// give takes a connection back.
func (db *DB) give(c *conn) {
	c.endRead()
	c.rollback()
	db.mu.Lock()
	keep := !c.broken && !db.closed && len(db.idle) < idleConns
	if keep {
		db.idle = append(db.idle, c)
	}
	db.mu.Unlock()
	if !keep {
		c.close()
	}
}

// lockWriter waits until we are the one that may write, among the goroutines of
// this process and then among processes.
func (db *DB) lockWriter(ctx context.Context, deadline time.Time) error {
	if err := db.takeToken(ctx, deadline); err != nil {
		return err
	}
	if err := db.queue.enter(ctx, deadline); err != nil {
		db.writer <- struct{}{}
		return err
	}
	return nil
}

func (db *DB) takeToken(ctx context.Context, deadline time.Time) error {
	select {
	case <-db.writer:
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-db.writer:
		return nil
	case <-timer.C:
		return ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (db *DB) unlockWriter() {
	db.queue.leave()
	db.writer <- struct{}{}
}

// follow makes the cache stand for generation gen, which c sees, or a later one.
// When a commit of our own, which may be what made gen, does not tell the cache
// soon, the transaction goes without.
func (db *DB) follow(c *conn, gen int64) error {
	for try := 0; gen > db.cache.generation() && try < 20; try++ {
		if !db.publishing.TryLock() {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		defer db.publishing.Unlock()
		log, err := c.changes()
		if err == nil {
			db.cache.advance(gen, log)
		}
		return err
	}
	return nil
}
