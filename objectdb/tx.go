package objectdb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Tx is one transaction: it sees one state of the root, and its own writes. It
// is used by one goroutine at a time, and not after its function has returned.
type Tx struct {
	db     *DB
	ctx    context.Context
	conn   *conn
	mode   txMode
	gen    int64 // the generation that is seen
	last   int64 // the last id given away; known while the lock is held
	root   *Node
	late   bool // the read transaction has not begun: all that was read came from the cache
	newer  bool // it had begun with an older state than it sees; nodes of tables may be of that
	locked bool // holds the writer's lock
	stop   func()
	wait   *time.Duration // how long it may still wait for others

	over  *overlay // what was written; nil when nothing was
	wrote int64    // see Writes
	marks *marks   // what was read; nil when nobody will ask: in optimistic transactions, and while a Derived value is made
	lists map[int64][]*Node
	tries attempts

	overtaken bool // another one has changed what was read before the read transaction began
	flushed   bool
	real      map[int64]int64 // after a flush: the ids of objects that were new before it
	hits      uint64          // what the cache had
	misses    uint64          // what it had not
	err       error           // ends the transaction whatever its function says
	done      bool

	beforeSync func() // nil: nobody wants to know
}

type txMode uint8

const (
	viewing txMode = iota
	optimistic
	locking
)

// View runs fn in a transaction that only reads. It waits for nobody.
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return db.run(ctx, viewing, db.patience(), fn)
}

// Update runs fn in a transaction and commits what it has written, all of it
// or, after an error, nothing. The writer's lock is held only at the end, while
// it is checked that what fn has read still stands. Where it does not, fn is
// run once more from the start, this time holding the lock. So fn may run
// twice, and must not have done anything outside of the transaction. That it does not
// stand may also be found while fn runs: what fn asks for fails with ErrConflict then,
// and fn is run once more whatever it returns.
//
// A transaction that writes must not be begun inside of another one: it would
// wait for itself.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	again, wait := false, db.patience()
	err := db.run(ctx, optimistic, wait, func(tx *Tx) error {
		err := fn(tx)
		again = !tx.flushed
		return err
	})
	if errors.Is(err, ErrConflict) && again {
		return db.run(ctx, locking, wait, fn)
	}
	return err
}

// UpdateLocked is Update that holds the writer's lock from the start: for
// imports, maintenance, and whatever is known to conflict often. It must be done
// by Options.LockTime.
func (db *DB) UpdateLocked(ctx context.Context, fn func(*Tx) error) error {
	return db.run(ctx, locking, db.patience(), fn)
}

// patience is the time that one transaction may wait for others, in all.
func (db *DB) patience() *time.Duration {
	wait := db.options.BusyTimeout
	return &wait
}

func (db *DB) run(ctx context.Context, mode txMode, wait *time.Duration, fn func(*Tx) error) error {
	if mode != viewing && db.options.ReadOnly {
		return &Error{Op: "update", Path: db.path, Err: ErrReadOnly}
	}
	tx := &Tx{db: db, ctx: ctx, mode: mode, wait: wait}
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
	return &Error{Op: op, Path: tx.db.path, Err: err}
}

func (tx *Tx) begin() error {
	var err error
	if err = context.Cause(tx.ctx); err != nil {
		return err
	}
	err = tx.patiently(func() (err error) {
		tx.conn, err = tx.db.take()
		return err
	})
	if err != nil {
		return err
	}
	if tx.mode == optimistic {
		tx.marks = new(marks)
	}
	if tx.mode == locking {
		if err := tx.lock(); err != nil {
			return err
		}
		tx.limit()
	} else if err := tx.snapshot(); err != nil {
		return err
	}
	return tx.findRoot()
}

// patiently tries again for as long as the transaction may wait.
func (tx *Tx) patiently(try func() error) error {
	err := try()
	if !errors.Is(err, ErrBusy) {
		return err
	}
	start := time.Now()
	err = retry(tx.ctx, start.Add(*tx.wait), try)
	*tx.wait -= time.Since(start)
	return err
}

// lock takes the writer's lock, and with it the newest state of the root.
func (tx *Tx) lock() error {
	tx.conn.endRead()
	start := time.Now()
	if err := tx.db.lockWriter(tx.ctx, start.Add(*tx.wait)); err != nil {
		return err
	}
	*tx.wait -= time.Since(start)
	tx.locked = true
	err := tx.patiently(func() (err error) {
		tx.gen, tx.last, err = tx.conn.beginWrite()
		if err != nil {
			tx.conn.rollback()
		}
		return err
	})
	if err == nil {
		err = tx.db.follow(tx.conn, tx.gen)
	}
	return err
}

// limit ends the context of a locked transaction after Options.LockTime.
func (tx *Tx) limit() {
	limit := tx.db.options.LockTime
	if limit < 0 {
		return
	}
	ctx, cancel := context.WithCancelCause(tx.ctx)
	timer := time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("%w: the writer's lock was held for %v", context.DeadlineExceeded, limit))
	})
	tx.ctx, tx.stop = ctx, func() { timer.Stop() }
}

func (tx *Tx) unlock() {
	if tx.locked {
		tx.conn.rollback()
		tx.locked = false
		tx.db.unlockWriter()
	}
	if tx.stop != nil {
		tx.stop()
		tx.stop = nil
	}
}

// end gives everything back. Without a commit before, nothing was written.
func (tx *Tx) end() {
	tx.done = true
	tx.countCache()
	tx.giveBack()
}

// giveBack gives back the lock and the connection.
func (tx *Tx) giveBack() {
	if tx.conn != nil {
		tx.conn.endRead()
		tx.unlock()
		tx.db.give(tx.conn)
		tx.conn = nil
	}
}

func (tx *Tx) findRoot() error {
	n, err := tx.base(0, nil, nil)
	if err != nil {
		return err
	}
	if n.kind != KindTable || n.id != rootID {
		return fmt.Errorf("%w: it has no root table", ErrDamaged)
	}
	tx.root = n
	return nil
}

// Written tells whether there is anything to commit.
func (tx *Tx) Written() bool { return tx.over != nil }

// Writes returns a number that grows with each write of the transaction, with each
// write that is undone (Try), and with each Flush. While it stays the same, what the
// transaction sees stays the same.
func (tx *Tx) Writes() int64 { return tx.wrote }

// Locked tells whether the transaction has held the writer's lock from its
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
	tx.conn.endRead()
	tx.unlock()
	if tx.mode != viewing {
		tx.mode = optimistic
		tx.marks = new(marks)
	}
	tx.flushed = true
	tx.over, tx.lists = nil, nil
	tx.wrote++
	tx.tries.committed()
}

func (tx *Tx) usable() error {
	if tx.done {
		return errEnded
	}
	return tx.err
}

var errEnded = errors.New("objectdb: the transaction has ended")

// pending numbers what is not committed yet: ids and versions below zero.
var pending atomic.Int64

func nextPending() int64 { return -pending.Add(1) }
