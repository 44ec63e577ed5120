package objectdb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Tx is one transaction: it sees one state of the root, and its own writes. It
// is used by one goroutine at a time, and not after its function has returned.
type Tx struct {
	// Origin goes to the store with each commit. It is Options.Origin until the function
	// of the transaction sets another one.
	Origin Origin

	db      *DB
	ctx     context.Context
	mode    txMode
	recent  bool    // see UpdateRecent
	newer   bool    // it began with an older state than it sees now; nodes of tables may be from then
	session Session // nil before something must be read from the store, and at the end
	writer  Writer  // the session, while the transaction holds the writer's lock
	gen     int64   // the generation that is seen
	last    int64   // the last id given away; known while a session lasts
	root    *Node
	losses  int64 // the losses that it has seen: see State.Losses
	lost    bool  // there were losses since it began, so that nothing that it has read counts
	wait    *time.Duration
	locked  context.Context // ends when the lock has been held for Options.LockTime
	stop    func()          // ends locked

	over     *overlay       // what was written; nil when nothing was
	wrote    int64          // see Writes
	read     *readSet       // what was read; nil in transactions that do not validate, unless recorded is set
	recorded *recordedReads // see RecordReads; may be nil
	lists    map[int64][]*Node
	tries    attempts

	overtaken bool // what was read had changed before the session began
	flushed   bool
	real      map[int64]int64 // after a flush: the ids of objects that were new before it
	hits      uint64          // what the cache had
	misses    uint64          // what it had not
	err       error           // ends the transaction whatever its function says
	done      bool

	first     int64   // the generation of the first commit, after a flush
	committed int64   // the generation of the last commit
	undoes    []int64 // the changes that are undone
	// uncached says not to read the cache. The transaction restores tables, and the cache may
	// have what was in them before they were deleted.
	uncached bool

	indexes  []*TableIndex // those that were used
	building bool          // see BuildIndexes

	beforeSync func() // see BeforeSync; may be nil
}

type txMode uint8

const (
	viewing txMode = iota
	optimistic
	locking
)

// View runs fn in a transaction that only reads. It does not wait for writers.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.run(ctx, &Tx{mode: viewing}, db.patience(), fn)
}

// Update runs fn in a transaction and commits what it has written, all of it or, after an error, nothing. The
// writer's lock is held only at the end, while it is checked that what fn has read still stands. Where it does not,
// fn is run once more from the start, this time holding the lock. So fn may run twice, and must not have done
// anything outside of the transaction. That it does not stand may also be found while fn runs: what fn asks for
// fails with ErrConflict then, and fn is run once more whatever it returns. The same holds if the connection to the
// store is lost before anything is committed.
//
// A transaction that writes must not be begun inside of another one: it would
// wait for itself.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error { return db.update(ctx, false, fn) }

// UpdateRecent does the same as Update, but may begin with a state that was the newest one at some time within the last
// MaxAge. It is for answers that nobody can expect to be newer. It saves a round trip if the root is on a server and
// all that fn reads is in the cache. What fn writes is compared with the newest state, as in Update.
func (db *DB) UpdateRecent(ctx context.Context, fn func(*Tx) error) error {
	return db.update(ctx, true, fn)
}

func (db *DB) update(ctx context.Context, recent bool, fn func(*Tx) error) error {
	again, wait := false, db.patience()
	err := db.run(ctx, &Tx{mode: optimistic, recent: recent}, wait, func(tx *Tx) error {
		err := fn(tx)
		again = !tx.flushed
		return err
	})
	if again && (errors.Is(err, ErrConflict) || errors.Is(err, ErrUnreachable)) {
		return db.run(ctx, &Tx{mode: locking}, wait, fn)
	}
	return err
}

// UpdateLocked is Update that holds the writer's lock from the start: for
// imports, maintenance, and whatever is known to conflict often. It must be done
// by Options.LockTime.
func (db *DB) UpdateLocked(ctx context.Context, fn func(*Tx) error) error {
	return db.run(ctx, &Tx{mode: locking}, db.patience(), fn)
}

// patience is the time that one transaction may wait for others, in all.
func (db *DB) patience() *time.Duration {
	wait := db.options.BusyTimeout
	return &wait
}

// run runs fn in tx, of which the caller sets no more than the mode.
func (db *DB) run(ctx context.Context, tx *Tx, wait *time.Duration, fn func(*Tx) error) error {
	if tx.mode != viewing && db.options.ReadOnly {
		return &Error{Op: "update", Path: db.Path(), Err: ErrReadOnly}
	}
	tx.Origin, tx.db, tx.ctx, tx.wait = db.options.Origin, db, ctx, wait
	defer tx.end()
	if err := tx.begin(); err != nil {
		return tx.fileError("begin", err)
	}
	if err := fn(tx); err != nil && !tx.overtaken {
		return err
	}
	return tx.fileError("commit", tx.commit(true))
}

