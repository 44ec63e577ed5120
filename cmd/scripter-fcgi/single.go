package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"scripter/fcgi"
	"scripter/metrics"
	"scripter/objectdb"
)

// single answers requests in this process. SIGHUP can give it another root: requests
// under way end with the old one, which is then closed.
type single struct {
	log     *slog.Logger
	server  *fcgi.Server
	started time.Time
	sum     tally
	errs    chan error

	mu       sync.Mutex
	root     *openRoot
	past     metrics.Counts // of roots that are closed
	web      net.Listener
	resident net.Listener
}

func newSingle(s rootConf, db *objectdb.DB, log *slog.Logger) (*single, error) {
	collectLess()
	root, err := newOpenRoot(s, db, log, nil)
	if err != nil {
		return nil, err
	}
	if root.agent, err = startAgent(s, db, root.gateway.Site(), log); err != nil {
		return nil, err
	}
	p := &single{log: log, root: root, started: time.Now(), errs: make(chan error, 1)}
	p.sum.take = p.takeCounts
	p.server = &fcgi.Server{Handler: p.serve, Log: func(err error) { log.Warn("fastcgi", "err", err) }}
	return p, nil
}

// listen serves ls.
func (p *single) listen(ls *sockets) {
	p.web, p.resident = ls.web, ls.resident
	for _, l := range ls.all() {
		go p.serveOn(l)
	}
}

// serveOn serves l, and reports its end unless another socket has replaced it.
func (p *single) serveOn(l net.Listener) {
	err := p.server.Serve(l)
	p.mu.Lock()
	defer p.mu.Unlock()
	if l == p.web || l == p.resident {
		select {
		case p.errs <- err:
		default:
		}
	}
}

func (p *single) failed() <-chan error { return p.errs }

// serve answers a request; it is an [fcgi.Handler].
func (p *single) serve(ctx context.Context, r *fcgi.Request) {
	root := p.acquire()
	defer p.release(root)
	root.handler(ctx, r)
}

func (p *single) acquire() *openRoot {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.root.users++
	return p.root
}

func (p *single) release(root *openRoot) {
	p.mu.Lock()
	root.users--
	last := root.replaced && root.users == 0
	p.mu.Unlock()
	if last {
		p.end(root)
	}
}

// end closes a root that is not used any more.
func (p *single) end(root *openRoot) {
	root.stopSave()
	root.agent.stop()
	counts := root.gateway.TakeCounts()
	p.mu.Lock()
	p.past.Add(counts)
	p.mu.Unlock()
	if err := root.db.Close(); err != nil {
		p.log.Warn("root not closed", "root", root.conf.root, "err", err)
	}
}

func (p *single) reload(ctx context.Context, s rootConf, l net.Listener, moved bool) error {
	if err := p.change(ctx, s); err != nil || !moved {
		return err
	}
	p.mu.Lock()
	old := p.resident
	p.resident = l
	p.mu.Unlock()
	if l != nil {
		go p.serveOn(l)
	}
	if old != nil {
		if err := old.Close(); err != nil {
			p.log.Warn("resident socket not closed", "err", err)
		}
	}
	return nil
}

// change opens another root, unless it is open already, and sets what it may use.
func (p *single) change(ctx context.Context, s rootConf) error {
	p.mu.Lock()
	old := p.root
	if same := old.conf.root == s.root; same {
		old.conf = s
		old.gateway.SetReach(s.reach)
		old.agent.reach.Store(&s.reach)
		p.mu.Unlock()
		_, err := checkRoot(ctx, old.db, s.reach, p.log)
		return err
	}
	p.mu.Unlock()
	db, err := openDB(s.root)
	if err != nil {
		return err
	}
	next, err := newOpenRoot(s, db, p.log, nil)
	if err == nil {
		next.agent, err = startAgent(s, db, next.gateway.Site(), p.log)
	}
	if err != nil {
		db.Close()
		return err
	}
	p.mu.Lock()
	old.replaced, p.root = true, next
	unused := old.users == 0
	p.mu.Unlock()
	p.log.Info("answering from another root", "root", s.root, "before", old.conf.root)
	if unused {
		p.end(old)
	}
	return nil
}

// takeCounts returns what was counted since the last call.
func (p *single) takeCounts() metrics.Counts {
	root := p.acquire()
	sum := root.gateway.TakeCounts()
	p.release(root)
	p.mu.Lock()
	defer p.mu.Unlock()
	sum.Add(p.past)
	p.past = metrics.Counts{}
	return sum
}

func (p *single) counts() metrics.Counts { return p.sum.counts() }

// facts describes this process as its only worker.
func (p *single) facts() poolFacts {
	root := p.acquire()
	load, done := root.gateway.Load(), root.agent.counts()
	p.release(root)
	counts := p.counts()
	self := workerFacts{PID: os.Getpid(), State: "idle", Requests: counts.Requests(), Started: p.started}
	if load.Running > 0 {
		self.State = "running"
	}
	return poolFacts{Agent: done, Workers: []workerFacts{self}, Running: load.Running, Waiting: load.Waiting}
}

func (p *single) shutdown(ctx context.Context) error { return p.server.Shutdown(ctx) }

// close closes the root; no request may be under way.
func (p *single) close() {
	p.mu.Lock()
	root := p.root
	p.mu.Unlock()
	p.end(root)
}
