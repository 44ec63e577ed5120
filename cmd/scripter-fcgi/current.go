package main

import (
	"context"
	"log/slog"
	"sync"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/objectdb"
)

// current is the root that requests are answered from in this process. Another
// one may take its place while requests are under way: those end with the old
// one, which is then closed.
type current struct {
	log *slog.Logger

	mu   sync.Mutex
	open *opened
	past gateway.Counts // of roots that are closed
}

// opened is an open root.
type opened struct {
	served   served
	gateway  *gateway.Gateway
	handler  fcgi.Handler
	db       *objectdb.DB
	stopSave func()
	users    int  // requests that use it
	left     bool // another one has taken its place
}

func newCurrent(s served, db *objectdb.DB, log *slog.Logger) (*current, error) {
	o, err := newOpened(s, db, log)
	return &current{log: log, open: o}, err
}

func newOpened(s served, db *objectdb.DB, log *slog.Logger) (*opened, error) {
	g, err := newGateway(db, s.reach, log, nil)
	if err != nil {
		return nil, err
	}
	handler, err := handlerFor(g, s.root)
	if err != nil {
		return nil, err
	}
	return &opened{served: s, gateway: g, handler: handler, db: db, stopSave: g.StartAutoSave()}, nil
}

// change opens another root, unless it is open already, and sets what it may use.
func (c *current) change(s served) error {
	c.mu.Lock()
	same := c.open.served.root == s.root
	if same {
		c.open.served = s
		c.open.gateway.SetReach(s.reach)
	}
	open := c.open
	c.mu.Unlock()
	if same {
		return warnUnlisted(context.Background(), open.db, s.reach, c.log)
	}
	db, err := openRoot(s.root)
	if err != nil {
		return err
	}
	next, err := newOpened(s, db, c.log)
	if err != nil {
		db.Close()
		return err
	}
	c.mu.Lock()
	old := c.open
	old.left, c.open = true, next
	unused := old.users == 0
	c.mu.Unlock()
	c.log.Info("answering from another root", "root", s.root, "before", old.served.root)
	if unused {
		c.end(old)
	}
	return nil
}

func (c *current) take() *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open.users++
	return c.open
}

func (c *current) give(o *opened) {
	c.mu.Lock()
	o.users--
	last := o.left && o.users == 0
	c.mu.Unlock()
	if last {
		c.end(o)
	}
}

// end closes a root that nobody uses any more.
func (c *current) end(o *opened) {
	o.stopSave()
	counts := o.gateway.TakeCounts()
	c.mu.Lock()
	c.past.Add(counts)
	c.mu.Unlock()
	if err := o.db.Close(); err != nil {
		c.log.Warn("root not closed", "root", o.served.root, "err", err)
	}
}

// serve answers a request; it is an [fcgi.Handler].
func (c *current) serve(ctx context.Context, r *fcgi.Request) {
	o := c.take()
	defer c.give(o)
	o.handler(ctx, r)
}

// counts takes what was counted since it was asked before.
func (c *current) counts() gateway.Counts {
	o := c.take()
	sum := o.gateway.TakeCounts()
	c.give(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	sum.Add(c.past)
	c.past = gateway.Counts{}
	return sum
}

func (c *current) load() gateway.Load {
	o := c.take()
	defer c.give(o)
	return o.gateway.Load()
}

// close ends the use of the last root; no request may be under way.
func (c *current) close() {
	c.mu.Lock()
	o := c.open
	c.mu.Unlock()
	c.end(o)
}
