package gateway

import (
	"context"
	"errors"
	"math"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// Save saves the environment (specification, 2.2 and 2.3): it makes a saved
// copy of the root and clears the dirty root flag, unless that was set again
// while the copy was made. As many copies are kept as maxSaves says. With
// o.Changed, a copy that holds everything already counts as saved.
func Save(ctx context.Context, db *objectdb.DB, o objectdb.SaveOptions) (objectdb.Copy, error) {
	var set *objectdb.Node // the flag, as it was set before
	err := db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		o.Keep = int(s.Number(site.MaxSaves))
		if s.Flag(site.FlDirtyRoot) {
			set, err = tx.Find(site.FlDirtyRoot.Address())
		}
		return err
	})
	if err != nil {
		return objectdb.Copy{}, err
	}
	c, err := db.Save(ctx, o)
	if c.Path == "" || set == nil {
		return c, err
	}
	return c, errors.Join(err, clearDirtyRoot(ctx, db, set.Version()))
}

// clearDirtyRoot clears the flag unless it was written since it had this version.
func clearDirtyRoot(ctx context.Context, db *objectdb.DB, version int64) error {
	return db.Update(ctx, func(tx *objectdb.Tx) error {
		flag, err := tx.Find(site.FlDirtyRoot.Address())
		if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) || err == nil && flag.Version() != version {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Put(site.FlDirtyRoot.Address(), objectdb.Boolean(false))
	})
}

// lookEvery is how often the auto-save agent reads its settings.
const lookEvery = 15 * time.Second

// clockSlip is how far in the future a file's time may lie and still be taken
// for now; beyond it, the clock was set back.
const clockSlip = time.Second

var errSavedMeanwhile = errors.New("another program has saved a copy meanwhile")

// savePlan is what the settings say of auto-save.
type savePlan struct {
	wanted   bool // Auto-Save is on and, if it counts, the dirty root flag is set
	interval time.Duration
}

func (g *Gateway) savePlan(ctx context.Context) (plan savePlan, err error) {
	err = g.db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := g.site.Snapshot(tx)
		if err != nil {
			return err
		}
		plan.wanted = s.Flag(site.FlAutoSave) && (!s.Flag(site.FlUseDirtyRoot) || s.Flag(site.FlDirtyRoot))
		plan.interval = time.Duration(s.Number(site.SaveInterval) * float64(time.Minute))
		return nil
	})
	return plan, err
}

// newestCopy gives the copy that was made last, zero when there is none.
func (g *Gateway) newestCopy() (objectdb.Copy, error) {
	list, err := g.db.Copies()
	if err != nil || len(list) == 0 {
		return objectdb.Copy{}, err
	}
	return list[0], nil
}

// since is how long ago something was by the clock of the wall. When that says
// that it is still to come, the clock was set back, and it counts as long ago: one
// copy too many, and from then on the new time.
func (g *Gateway) since(then time.Time) time.Duration {
	if ago := g.now().Round(0).Sub(then); ago >= -clockSlip {
		return ago
	}
	return math.MaxInt64
}

// autoSave makes the copy that is due: one, however many programs find at once
// that it is.
func (g *Gateway) autoSave(ctx context.Context, due func() error) (objectdb.Copy, error) {
	start := time.Now()
	c, err := Save(ctx, g.db, objectdb.SaveOptions{Changed: true, Due: due, Wait: 100 * time.Millisecond})
	switch {
	case err == nil:
		g.metrics.saves.Add(1)
		g.log.Info("saved a copy", "file", c.Path, "bytes", c.Size, "took", time.Since(start).Round(time.Millisecond))
	case ctx.Err() != nil, errors.Is(err, objectdb.ErrUnchanged), errors.Is(err, objectdb.ErrSaving), errors.Is(err, errSavedMeanwhile):
		return c, nil
	default:
		g.metrics.unsaved.Add(1)
		g.log.Warn("auto-save failed", "copy", c.Path, "err", err)
	}
	return c, err
}

// logUnfinished logs what became of the last save when that could not: it was
// ended, or had nobody to tell.
func (g *Gateway) logUnfinished(f objectdb.Failure) {
	if f.Why != "" {
		g.log.Warn("the save before this one was not finished", "at", f.Time.UTC(), "err", f.Why)
	}
}

// StartAutoSave starts the auto-save agent (specification, 2.2 and 8), for a
// program that stays: it saves a copy every saveInterval by the monotonic
// clock, whatever is done to the other one, unless another program does. The
// function it gives stops it, and returns when it has stopped.
func (g *Gateway) StartAutoSave() (stop func()) {
	if g.db == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a := &agent{g: g}
		for ctx.Err() == nil {
			a.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(lookEvery):
			}
		}
	}()
	return func() { cancel(); <-done }
}

// agent is what the auto-save agent knows between two looks.
type agent struct {
	g       *Gateway
	started bool
	newest  string    // the copy that was the newest at the last look
	last    time.Time // when a copy was last saved or tried to be; monotonic
	trouble string    // the last failure, logged once
}

func (a *agent) look(ctx context.Context) {
	plan, err := a.g.savePlan(ctx)
	if err == nil && plan.wanted {
		err = a.saveIfDue(ctx, plan.interval)
	}
	if err == nil || ctx.Err() != nil {
		a.trouble = ""
	} else if a.trouble != err.Error() {
		a.trouble = err.Error()
		a.g.log.Warn("the auto-save agent could not look what is to be saved", "err", err)
	}
}

func (a *agent) saveIfDue(ctx context.Context, interval time.Duration) error {
	newest, err := a.g.newestCopy()
	if err != nil {
		return err
	}
	now := time.Now()
	switch {
	case !a.started:
		failure := a.g.db.LastFailure()
		a.g.logUnfinished(failure)
		ago := min(a.g.since(newest.Fresh), a.g.since(failure.Time), interval)
		a.started, a.last = true, now.Add(-ago)
	case newest.Path != a.newest: // saved by another program
		a.last = now
	}
	a.newest = newest.Path
	if now.Sub(a.last) < interval {
		return nil
	}
	a.last = now
	c, _ := a.g.autoSave(ctx, func() error {
		now, err := a.g.newestCopy()
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

// SaveDue tells a program that answers one request and ends whether it should
// see to it that a copy is saved (by SaveIfDue) before the next one.
func (g *Gateway) SaveDue(ctx context.Context) bool {
	if g.db == nil {
		return false
	}
	plan, err := g.savePlan(ctx)
	if err != nil || !plan.wanted || g.dueSince(plan.interval) != nil {
		return false
	}
	// One that has failed is tried again after an interval, not at each request.
	failure := g.db.LastFailure()
	if g.since(failure.Time) < plan.interval {
		return false
	}
	g.logUnfinished(failure)
	return true
}

// dueSince gives an error when the newest copy is younger than interval.
func (g *Gateway) dueSince(interval time.Duration) error {
	newest, err := g.newestCopy()
	if err == nil && g.since(newest.Fresh) < interval {
		err = errSavedMeanwhile
	}
	return err
}

// SaveIfDue saves the copy that SaveDue has found due, unless another program
// was faster.
func (g *Gateway) SaveIfDue(ctx context.Context) error {
	plan, err := g.savePlan(ctx)
	if err != nil || !plan.wanted {
		return err
	}
	_, err = g.autoSave(ctx, func() error { return g.dueSince(plan.interval) })
	return err
}
