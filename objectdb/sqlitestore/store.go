package sqlitestore

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"scripter/objectdb"
)

// idleConns is how many unused connections a store keeps open.
const idleConns = 16

// store is an open root. It is the objectdb.Store of a DB.
type store struct {
	path    string
	options objectdb.Options
	file    fileID

	writer   chan struct{} // has one token: the writer's lock among our goroutines
	shared   *writerLock   // and among processes
	syncs    groupCommit
	unsynced unsynced // a sync has failed
	commits  atomic.Int64
	foldNext atomic.Int64 // pages in the WAL before it is looked at again
	// notThinned is a time, in nanoseconds since 1970. No change made before it has thinned values.
	notThinned atomic.Int64

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newStore(path string, o objectdb.Options) *store {
	s := &store{path: path, options: o.WithDefaults(), writer: make(chan struct{}, 1), shared: newWriterLock(path)}
	s.unsynced.root = s.shared.root
	s.writer <- struct{}{}
	return s
}

func (s *store) Path() string { return s.path }

// Size returns the sizes of the root's file and of its WAL. A file that cannot be seen counts as empty.
func (s *store) Size(context.Context) (objectdb.Size, error) {
	return objectdb.Size{Data: fileSize(s.path), WAL: fileSize(s.path + "-wal")}, nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *store) Close() error {
	unsynced := s.rewriteBeforeClose()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{unsynced}
	if unsynced == nil { // else SQLite would fold a WAL with gaps into the root
		for _, c := range s.idle {
			errs = append(errs, c.close())
		}
	}
	s.idle = nil
	forgetFile(s.file)
	s.shared.close()
	if !s.options.ReadOnly {
		s.shared.tidy()
	}
	if err := errors.Join(errs...); err != nil {
		return &objectdb.Error{Op: "close", Path: s.path, Err: err}
	}
	return nil
}

// rewriteBeforeClose rewrites the WAL if a sync has failed.
func (s *store) rewriteBeforeClose() error {
	if s.options.ReadOnly || !s.unsynced.marked() {
		return nil
	}
	wait := s.options.BusyTimeout
	w, _, err := s.BeginWrite(context.Background(), 0, &wait)
	if errors.Is(err, objectdb.ErrClosed) {
		return nil
	}
	if err == nil {
		w.End()
	}
	return err
}

// acquire returns a connection that nobody else uses.
func (s *store) acquire() (*conn, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, objectdb.ErrClosed
	}
	if last := len(s.idle) - 1; last >= 0 {
		c := s.idle[last]
		s.idle = s.idle[:last]
		s.mu.Unlock()
		return c, nil
	}
	s.mu.Unlock()
	return s.connect()
}

// connect opens another connection.
func (s *store) connect() (*conn, error) {
	c, err := openConn(s.path, s.options)
	if err == nil {
		c.store, c.unsynced = s, &s.unsynced
	}
	return c, err
}

// release takes a connection back.
func (s *store) release(c *conn) {
	c.endRead()
	c.rollback()
	s.mu.Lock()
	keep := !c.broken && !s.closed && len(s.idle) < idleConns
	if keep {
		s.idle = append(s.idle, c)
	}
	s.mu.Unlock()
	if !keep {
		c.close()
	}
}

// lockWriter waits for the writer's lock, first among the goroutines of this process
// and then among processes.
func (s *store) lockWriter(ctx context.Context, deadline time.Time) error {
	if err := s.takeToken(ctx, deadline); err != nil {
		return err
	}
	if err := s.shared.enter(ctx, deadline); err != nil {
		s.writer <- struct{}{}
		return err
	}
	return nil
}

func (s *store) takeToken(ctx context.Context, deadline time.Time) error {
	select {
	case <-s.writer:
		return nil
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-s.writer:
		return nil
	case <-timer.C:
		return objectdb.ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *store) unlockWriter() {
	s.shared.leave()
	s.writer <- struct{}{}
}

// patiently calls try until the root is not locked, for as long as *wait allows. It
// reduces *wait by the time that it took.
func patiently(ctx context.Context, wait *time.Duration, try func() error) error {
	err := try()
	if !errors.Is(err, objectdb.ErrBusy) {
		return err
	}
	start := time.Now()
	err = retry(ctx, start.Add(*wait), try)
	*wait -= time.Since(start)
	return err
}

// retry calls try until it returns anything but ErrBusy, the context ends, or the
// deadline has passed.
func retry(ctx context.Context, deadline time.Time, try func() error) error {
	pause := 100 * time.Microsecond
	for {
		err := try()
		if !errors.Is(err, objectdb.ErrBusy) {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return err
		}
		// The pauses differ from process to process, so that none starves.
		timer := time.NewTimer(min(left, pause/2+rand.N(pause)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		pause = min(pause*3/2, 5*time.Millisecond)
	}
}

// patient calls try until the root is not locked, for at most Options.BusyTimeout.
func (s *store) patient(try func() error) error {
	return retry(context.Background(), time.Now().Add(s.options.BusyTimeout), try)
}
