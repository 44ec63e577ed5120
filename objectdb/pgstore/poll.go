package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

const (
	pollEvery = 15 * time.Millisecond
	// The poller stops when nobody has asked for so long.
	pollIdle = 5 * time.Second
	// A query that takes longer is given up, with its connection.
	pollTime = time.Second
)

// A poller learns the newest generation for the transactions of this process that may begin with a recent state. One
// process of a host polls for all: the one that owns the page.
//
// A process notices that nobody polls when it wants to know and what the page has is too old. So another process
// replaces a poller that has died.
type poller struct {
	store *store
	path  string // of the page's file; "": the process has a page of its own
	page  atomic.Pointer[page]
	wake  chan struct{}

	mu      sync.Mutex
	stop    context.CancelFunc // nil before the first one asks
	stopped chan struct{}
}

// newest returns a generation that was the newest at some time within the last objectdb.MaxAge, if one is known. losses
// is the number of losses that the caller has seen.
func (p *poller) newest(losses int64) (generation int64, ok bool) {
	pg := p.page.Load()
	if pg == nil {
		if pg = p.start(); pg == nil {
			return 0, false
		}
	}
	now := clock()
	if !pg.ask(now) {
		p.page.CompareAndSwap(pg, newPage())
		return 0, false
	}
	s, known := pg.read(now, objectdb.MaxAge)
	if !known {
		select {
		case p.wake <- struct{}{}:
		default:
		}
		return 0, false
	}
	return s.generation, p.store.stamps.isNewest(s.generation, s.stamp, losses)
}

// start opens the page and begins to wait for questions. It returns nil if the store is closed.
func (p *poller) start() *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped != nil {
		return p.page.Load()
	}
	var pg *page
	if p.path != "" {
		pg, _ = openPage(p.path)
	}
	if pg == nil {
		pg = newPage() // each process polls then
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.stopped = stop, make(chan struct{})
	p.page.Store(pg)
	go p.run(ctx)
	return pg
}

// before is called before a query is sent that finds the newest generation. It returns the function to call with what
// it has found.
func (p *poller) before() (found func(generation, stamp int64)) {
	pg := p.page.Load()
	if pg == nil {
		return func(int64, int64) {}
	}
	floor, sent := pg.floor(), clock()
	return func(generation, stamp int64) { pg.publish(sight{generation, stamp, sent}, floor) }
}

// close ends the polling, also that which has not begun.
func (p *poller) close() {
	p.mu.Lock()
	stop, stopped := p.stop, p.stopped
	if stopped == nil {
		p.stopped = make(chan struct{})
	}
	p.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}

func (p *poller) run(ctx context.Context) {
	defer close(p.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		page := p.page.Load()
		if give, ok := page.tryOwn(); ok {
			p.poll(ctx, page)
			give()
		}
	}
}

// poll polls until nobody has asked for some time. Sessions publish what they see, too, and then no query is needed.
func (p *poller) poll(ctx context.Context, pg *page) {
	q := &pollConn{store: p.store}
	defer q.close()
	pause := pollEvery
	for p.page.Load() == pg && pg.wanted(clock()) {
		s, known := pg.read(clock(), pollEvery)
		if !known {
			floor := pg.floor()
			var err error
			if s, err = q.newest(ctx, floor); err == nil {
				pg.publish(s, floor)
				pause = pollEvery
			} else {
				s.sent, pause = clock(), min(2*pause, 200*time.Millisecond)
			}
		}
		if !sleep(ctx, pause-time.Duration(clock()-s.sent)) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// pollConn is the poller's connection. It is not from the pool, because requests may use all connections there.
type pollConn struct {
	store *store
	conn  *pgx.Conn
}

// newest asks the server. If it does not know the generation floor, the connection may be one to a server that has
// been replaced. Then another connection is asked.
func (q *pollConn) newest(ctx context.Context, floor int64) (sight, error) {
	s, err := q.ask(ctx)
	if err == nil && s.generation < floor {
		q.close()
		s, err = q.ask(ctx)
	}
	return s, err
}

func (q *pollConn) ask(ctx context.Context) (s sight, err error) {
	if q.conn == nil {
		if q.conn, err = pgx.ConnectConfig(ctx, q.store.pool.Config().ConnConfig); err != nil {
			return s, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	s.sent = clock()
	// Simple queries need no prepared statement, which a pool of connections may not know.
	err = q.conn.QueryRow(ctx, q.store.sql[sqlPoll], pgx.QueryExecModeSimpleProtocol).Scan(&s.generation, &s.stamp)
	if err != nil {
		q.close()
	}
	return s, err
}

func (q *pollConn) close() {
	if q.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), pollTime)
		defer cancel()
		_ = q.conn.Close(ctx)
		q.conn = nil
	}
}
