package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

const (
	// lookEvery is how often the agent looks whether anything is due. A look at a root that nobody has
	// changed reads nothing but the number of the last commit.
	lookEvery = 100 * time.Millisecond
	// tidyEvery is how often old rows are removed.
	tidyEvery = time.Minute
	// atOnce is how many deliveries and scripts an agent has under way at a time.
	atOnce = 4
	// drain is how long Start's stop waits for what is under way.
	drain = 10 * time.Second
)

// Options configure an Agent. DB, Site, Reach and Run are needed.
type Options struct {
	DB    *objectdb.DB
	Site  *site.Cache                               // of DB
	Reach func() site.Reach                         // what the root may use of its host
	Run   func(context.Context, Job, Limits) Result // runs a script: see InProcess and Processes
	Log   *slog.Logger                              // nil: nothing is logged
	Now   func() time.Time                          // nil: time.Now
}

// An Agent delivers the outbox of a root and runs its schedule.
type Agent struct {
	o    Options
	name string // of this agent, in claims
	// How long rows are claimed, and how much longer than a script may run. Tests make them shorter.
	lease, scriptLease time.Duration

	schedule *objectdb.Derived[[]Entry]
	watch    outbox.Watch
	slots    chan struct{} // one entry for each thing under way
	ended    chan struct{} // tells the loop that something has ended
	working  sync.WaitGroup
	tries    atomic.Int32 // the setting outboxTries

	mu    sync.Mutex
	busy  map[string]bool // the keys of what is under way
	count Counts

	// The loop alone uses these fields.
	seen    view
	trouble string // the last error of a look, which is logged once
}

// Counts are what an agent has done since its start, and what it has seen last.
type Counts struct {
	Waiting    int    `json:"waiting"`   // rows of the outbox
	Dead       int    `json:"dead"`      // dead letters
	Delivered  uint64 `json:"delivered"` // deliveries that were made,
	Retried    uint64 `json:"retried"`   // that are tried again,
	Buried     uint64 `json:"buried"`    // that failed for good
	Runs       uint64 `json:"runs"`      // of the schedule
	FailedRuns uint64 `json:"failedRuns"`
	Missed     uint64 `json:"missed"`
}

// view is what the loop knows of the root.
type view struct {
	generation    int64
	rows          []outbox.Row // that wait
	dead          int
	entries       []Entry
	runs          map[string]Runs
	pauseOutbox   bool
	pauseSchedule bool
	most          int // rows of the outbox
	deadDays      float64
	full          bool
}

// New returns an Agent.
func New(o Options) *Agent {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return &Agent{
		o: o, name: fmt.Sprintf("%.60s/%d/%s", host, os.Getpid(), rand.Text()[:8]),
		schedule: objectdb.NewDerived(readSchedule),
		lease:    lease, scriptLease: scriptLease,
		slots: make(chan struct{}, atOnce), ended: make(chan struct{}, 1), busy: map[string]bool{},
	}
}

// Counts returns what the agent has done.
func (a *Agent) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count
}

func (a *Agent) counted(change func(*Counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.count)
}

// Start starts the agent in a program that keeps running. stop ends it: nothing more is begun, and
// what is under way has a few seconds to finish. What does not is taken over later, by any agent.
func (a *Agent) Start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	work, abandon := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.loop(ctx, work)
	}()
	return func() {
		cancel()
		<-done
		timer := time.AfterFunc(drain, abandon)
		a.working.Wait()
		timer.Stop()
		abandon()
	}
}

func (a *Agent) loop(ctx, work context.Context) {
	var tidied time.Time
	for {
		begun := time.Now()
		a.step(ctx, work)
		if begun.Sub(tidied) >= tidyEvery && ctx.Err() == nil {
			tidied = begun
			a.tidy(ctx)
		}
		// A long list of rows takes long to read. The agent takes a tenth of the time at most.
		pause := max(lookEvery, min(10*time.Since(begun), 10*time.Second))
		select {
		case <-ctx.Done():
			return
		case <-a.ended:
		case <-time.After(pause):
		}
	}
}

// step looks once, and begins what is due.
func (a *Agent) step(ctx, work context.Context) {
	err := a.look(ctx)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		a.trouble = ""
		a.begin(work)
	case a.trouble != err.Error():
		a.trouble = err.Error()
		a.o.Log.Warn("agent: not known what is due", "err", err)
	}
}

