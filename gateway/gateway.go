package gateway

import (
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"scripter/database"
	"scripter/fetch"
	"scripter/metrics"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
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
	Guard        runner.Guard     // nil: nobody watches the process
	Reach        site.Reach       // what the root may use of its host
	Drivers      database.Drivers // of the databases that Reach lists
	TestSite     string           // the document root of the requests of tests, or "" if they have none
}

// Gateway answers requests from one root. It is safe for concurrent use.
type Gateway struct {
	db        *objectdb.DB
	runner    *runner.Runner
	log       *slog.Logger
	verbose   *slog.Logger // Options.Requests
	now       func() time.Time
	site      *site.Cache
	passwords *site.Passwords
	supplied  *objectdb.Derived[suppliedScripts]
	names     []string // Options.HandlerNames
	guard     runner.Guard
	testSite  string // Options.TestSite
	admin     Admin  // nil: there is no web page
	reach     atomic.Pointer[site.Reach]
	drivers   database.Drivers
	databases *database.Pool
	fetcher   struct { // see Fetcher
		sync.Mutex
		client  *fetch.Client
		rootCAs *x509.CertPool // set by tests
	}
	pages     pageCache
	readFiles atomic.Bool // see HasReadFiles
	found     foundFiles
	values    *objectdb.DerivedMap[*cachedPage, *pageValues]
	loops     *objectdb.DerivedMap[loopKey, *loopText]
	started   time.Time
	metrics   metrics.Metrics
	slots     slots
	swept     atomic.Int64 // when this process has looked last whether sessions are to be removed, in seconds since 1970
}

// New returns a gateway.
func New(o Options) *Gateway { return newGateway(o) }

// newGateway returns a gateway whose scripts see all verbs, and more in addition.
func newGateway(o Options, more ...script.Verb) *Gateway {
	g := &Gateway{db: o.DB, log: o.Log, verbose: o.Requests, now: o.Now, names: o.HandlerNames,
		guard: o.Guard, testSite: o.TestSite, drivers: o.Drivers, databases: database.NewPool(o.Drivers)}
	g.SetReach(o.Reach)
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.verbose == nil {
		g.verbose = g.log
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.started, g.site, g.passwords = g.now(), site.NewCache(), site.NewPasswords()
	verbs := append(verbsWith(g.passwords), more...)
	g.runner = runner.New(runner.Config{
		DB: o.DB, Engine: script.NewEngine(verbs, properties...), Site: g.site,
		Now: g.now, Guard: o.Guard, Outside: g.outside,
		TestVerbs: sync.OnceValue(func() *script.VerbSet { return script.NewVerbSet(TestVerbs()) }),
	})
	if g.db != nil {
		g.supplied = objectdb.NewDerived(g.readSupplied)
		g.values = objectdb.NewDerivedMap[*cachedPage, *pageValues](maxPageValues)
		g.loops = objectdb.NewDerivedMap[loopKey, *loopText](maxLoopTexts)
	}
	return g
}

// On returns a gateway on the same root, or on another state of it, with the options of g, for requests
// that a person makes aside from those of visitors. It logs to log, nothing if that is nil, and has no
// web page.
func (g *Gateway) On(db *objectdb.DB, log *slog.Logger) *Gateway {
	return New(Options{
		DB: db, Log: log, Now: g.now, HandlerNames: g.names, Guard: g.guard, Reach: g.Reach(), TestSite: g.testSite,
		Drivers: g.drivers,
	})
}

// IsPast reports whether the gateway answers from the root as it was. Then it records
// nothing, and what scripts change is undone.
func (g *Gateway) IsPast() bool { return g.db != nil && g.db.IsPast() }

// HasReadFiles reports whether the gateway has read any file of the disk: a page, or a file
// that it has sent.
func (g *Gateway) HasReadFiles() bool { return g.readFiles.Load() }

// DB returns the root that the gateway answers from.
func (g *Gateway) DB() *objectdb.DB { return g.db }

// Runner returns the runner of the gateway, which can run scripts of the root without a request.
func (g *Gateway) Runner() *runner.Runner { return g.runner }

// Reach returns what the root may use of its host.
func (g *Gateway) Reach() site.Reach { return *g.reach.Load() }

// Passwords returns what checks the passwords of this process.
func (g *Gateway) Passwords() *site.Passwords { return g.passwords }

// SetReach sets what the root may use of its host from now on.
func (g *Gateway) SetReach(r site.Reach) {
	g.reach.Store(&r)
	g.found.forget()
	g.forgetFetcher()
	g.databases.Keep(r.Databases)
}

// Site returns the cache of the site's snapshot.
func (g *Gateway) Site() *site.Cache { return g.site }

// siteNow returns the site as it is now, for callers outside of a transaction.
func (g *Gateway) siteNow(ctx context.Context) (s *site.Snapshot, err error) {
	err = g.db.View(ctx, func(tx *objectdb.Tx) (err error) {
		s, err = g.site.Snapshot(tx)
		return err
	})
	return s, err
}

// Unavailable returns a gateway without a root, which answers every request with 503.
func Unavailable(log *slog.Logger) *Gateway {
	return New(Options{Log: log})
}

var errNoRoot error = &Error{Status: 503, Message: "there is no root to answer from"}

// Outcome says how a request was answered.
type Outcome struct {
	Status   int    // of the response as it was sent; 0 when nothing was
	Incident string // number of the failure in the log and on its page
	Err      error  // the failure
	// Broken is true if the response began and could not be finished. The transport must not
	// end it as if it were complete.
	Broken bool
	// Short is true if a broken response is shorter than its Content-Length. Then the
	// client notices, however the transport ends the response.
	Short bool
}

// Answer answers r on w. The scripts of a request run in one transaction: the response
// is held until the commit, and they run once more, from the start, if another request
// has overwritten what they read.
func (g *Gateway) Answer(ctx context.Context, r *Request, w io.Writer) Outcome {
	g.metrics.Running.Add(1)
	defer g.metrics.Running.Add(-1)
	x := g.newExchange(r, w)
	defer x.close()
	out := x.answer(ctx)
	took := g.now().Sub(x.began)
	x.count(out, took)
	x.endSlow(out, took)
	x.recordOutcome(ctx, out)
	x.sweepVisits(ctx)
	return out
}

// answer sends the response to the request, or an error page.
func (x *exchange) answer(ctx context.Context) Outcome {
	var out Outcome
	if err := safely(func() error { return x.journey(ctx) }); err != nil {
		out = x.fail(ctx, err)
	}
	out.Status = x.out.status
	out.Short = out.Broken && x.out.isShort()
	x.log()
	return out
}

// journey runs the steps of a request. Most requests are planned and run in one transaction.
// If a body has not arrived yet, or the request is to be recorded, the transaction ends after
// the plan, and the scripts run in a second one.
func (x *exchange) journey(ctx context.Context) error {
	if x.g.db == nil {
		return errNoRoot
	}
	if probed, err := x.probe(ctx); probed || err != nil {
		return err
	}
	if err := x.request.Check(); err != nil {
		return err
	}
	done, err := x.run(ctx)
	if err != nil {
		return err
	}
	if x.isAdmin() {
		return x.serveAdmin(ctx)
	}
	if !done {
		if err := x.readBody(); err != nil {
			return err
		}
		x.record(ctx)
		if _, err := x.run(ctx); err != nil {
			return err
		}
	}
	return x.send()
}

// Version is the version of the three programs. A release sets it with
// -ldflags "-X scripter/gateway.Version=…".
var Version = "0.1.0"

// Program returns the name and version that a new root and an archive have.
func Program() string { return "scripter " + Version }
