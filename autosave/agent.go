package autosave

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// checkEvery is how often a started agent checks whether a copy is due.
const checkEvery = 15 * time.Second

// saveWait is how long the agent waits for another program that saves.
const saveWait = 100 * time.Millisecond

// clockSlip is how far in the future the time of a file may lie and still count as now.
// If it lies further, the clock was set back.
const clockSlip = time.Second

var errSavedMeanwhile = errors.New("another program has saved a copy meanwhile")

// Options configure an Agent. DB is required.
type Options struct {
	DB   *objectdb.DB
	Site *site.Cache      // of DB; nil: the agent has its own
	Log  *slog.Logger     // nil: nothing is logged
	Now  func() time.Time // the wall clock; nil: time.Now
	// Saved is called after each save that was due; err is nil if a copy was saved.
	// It may be nil.
	Saved func(err error)
}

// An Agent is the Auto-Save agent of a root (specification, 2.2 and 8).
type Agent struct {
	db    *objectdb.DB
	site  *site.Cache
	log   *slog.Logger
	now   func() time.Time
	saved func(err error)

	// Start needs these fields from one check to the next.
	started bool
	newest  string    // the copy that was the newest at the last check
	last    time.Time // when a copy was last saved or tried to be; monotonic
	trouble string    // the last error, which is logged once
}

// New returns an Agent.
func New(o Options) *Agent {
	a := &Agent{db: o.DB, site: o.Site, log: o.Log, now: o.Now, saved: o.Saved}
	if a.site == nil {
		a.site = site.NewCache()
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.now == nil {
		a.now = time.Now
	}
	if a.saved == nil {
		a.saved = func(error) {}
	}
	return a
}

// plan is what the settings say.
type plan struct {
	wanted   bool // Auto-Save is on and, if it counts, the dirty root flag is set
	interval time.Duration
}

func (a *Agent) plan(ctx context.Context) (p plan, err error) {
	err = a.db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := a.site.Snapshot(tx)
		if err != nil {
			return err
		}
		p.wanted = s.Flag(site.FlAutoSave) && (!s.Flag(site.FlUseDirtyRoot) || s.Flag(site.FlDirtyRoot))
		p.interval = time.Duration(s.Number(site.SaveInterval) * float64(time.Minute))
		return nil
	})
	return p, err
}

// newestCopy returns the copy that was saved last, or the zero Copy.
func (a *Agent) newestCopy() (objectdb.Copy, error) {
	list, err := a.db.Copies()
	if err != nil || len(list) == 0 {
		return objectdb.Copy{}, err
	}
	return list[0], nil
}

// since returns how long ago a time was by the wall clock. If the time lies in the
// future, the clock was set back, and the time counts as long ago: the agent may then save
// one copy too many.
func (a *Agent) since(then time.Time) time.Duration {
	if ago := a.now().Round(0).Sub(then); ago >= -clockSlip {
		return ago
	}
	return math.MaxInt64
}

// save saves the copy that is due. If several programs find it due, only one saves it: due is
// called again under the lock of the save.
func (a *Agent) save(ctx context.Context, due func() error) (objectdb.Copy, error) {
	start := time.Now()
	c, err := Save(ctx, a.db, objectdb.SaveOptions{Changed: true, Due: due, Wait: saveWait})
	switch {
	case err == nil:
		a.log.Info("saved a copy", "file", c.Path, "bytes", c.Size, "took", time.Since(start).Round(time.Millisecond))
	case ctx.Err() != nil, errors.Is(err, objectdb.ErrUnchanged),
		errors.Is(err, objectdb.ErrSaving), errors.Is(err, errSavedMeanwhile):
		return c, nil
	default:
		a.log.Warn("auto-save failed", "copy", c.Path, "err", err)
	}
	a.saved(err)
	return c, err
}

// logUnfinished logs a save that did not end and could not report why.
func (a *Agent) logUnfinished(f objectdb.Failure) {
	if f.Why != "" {
		a.log.Warn("the save before this one was not finished", "at", f.Time.UTC(), "err", f.Why)
	}
}

// Start starts the agent, once, in a program that keeps running. The agent saves a copy every
// saveInterval unless another program does. It measures the interval by the monotonic
// clock, which nobody can set. stop ends the agent, and returns when it has ended.
func (a *Agent) Start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			a.check(ctx)
			a.buildIndexes(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(checkEvery):
			}
		}
	}()
	return func() { cancel(); <-done }
}

// check saves a copy if one is due.
func (a *Agent) check(ctx context.Context) {
	p, err := a.plan(ctx)
	if err == nil && p.wanted {
		err = a.saveAfter(ctx, p.interval)
	}
	if err == nil || ctx.Err() != nil {
		a.trouble = ""
	} else if a.trouble != err.Error() {
		a.trouble = err.Error()
		a.log.Warn("auto-save: not known whether a copy is due", "err", err)
	}
}

// buildIndexes builds the indexes of records that are declared and not built yet. Each commit of a request does a
// little of that, too.
func (a *Agent) buildIndexes(ctx context.Context) {
	if err := a.db.BuildIndexes(ctx, nil); err != nil && ctx.Err() == nil && !errors.Is(err, objectdb.ErrReadOnly) {
		a.log.Warn("the indexes of records could not be built; it is tried again", "err", err)
	}
}

// saveAfter saves a copy if the last one was saved or tried an interval ago.
func (a *Agent) saveAfter(ctx context.Context, interval time.Duration) error {
	newest, err := a.newestCopy()
	if err != nil {
		return err
	}
	now := time.Now()
	switch {
	case !a.started:
		failure := a.db.LastFailure()
		a.logUnfinished(failure)
		ago := min(a.since(newest.Fresh), a.since(failure.Time), interval)
		a.started, a.last = true, now.Add(-ago)
	case newest.Path != a.newest: // another program has saved it
		a.last = now
	}
	a.newest = newest.Path
	if now.Sub(a.last) < interval {
		return nil
	}
	a.last = now
	c, _ := a.save(ctx, func() error {
		now, err := a.newestCopy()
		if err == nil && now.Path != newest.Path {
			err = errSavedMeanwhile
		}
		return err
	})
	if c.Path != "" {
		a.newest = c.Path
	}
	return nil
}

// IsDue reports whether a copy is due, which SaveIfDue then saves. It is for a program
// that answers one request and ends.
func (a *Agent) IsDue(ctx context.Context) bool {
	p, err := a.plan(ctx)
	if err != nil || !p.wanted || a.checkAge(p.interval) != nil {
		return false
	}
	// After a failed save the next one is tried after an interval, not at each request.
	failure := a.db.LastFailure()
	if a.since(failure.Time) < p.interval {
		return false
	}
	a.logUnfinished(failure)
	return true
}

// SaveIfDue saves the copy that IsDue has found due, unless another program was faster.
func (a *Agent) SaveIfDue(ctx context.Context) error {
	p, err := a.plan(ctx)
	if err != nil || !p.wanted {
		return err
	}
	_, err = a.save(ctx, func() error { return a.checkAge(p.interval) })
	return err
}

// checkAge returns an error if the newest copy is younger than interval.
func (a *Agent) checkAge(interval time.Duration) error {
	newest, err := a.newestCopy()
	if err == nil && a.since(newest.Fresh) < interval {
		err = errSavedMeanwhile
	}
	return err
}