// Once does all that is due, and what becomes due meanwhile, and returns when nothing is left.
func (a *Agent) Once(ctx context.Context) error {
	for {
		if err := a.look(ctx); err != nil {
			return err
		}
		a.begin(ctx)
		a.mu.Lock()
		left := len(a.busy)
		a.mu.Unlock()
		if left == 0 {
			break
		}
		select {
		case <-a.ended:
		case <-ctx.Done():
			a.working.Wait()
			return ctx.Err()
		}
	}
	a.working.Wait()
	a.tidy(ctx)
	return nil
}

// look reads what the root says, unless nothing was committed since the last look.
func (a *Agent) look(ctx context.Context) error {
	// A transaction that may write begins without a session with the store if all that it reads is cached.
	err := a.o.DB.Update(ctx, func(tx *objectdb.Tx) error {
		if tx.Generation() == a.seen.generation && a.seen.generation != 0 {
			return nil
		}
		v := view{}
		s, err := a.o.Site.Snapshot(tx)
		if err != nil {
			return err
		}
		v.pauseOutbox, v.pauseSchedule = s.Flag(site.FlPauseOutbox), s.Flag(site.FlPauseSchedule)
		v.most = int(s.Number(site.MaxOutbox))
		a.tries.Store(int32(s.Number(site.OutboxTries)))
		v.deadDays = s.Number(site.OutboxDays)
		if v.rows, err = a.watch.Rows(tx); err != nil {
			return err
		}
		if _, v.dead, err = outbox.Counts(tx); err != nil {
			return err
		}
		if v.full, err = outbox.IsFull(tx); err != nil {
			return err
		}
		if v.entries, err = a.schedule.Get(tx); err != nil {
			return err
		}
		if v.runs, err = readRuns(tx); err != nil {
			return err
		}
		v.generation = tx.Generation()
		a.seen = v
		return nil
	})
	if err != nil {
		return err
	}
	a.counted(func(c *Counts) { c.Waiting, c.Dead = len(a.seen.rows), a.seen.dead })
	if full := len(a.seen.rows) >= a.seen.most; full != a.seen.full {
		if err := a.markFull(ctx, full); err != nil {
			return err
		}
		a.seen.full = full
	}
	return nil
}

// markFull notes in the root whether too many rows wait.
func (a *Agent) markFull(ctx context.Context, full bool) error {
	if full {
		a.o.Log.Warn("the outbox is full: scripts cannot write into it", "waiting", len(a.seen.rows))
	}
	return a.update(ctx, func(tx *objectdb.Tx) error { return outbox.MarkFull(tx, full) })
}

// update commits what fn writes, as the agent.
func (a *Agent) update(ctx context.Context, fn func(tx *objectdb.Tx) error) error {
	return a.o.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Why: "agent"}
		return fn(tx)
	})
}

// begin begins all that is due, as long as there are slots.
func (a *Agent) begin(work context.Context) {
	now := a.o.Now()
	if !a.seen.pauseSchedule {
		for _, e := range a.seen.entries {
			if e.Err != nil || !e.On || a.dueAt(e).After(now) {
				continue
			}
			if !a.start("schedule "+e.Name, func() { a.runScheduled(work, e) }) {
				return
			}
		}
	}
	if a.seen.pauseOutbox {
		return
	}
	for _, r := range a.seen.rows {
		if !r.Due().After(now) && !a.start(r.Key, func() { a.deliver(work, r) }) {
			return
		}
	}
}

// start calls fn in the background if there is a slot, and unless something with that key is under
// way. It reports false if there is no slot.
func (a *Agent) start(key string, fn func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[key] {
		return true
	}
	select {
	case a.slots <- struct{}{}:
	default:
		return false
	}
	a.busy[key] = true
	a.working.Go(func() {
		defer func() {
			a.mu.Lock()
			delete(a.busy, key)
			a.mu.Unlock()
			<-a.slots
			select {
			case a.ended <- struct{}{}:
			default:
			}
		}()
		fn()
	})
	return true
}

// tidy removes old rows.
func (a *Agent) tidy(ctx context.Context) {
	before := a.o.Now().Add(-time.Duration(a.seen.deadDays * 24 * float64(time.Hour)))
	dropped := 0
	err := a.update(ctx, func(tx *objectdb.Tx) (err error) {
		dropped, err = outbox.Tidy(tx, before, max(1, a.seen.most))
		return err
	})
	if err != nil && ctx.Err() == nil && !errors.Is(err, objectdb.ErrBusy) {
		a.o.Log.Warn("agent: old rows are not removed", "err", err)
	}
	if dropped > 0 {
		a.o.Log.Warn("dead letters were removed: they were too old, or too many", "removed", dropped)
	}
}
