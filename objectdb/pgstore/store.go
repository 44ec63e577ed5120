package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"scripter/objectdb"
	"scripter/rootname"
)

// answerTime is the time limit of the server for a commit, which the context of the transaction does not stop.
const answerTime = time.Minute

// store is an open root. It is the objectdb.Store of a DB.
type store struct {
	*place
	options objectdb.Options
	sql     *[statements]string
	lock    int64 // the key of the writer's lock
	pool    *pgxpool.Pool

	// sessions has a token for each session that may be open. Waiting for a token is limited like waiting for a
	// lock; connecting takes as long as the server needs.
	sessions chan struct{}
	// writers has two tokens: one writer of this process has the lock, and the next one waits for it at the server.
	// The others need no connection.
	writers chan struct{}
	pooling
	stamps stamps
	poller *poller
	closed atomic.Bool
}

func newStore(p *place, o objectdb.Options) (*store, error) {
	s := &store{place: p, options: o.WithDefaults(), sql: statementsIn(p.schema), lock: lockKey(p.schema)}
	s.poller = &poller{store: s, wake: make(chan struct{}, 1)}
	if local, err := rootname.LocalPath(p.shown); err == nil {
		s.poller.path = local + "-newest"
	}
	s.sessions = tokens(int(p.config.MaxConns))
	s.writers = tokens(2)
	// No ping is needed: if the server has closed a connection, its first request fails and is repeated.
	p.config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	p.config.ConnConfig.BuildContextWatcherHandler = stopping
	s.pooling.configure(p.config, p.decided)
	pool, err := pgxpool.NewWithConfig(context.Background(), p.config)
	if err != nil {
		return nil, err
	}
	s.pool = pool
	return s, nil
}

func tokens(n int) chan struct{} {
	c := make(chan struct{}, n)
	for range n {
		c <- struct{}{}
	}
	return c
}

func (s *store) Path() string { return s.shown }

// Size returns how much space the tables and their indexes take.
func (s *store) Size(ctx context.Context) (objectdb.Size, error) {
	wait := s.options.BusyTimeout
	var bytes int64
	c, err := s.open(ctx, &wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginReading)
		t.one(func(rows pgx.Rows) error { return rows.Scan(&bytes) },
			`SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
				JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'`, s.schema)
		return sqlError(ctx, t.run(ctx))
	})
	if err != nil {
		return objectdb.Size{}, err
	}
	c.End()
	return objectdb.Size{Data: bytes}, nil
}

func (s *store) Newest(losses int64, recent bool) (generation int64, ok bool) {
	if !recent || s.strict {
		return 0, false
	}
	return s.poller.newest(losses)
}

// Close waits for the sessions that have not ended.
func (s *store) Close() error {
	if !s.closed.Swap(true) {
		s.poller.close()
		s.pool.Close()
	}
	return nil
}

// take takes a token, and reduces *wait by the time that it took.
func take(ctx context.Context, from chan struct{}, wait *time.Duration) error {
	select {
	case <-from:
		return nil
	default:
	}
	start := time.Now()
	defer func() { *wait -= time.Since(start) }()
	timer := time.NewTimer(*wait)
	defer timer.Stop()
	select {
	case <-from:
		return nil
	case <-timer.C:
		return objectdb.ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// open opens a session. begin is its first round trip. If the connection is lost in it, or there is none, open tries
// again, for as long as *wait allows.
func (s *store) open(ctx context.Context, wait *time.Duration, begin func(context.Context, *session) error) (*session, error) {
	if s.closed.Load() {
		return nil, objectdb.ErrClosed
	}
	if err := take(ctx, s.sessions, wait); err != nil {
		if errors.Is(err, objectdb.ErrBusy) {
			err = fmt.Errorf("%w: all %d connections of this process are in use", err, cap(s.sessions))
		}
		return nil, err
	}
	c, err := s.connect(ctx, wait, begin)
	if err != nil {
		s.sessions <- struct{}{}
	}
	return c, err
}

// connect is open for a session that has its token already.
func (s *store) connect(ctx context.Context, wait *time.Duration, begin func(context.Context, *session) error) (*session, error) {
	pause := time.Millisecond
	for {
		start := time.Now()
		c, err := s.tryInTime(ctx, *wait, begin)
		if err == nil {
			return c, nil
		}
		*wait -= time.Since(start)
		again := errors.Is(err, objectdb.ErrUnreachable) || errors.Is(err, errTooMany)
		if !again || *wait <= 0 || s.closed.Load() {
			return nil, err
		}
		next := min(*wait, pause/2+rand.N(pause))
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		*wait -= next
		pause = min(2*pause, 200*time.Millisecond)
	}
}

// tryInTime is tryConnect that gives up a server which does not answer, because its host is gone or hangs.
func (s *store) tryInTime(
	ctx context.Context, wait time.Duration, begin func(context.Context, *session) error,
) (*session, error) {
	most := max(wait, 0) + time.Second // the server itself watches over the wait for the lock
	ctx, cancel := context.WithTimeoutCause(ctx, most,
		fmt.Errorf("%w: it has not answered for %v", objectdb.ErrUnreachable, most.Round(time.Second)))
	defer cancel()
	return s.tryConnect(ctx, begin)
}

func (s *store) tryConnect(ctx context.Context, begin func(context.Context, *session) error) (*session, error) {
	conn, err := s.pool.Acquire(ctx)
	for errors.Is(err, errPooled) {
		conn, err = s.pool.Acquire(ctx)
	}
	if err != nil {
		if s.closed.Load() {
			return nil, objectdb.ErrClosed
		}
		return nil, sqlError(ctx, err)
	}
	c := &session{store: s, pooled: conn, conn: conn.Conn()}
	if err := begin(ctx, c); err != nil {
		c.rollback()
		return nil, err
	}
	return c, nil
}

// stamps are the random numbers in the rows of the commits that the caller of the store knows. They show whether
// commits were lost.
type stamps struct {
	mu     sync.Mutex
	last   [keptCommits]struct{ generation, stamp int64 }
	newest int64 // the newest generation since the last loss
	losses int64 // see objectdb.State
}

// put remembers the stamp of a generation.
func (s *stamps) put(generation, stamp int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(generation, stamp)
	s.newest = max(s.newest, generation)
}

func (s *stamps) remember(generation, stamp int64) {
	e := &s.last[generation%keptCommits]
	e.generation, e.stamp = generation, stamp
}

// see remembers the stamp of the newest generation, and compares the remembered stamp of the generation since with
// now, the one in the root, or nil. If they differ, or if one is not known any more, it counts a loss. see returns
// the number of losses.
func (s *stamps) see(since int64, now *int64, newest, stamp int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.last[since%keptCommits]; since > 0 && (now == nil || e.generation != since || e.stamp != *now) {
		s.losses++
		s.newest = 0
	}
	s.remember(newest, stamp)
	s.newest = max(s.newest, newest)
	return s.losses
}

// isNewest reports whether a generation is the newest one that the caller of the store knows, with the same stamp, and
// whether the caller has seen all losses.
func (s *stamps) isNewest(generation, stamp, losses int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if generation != s.newest || s.losses != losses {
		return false
	}
	e := s.last[generation%keptCommits]
	return e.generation == generation && e.stamp == stamp
}
