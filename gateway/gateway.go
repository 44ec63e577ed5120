package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"scripter/objectdb"
	"scripter/script"
)

// Options say what a Gateway works with. DB is needed, the rest has defaults.
type Options struct {
	DB  *objectdb.DB
	Log *slog.Logger // nil: nothing is logged
	// Requests gets the lines of Verbose Messages, where Log is for warnings
	// only; nil: Log gets them.
	Requests *slog.Logger
	Now      func() time.Time // nil: time.Now
	// HandlerNames are file names that count as the handler's own, beside
	// Scripter.acgi and nph-Scripter.acgi.
	HandlerNames []string
	Guard        Guard // nil: nobody watches the process
	Reach        Reach // what the root may use of its host
}

// Gateway answers requests from one root. It is safe for concurrent use.
type Gateway struct {
	db     *objectdb.DB
	log    *slog.Logger
	wanted *slog.Logger // Options.Requests
	now    func() time.Time
	engine *script.Engine
	rules  *objectdb.Derived[*rules]
	names  []string // Options.HandlerNames
	reach  atomic.Pointer[Reach]
	pages  pageCache
	found  foundFiles
	values *objectdb.DerivedMap[*cachedPage, *pageValues]
	losers losers
	counts counts
	guard  Guard
	watch  watch
	gate   gate
}

// New makes a gateway.
func New(o Options) *Gateway {
	g := &Gateway{db: o.DB, log: o.Log, wanted: o.Requests, now: o.Now, names: o.HandlerNames, guard: o.Guard}
	g.SetReach(o.Reach)
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.wanted == nil {
		g.wanted = g.log
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.engine = script.NewEngine(Verbs(), properties...)
	if g.db != nil {
		g.rules = objectdb.NewDerived(g.readRules)
		g.values = objectdb.NewDerivedMap[*cachedPage, *pageValues](keptPageValues)
	}
	g.counts.started = g.now()
	return g
}

// SetReach sets what the root may use of its host from now on.
func (g *Gateway) SetReach(r Reach) {
	g.reach.Store(&r)
	g.found.forget()
}

// Unavailable makes a gateway that has no root: it answers every request 503.
func Unavailable(log *slog.Logger) *Gateway {
	return New(Options{Log: log})
}

var errNoRoot error = &Error{Status: 503, Message: "there is no root to answer from"}

// Outcome is what became of a request.
type Outcome struct {
	Status   int    // of the response as it was sent; 0 when nothing was
	Incident string // number of the failure in the log and on its page
	Err      error  // the failure
	// Broken is true when the response began and could not be finished: the
	// road must not end it as if it were whole.
	Broken bool
	// Short is true if a broken response is shorter than its Content-Length. Then the
	// client notices, however the transport ends the response.
	Short bool
}

// Answer answers r on w. The whole request is one transaction: its response
// is held until the commit, and run again from its start, once, when another
// request overwrote what it read.
func (g *Gateway) Answer(ctx context.Context, r *Request, w io.Writer) Outcome {
	g.counts.running.Add(1)
	defer g.counts.end()
	a := newAnswer(w, r)
	a.began = g.now()
	defer a.close()
	out := g.answer(ctx, r, a)
	took := g.now().Sub(a.began)
	g.watch.done(a.action, out, took, a.sent)
	g.endSlow(r, a, out, took)
	if r.entry != nil && r.entry.Number > 0 {
		g.keepOutcome(ctx, r, a, out)
	}
	return out
}

// answer is Answer, on a way out that is there.
func (g *Gateway) answer(ctx context.Context, r *Request, a *answer) Outcome {
	if out, ok := g.probe(ctx, r, a); ok {
		return out
	}
	err := errNoRoot
	if g.db != nil {
		err = safely(func() error { return g.respond(ctx, r, a) })
	}
	var out Outcome
	if err == nil {
		err = safely(func() error { return a.send(r) })
	}
	if err != nil {
		out = g.fail(ctx, r, a, err)
		g.counts.failed.Add(1)
	}
	out.Status = a.status
	out.Short = out.Broken && a.started && a.length >= 0 && a.body < a.length
	if a.verbose && !a.quiet {
		g.logRequest(r, a, out)
	}
	return out
}

// What a run may find that it needs first; neither may be done inside its
// transaction, because both wait or write. A body that is there already keeps
// nobody waiting: the run reads it itself.
var (
	errNeedBody = errors.New("the body has to be read first")
	errNeedKeep = errors.New("the parameters have to be kept first")
)

// respond runs the request and leaves its response in a, not yet sent.
func (g *Gateway) respond(ctx context.Context, r *Request, a *answer) error {
	r.dropUncheckedUser()
	if err := r.Check(); err != nil {
		return err
	}
	in := !r.again // a request that is run again from within another has its turn
	if in {
		if err := g.enter(ctx, false); err != nil {
			return err
		}
	}
	defer func() {
		if in {
			g.gate.leave()
		}
	}()
	start := g.now()
	key := r.Params["SCRIPT_NAME"] + r.Params["PATH_INFO"]
	for {
		update := g.db.Update
		if g.losers.lately(key, start) && !r.dry {
			update = g.db.UpdateLocked
		}
		var c *call
		var ran time.Duration // all runs together
		runs := 0
		err := update(ctx, func(tx *objectdb.Tx) error {
			if runs++; runs > 1 {
				r.trace("another request was faster: run again, holding the writer's lock")
				g.watch.again.Add(1)
				g.losers.add(key, start)
			}
			if r.Yield != nil {
				tx.BeforeSync(r.yield)
			}
			c = g.newCall(tx.Context(), tx, r, a)
			defer c.close()
			c.spent = ran
			begun := g.now() // to wait for the writer's lock is not the scripts' fault
			defer func() { ran += g.now().Sub(begun) }()
			if err := c.run(); err != nil || !r.dry {
				return err
			}
			return errDry
		})
		switch {
		case errors.Is(err, errNeedBody):
			was := in
			if in = false; was { // a slow body keeps nobody waiting
				g.gate.leave()
			}
			if err = r.readBody(c.bodySize); err == nil && was {
				err = g.enter(ctx, true)
				in = err == nil
			}
		case errors.Is(err, errNeedKeep):
			g.keep(ctx, r, a)
			err = nil
		default:
			if errors.Is(err, errDry) {
				err = nil
			}
			if err == nil && !a.quiet {
				c.logProblems()
			}
			if err == nil || c != nil && a.started { // a part may be committed
				c.flushCaches(ctx)
			}
			return err
		}
		if err != nil {
			return err
		}
		start = g.now()
	}
}

// losers remembers which paths lost a race within the last second: their
// next runs take the writer's lock at once instead of running twice.
type losers struct {
	mu   sync.Mutex
	last map[string]time.Time
}

const loserMemory = time.Second

func (l *losers) add(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || len(l.last) > 1000 {
		l.last = make(map[string]time.Time)
	}
	l.last[key] = now
}

func (l *losers) lately(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.last[key]
	return ok && now.Sub(t) < loserMemory
}