// fileError names the file in an error that concerns no single object.
func (tx *Tx) fileError(op string, err error) error {
	known := new(Error)
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{Op: op, Path: tx.db.Path(), Err: err}
}

func (tx *Tx) begin() error {
	if err := context.Cause(tx.ctx); err != nil {
		return err
	}
	if tx.mode == locking {
		if _, err := tx.lock(); err != nil {
			return err
		}
		tx.ctx = tx.locked
		return tx.findRoot()
	}
	if tx.mode == optimistic {
		tx.read = new(readSet)
	}
	if err := tx.snapshot(); err != nil {
		return err
	}
	return tx.findRoot()
}

// lock takes the writer's lock, and with it the newest state of the root.
func (tx *Tx) lock() (Changes, error) {
	tx.endSession()
	since := tx.db.cache.generation()
	if tx.gen > 0 {
		since = min(since, tx.gen)
	}
	w, state, err := tx.db.store.BeginWrite(tx.ctx, since, tx.wait)
	if err != nil {
		return Changes{}, err
	}
	tx.session, tx.writer = w, w
	tx.sees(state)
	tx.limit()
	return state.Changes, nil
}

// limit makes the context that ends when the lock has been held for Options.LockTime.
func (tx *Tx) limit() {
	limit := tx.db.options.LockTime
	if limit < 0 {
		tx.locked, tx.stop = tx.ctx, func() {}
		return
	}
	ctx, cancel := context.WithCancelCause(tx.ctx)
	timer := time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("%w: the writer's lock was held for %v", context.DeadlineExceeded, limit))
	})
	tx.locked, tx.stop = ctx, func() {
		timer.Stop()
		if tx.ctx != ctx { // else the function's work after a Flush goes on with it
			cancel(nil)
		}
	}
}

// end ends the session. Without a commit before, nothing was written.
func (tx *Tx) end() {
	tx.done = true
	tx.countCache()
	tx.endSession()
}

// endSession ends the session, which releases the lock.
func (tx *Tx) endSession() {
	if tx.session == nil {
		return
	}
	tx.session.End()
	tx.session, tx.writer = nil, nil
	if tx.stop != nil {
		tx.stop()
		tx.stop = nil
	}
}

func (tx *Tx) findRoot() error {
	n, err := tx.base(0, nil, nil)
	if err != nil {
		return err
	}
	if n.kind != KindTable || n.id != RootID {
		return fmt.Errorf("%w: it has no root table", ErrDamaged)
	}
	tx.root = n
	return nil
}

// Written reports whether there is anything to commit.
func (tx *Tx) Written() bool { return tx.over != nil }

// Committed returns the generation of the transaction's last commit, or 0 if nothing was committed
// so far. It may be asked for when the transaction has ended.
func (tx *Tx) Committed() int64 { return tx.committed }

// Writes returns a number that grows with each write of the transaction, with each
// write that is undone (Try), and with each Flush. While it stays the same, what the
// transaction sees stays the same.
func (tx *Tx) Writes() int64 { return tx.wrote }

// Locked reports whether the transaction has held the writer's lock from its
// start, and holds it still.
func (tx *Tx) Locked() bool { return tx.mode == locking }

// Context is the context of the transaction. That of a locked one ends
// Options.LockTime after its start, with context.DeadlineExceeded as its cause
// (context.Cause), and the transaction can then not be committed.
func (tx *Tx) Context() context.Context { return tx.ctx }

// Flush commits what was written so far and goes on, on a fresh snapshot and
// without the lock. From then on Update does not run its function again, and a
// conflict is an ErrConflict of Update. When Flush itself meets a conflict,
// nothing was committed, and its error should be returned to Update at once.
func (tx *Tx) Flush() error {
	if err := tx.usable(); err != nil {
		return err
	}
	tx.keepReads()
	err := tx.commit(false)
	if err == nil {
		tx.forget()
		err = tx.snapshot()
	}
	if err == nil {
		err = tx.findRoot()
	}
	tx.err = err
	return tx.fileError("flush", err)
}

// forget makes a transaction one that begins.
func (tx *Tx) forget() {
	tx.endSession()
	if tx.mode != viewing {
		tx.mode = optimistic
	}
	if tx.mode != viewing || tx.recorded != nil {
		tx.read = new(readSet)
	}
	tx.flushed = true
	tx.over, tx.lists, tx.undoes, tx.uncached = nil, nil, nil, false
	tx.wrote++
	tx.tries.committed()
}

func (tx *Tx) usable() error {
	if tx.done {
		return ErrEnded
	}
	return tx.err
}
