package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/runner"
	"scripter/site"
)

const (
	// firstRetry is how long a row waits after its first failure. Each further wait is three times as
	// long as the one before, up to longestRetry.
	firstRetry   = 10 * time.Second
	longestRetry = 6 * time.Hour

	// deliveryTime bounds one delivery of a mail or a post, and lease is how long its row is claimed.
	deliveryTime = 2 * time.Minute
	lease        = deliveryTime + time.Minute
	// scriptLease is how much longer the row of a script is claimed than the script may run.
	scriptLease = 2 * time.Minute

	// noteTime is how long the agent tries to write into the root how a delivery went.
	noteTime = time.Minute
)

// retryAfter returns how long a row waits after its nth failure: a fifth more or less than others, so that
// rows which failed together are not tried together.
func retryAfter(n int) time.Duration {
	wait := firstRetry
	for range n - 1 {
		if wait *= 3; wait >= longestRetry {
			wait = longestRetry
			break
		}
	}
	return time.Duration(float64(wait) * (0.8 + 0.4*rand.Float64()))
}

// A failure is the error of a delivery.
type failure struct {
	err   error
	final bool          // another try would fail, too
	wait  time.Duration // what the receiver asks for; 0 = nothing
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func final(err error) error { return &failure{err: err, final: true} }

// deliver claims a row, delivers it, and notes how that went.
func (a *Agent) deliver(ctx context.Context, r outbox.Row) {
	term := a.lease
	limits, err := a.scriptLimits(ctx, r)
	if err == nil && r.Kind == outbox.Script {
		term = limits.Time + a.scriptLease
	}
	var cells map[string]objectdb.Value
	claimed := false
	if err == nil {
		err = a.update(ctx, func(tx *objectdb.Tx) (err error) {
			if r, claimed, err = outbox.Claim(tx, r.Key, a.name, a.o.Now(), term); err != nil || !claimed {
				return err
			}
			cells, err = outbox.Content(tx, r.Key)
			return err
		})
	}
	if err != nil {
		if ctx.Err() == nil {
			a.o.Log.Warn("agent: a row is not claimed", "key", r.Key, "err", err)
		}
		return
	}
	if !claimed {
		return
	}
	begun := time.Now()
	var rest *partly
	switch {
	case r.Tries > a.seenTries():
		err = final(fmt.Errorf("it was begun %d times, and no agent has ended it", r.Tries-1))
	case r.Kind == outbox.Mail:
		rest, err = a.sendMail(ctx, r, cells)
	case r.Kind == outbox.Post:
		err = a.post(ctx, r, cells)
	case r.Kind == outbox.Script:
		err = a.runLater(ctx, r, limits)
	default:
		err = final(fmt.Errorf("this version of Scripter does not know the kind %.40q", r.Kind))
	}
	if ctx.Err() != nil && err != nil {
		return // the program ends; the row is claimed again when the lease has ended
	}
	a.note(r, cells, rest, err, time.Since(begun))
}

// seenTries returns how often a delivery may be begun.
func (a *Agent) seenTries() int { return max(1, int(a.tries.Load())) }

// note writes into the root how a delivery went, and logs it.
func (a *Agent) note(r outbox.Row, cells map[string]objectdb.Value, rest *partly, failed error, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), noteTime)
	defer cancel()
	log := a.o.Log.With("key", r.Key, "kind", string(r.Kind), "to", r.To, "try", r.Tries,
		"took", took.Round(time.Millisecond))
	var f *failure
	errors.As(failed, &f)
	now := a.o.Now()
	next := now.Add(retryAfter(r.Tries))
	if f != nil && f.wait > 0 {
		next = now.Add(min(f.wait, longestRetry))
	}
	bury := failed != nil && (f != nil && f.final || r.Tries >= a.seenTries())
	write := func(tx *objectdb.Tx) error {
		if rest != nil {
			if err := rest.write(tx, r, cells, now); err != nil {
				return err
			}
		}
		switch {
		case failed == nil && r.Kind == outbox.Script:
			return nil // the script's own transaction has noted it
		case failed == nil:
			return outbox.Delivered(tx, r.Key, a.name, now)
		case bury:
			return outbox.Bury(tx, r.Key, a.name, now, failed)
		}
		return outbox.Retry(tx, r.Key, a.name, next, failed)
	}
	err := a.persist(ctx, write)
	if rest != nil && len(rest.refused) > 0 {
		log.Error("outbox: some recipients are refused: dead letter", "refused", rest.refusedList(), "err", rest.refusal)
		a.counted(func(c *Counts) { c.Buried++ })
	}
	switch {
	case errors.Is(err, outbox.ErrLost):
		log.Warn("outbox: delivered, or not, but "+err.Error(), "delivered", failed == nil)
	case err != nil:
		log.Error("outbox: the root does not know how a delivery went; it is made again",
			"delivered", failed == nil, "err", err)
	case failed == nil:
		log.Info("outbox: delivered")
		a.counted(func(c *Counts) { c.Delivered++ })
	case bury:
		log.Error("outbox: dead letter", "err", failed)
		a.counted(func(c *Counts) { c.Buried++ })
	default:
		log.Warn("outbox: not delivered yet", "next", next.UTC().Format(time.DateTime), "err", failed)
		a.counted(func(c *Counts) { c.Retried++ })
	}
}

// persist commits what write writes. While the root is busy or its server does not answer, it tries again
// until ctx ends.
func (a *Agent) persist(ctx context.Context, write func(tx *objectdb.Tx) error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := a.update(ctx, write)
		if err == nil || errors.Is(err, outbox.ErrLost) || errors.Is(err, objectdb.ErrReadOnly) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// Limits bound the script of a job.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes
}

// scriptLimits returns the limits of the script of a row; none for other rows.
func (a *Agent) scriptLimits(ctx context.Context, r outbox.Row) (Limits, error) {
	if r.Kind != outbox.Script {
		return Limits{}, nil
	}
	at, err := objectdb.ParseAddress(r.To)
	if err != nil {
		at = nil // its address is too long for the row
	}
	return a.limitsOf(ctx, at)
}

// limitsOf returns the limits of a script that the agent runs.
func (a *Agent) limitsOf(ctx context.Context, at objectdb.Address) (limits Limits, err error) {
	err = a.o.DB.View(ctx, func(tx *objectdb.Tx) error {
		s, err := a.o.Site.Snapshot(tx)
		if err == nil {
			of := s.Limits(at)
			seconds := runner.TimeLimit(of, site.MaxScheduledTime).Value
			limits = Limits{time.Duration(seconds * float64(time.Second)), runner.SizeOf(of, site.MaxMemory).Most}
		}
		return err
	})
	return limits, err
}
