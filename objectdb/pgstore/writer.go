package pgstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

// writer is a session that holds the writer's lock.
type writer struct {
	*session
	history  historyState
	unlocked bool // its transaction has ended, which has released the lock
	pending  bool // a flush still uses the connection
	stamp    int64
	moved    string // where the root was moved to; then nothing must be committed
}

// historyState has what a writer needs to know of the history to decide whether to drop old parts of it.
type historyState struct {
	bytes   int64
	thinned int64
	next    *int64 // the time of the next change that may have thinned values
	oldest  *int64 // the time of the oldest change
}

func (s *store) BeginWrite(
	ctx context.Context, since int64, wait *time.Duration,
) (objectdb.Writer, objectdb.State, error) {
	w, state, err := s.beginWrite(ctx, since, wait)
	if err != nil {
		return nil, state, err
	}
	return w, state, nil
}

func (s *store) beginWrite(ctx context.Context, since int64, wait *time.Duration) (*writer, objectdb.State, error) {
	w, state, err := s.beginLocked(ctx, since, wait)
	if err == nil && w.moved != "" {
		w.End()
		return nil, state, objectdb.MovedTo(w.moved)
	}
	return w, state, err
}

// beginLocked is beginWrite for a root that may be marked as moved.
func (s *store) beginLocked(ctx context.Context, since int64, wait *time.Duration) (*writer, objectdb.State, error) {
	var state objectdb.State
	if s.options.ReadOnly {
		return nil, state, objectdb.ErrReadOnly
	}
	if err := take(ctx, s.writers, wait); err != nil {
		return nil, state, err
	}
	w := &writer{}
	_, err := s.open(ctx, wait, func(ctx context.Context, c *session) (err error) {
		w.session = c
		start := time.Now()
		if state, err = w.begin(ctx, since, *wait); err == nil {
			*wait -= time.Since(start)
		}
		return err
	})
	if err != nil {
		s.writers <- struct{}{}
		return nil, state, err
	}
	return w, state, nil
}

// begin begins the transaction and takes the lock, in one round trip.
func (w *writer) begin(ctx context.Context, since int64, wait time.Duration) (objectdb.State, error) {
	t := w.trip()
	t.add(beginWriting)
	t.add(setLimits, milliseconds(max(wait, time.Millisecond)), milliseconds(w.store.idleTime()))
	return w.lock(ctx, t, since)
}

// lock takes the lock at the end of a trip, and reads what a writer must know.
func (w *writer) lock(ctx context.Context, t *trip, since int64) (objectdb.State, error) {
	s := w.store
	t.add(takeLock, s.lock)
	read := w.state(t, since)
	var version *int
	h := &w.history
	t.one(func(rows pgx.Rows) error {
		return rows.Scan(&version, &w.moved, &h.bytes, &h.thinned, &h.next, &h.oldest)
	}, s.sql[sqlWriting])
	if err := t.run(ctx); err != nil {
		return objectdb.State{}, standby(sqlError(ctx, err))
	}
	// A newer program may have brought the root up to date since it was opened.
	if err := checkForm(version); err != nil {
		return objectdb.State{}, err
	}
	return read()
}

// milliseconds returns a time limit in the form of PostgreSQL's settings.
func milliseconds(d time.Duration) string { return strconv.FormatInt(max(0, d.Milliseconds()), 10) }

// idleTime is how long the server waits for a writer's next statement before it takes the lock away: a host that
// has lost its network must not block the others. 0 is no limit.
func (s *store) idleTime() time.Duration {
	if s.options.LockTime < 0 {
		return 0
	}
	return s.options.LockTime + time.Second
}

func checkForm(version *int) error {
	switch {
	case version == nil:
		return fmt.Errorf("%w: it does not say which form it has", objectdb.ErrDamaged)
	case *version > form:
		return fmt.Errorf("%w: its tables have the form %d, and this program knows forms up to %d",
			objectdb.ErrNewer, *version, form)
	}
	return nil
}

// End releases the lock, and the connection unless a flush needs it.
func (w *writer) End() {
	s := w.store
	if w.pending {
		w.unlock()
		return
	}
	go func() {
		defer func() { s.sessions <- struct{}{} }()
		w.rollback()
		w.unlock()
	}()
}

// unlock lets another writer of this process wait at the server.
func (w *writer) unlock() {
	if !w.unlocked {
		w.unlocked = true
		w.store.writers <- struct{}{}
	}
}
