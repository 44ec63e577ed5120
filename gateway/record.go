package gateway

import (
	"context"
	"time"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/script"
	"scripter/site"
)

// These limit how long recording waits for other writers: before the run, while the visitor
// waits, and after the answer. Tests set longer times, because a busy machine may stop for a
// while.
var (
	patienceBefore = 500 * time.Millisecond
	patienceAfter  = 2 * time.Second
)

// record records the request while Debugging is on, in a transaction of its own, so that
// the request of a failing script is recorded too. It never fails the request.
func (x *exchange) record(ctx context.Context) {
	if x.recorded || !x.plan.debug {
		return
	}
	x.recorded = true
	g := x.g
	if g.IsPast() {
		return
	}
	var entry *requestlog.Request
	var m *requestlog.Mask
	late := false
	err := g.updateSoon(ctx, patienceBefore, func(tx *objectdb.Tx) error {
		s, err := g.site.Snapshot(tx)
		if err != nil {
			return err
		}
		on, _, err := s.Debugging(tx, g.now())
		if err != nil {
			return err
		}
		if late = s.Flag(site.FlDebug) && !on; late {
			tx.Origin = objectdb.Origin{Why: "debugMinutes"}
			return tx.Put(site.FlDebug.Address(), objectdb.Boolean(false))
		}
		entry, m, err = x.recordIn(tx, s)
		return err
	})
	switch {
	case err != nil:
		g.log.Warn("request not recorded", "path", x.request.LogPath(), "err", err)
	case late:
		g.log.Info("debugging has switched itself off", "setting", site.DebugMinutes.Address())
	default:
		x.entry, x.seed = entry, entry.Seed
		x.out.rec = &requestlog.Recorder{Mask: m, Begun: g.now()}
	}
}

// updateSoon runs fn like UpdateLocked, but waits for the writer's lock no longer than patience.
func (g *Gateway) updateSoon(ctx context.Context, patience time.Duration, fn func(*objectdb.Tx) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := time.AfterFunc(patience, func() { cancel(context.DeadlineExceeded) })
	defer waiting.Stop()
	return g.db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		waiting.Stop()
		return fn(tx)
	})
}

// recordIn records the request within a transaction that holds the writer's lock. The
// mask is nil if secrets are shown.
func (x *exchange) recordIn(tx *objectdb.Tx, s *site.Snapshot) (*requestlog.Request, *requestlog.Mask, error) {
	shown, body := *x.request, x.body
	if x.spool != nil {
		_, boundary, _ := httpform.Media(shown.Params["CONTENT_TYPE"])
		body = x.spool.excerpt(boundary)
	}
	var m *requestlog.Mask
	if !s.Flag(site.FlDebugSecrets) {
		m = new(requestlog.Mask)
		shown.Params, body = m.Variables(shown.Params), m.Body(shown.Params["CONTENT_TYPE"], body)
	}
	params := x.paramsOf(tx, s, &shown)
	if params != nil && m != nil {
		m.Params(params, body)
	}
	if err := requestlog.StoreParams(tx, params); err != nil {
		return nil, nil, err
	}
	entry := requestlog.New(shown.Params, body, m)
	entry.BodySize, entry.HandlerNames = x.bodySize(), shown.HandlerNames
	if x.spool != nil {
		entry.CutBody()
	}
	entry.ConnectionID, entry.Time, entry.Generation = x.connectionID(), x.g.now(), tx.Generation()
	entry.Developer = shown.Developer || shown.ShowErrors || x.request.hasToken(s)
	return entry, m, entry.Add(tx, int(s.Number(site.MaxRequests)))
}

// paramsOf returns the parameter table that the request shown would have, or nil if shown cannot
// be dispatched or its form cannot be read. shown is the request of x with its secrets masked.
func (x *exchange) paramsOf(tx *objectdb.Tx, s *site.Snapshot, shown *Request) *script.Table {
	target, err := dispatch(&Request{Params: shown.Params, HandlerNames: shown.HandlerNames}, s)
	if err != nil {
		return nil
	}
	p := newParameters(x, target, s, s.Limits(answering(tx, s, target)))
	p.request, p.brief = shown, true
	params, err := p.table()
	if err != nil {
		return nil
	}
	return params
}

// recordOutcome records what became of a recorded request, after its answer.
func (x *exchange) recordOutcome(ctx context.Context, out Outcome) {
	entry, g := x.entry, x.g
	if entry == nil || entry.Number == 0 {
		return
	}
	x.out.flush() // the visitor does not wait for this; a lost client is reported elsewhere
	failure := ""
	if out.Err != nil {
		failure = Describe(out.Err)
	}
	entry.SetOutcome(x.out.rec, x.out.status, out.Incident, failure, g.now())
	if err := g.updateSoon(context.WithoutCancel(ctx), patienceAfter, entry.AddOutcome); err != nil {
		g.log.Warn("outcome of a request not recorded", "path", x.request.LogPath(), "number", entry.Number, "err", err)
	}
}
