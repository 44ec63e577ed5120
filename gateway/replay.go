package gateway

import (
	"context"
	"io"
	"time"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
)

// ReplayOptions say how a recorded request is run again.
type ReplayOptions struct {
	// Commit keeps what the run changes in the root.
	Commit bool
	// Developer shows errors in full; without it they are shown as in the recorded answer.
	Developer bool
	// By is the origin of what the run changes, if Commit keeps it. The zero value stands for
	// that of the DB.
	By objectdb.Origin
	// DocumentRoot is the document root that the request may have, beside the folders that
	// are listed for the root. The recorded one is not trusted: it lies in the root, where
	// scripts can write.
	DocumentRoot string
	// Inspect, if set, is called with the transaction when the scripts have ended without an
	// error, before their changes are committed or undone. It may be called more than once.
	Inspect func(*objectdb.Tx) error
	// Markers, if set, is called with a trace of the markers when the scripts have ended, also with an
	// error. An error page has a trace of its own.
	Markers func(*MarkerTrace)

	// Prepare and Ended are those of the run: see [runner.Options]. Either may be nil.
	Prepare func(*runner.Run) error
	Ended   func(*runner.Run, error) error

	inner bool        // a script of another run asks for this one
	test  *runner.Run // the run of a test, or of a request within it, that replays the request
}

// Replay runs a recorded request again, on the scripts and data of the gateway's DB, and today's
// pages. The clock of the run
// stands at the recorded time; math.random, connectionID and the number of an incident are
// the recorded ones. The run itself is not recorded.
func (g *Gateway) Replay(
	ctx context.Context, recorded *requestlog.Request, w io.Writer, o ReplayOptions,
) (Outcome, *requestlog.Answer) {
	x := g.newExchange(&Request{
		Params: recorded.Variables, Form: NPH, HandlerNames: recorded.HandlerNames,
		Developer: recorded.Developer || o.Developer,
	}, w)
	defer x.close()
	then := recorded.Time.Local()
	x.now, x.began = func() time.Time { return then }, then
	x.replay, x.test, x.fetched = &o, o.test, recorded.FetchLog()
	x.body, x.bodyRead, x.recorded = recorded.Body, true, true
	x.connection, x.seed, x.incident = recorded.ConnectionID, recorded.Seed, recorded.Incident
	x.out.rec = &requestlog.Recorder{}
	if !recorded.Secrets {
		x.out.rec.Mask = new(requestlog.Mask)
		x.out.rec.Mask.Variables(x.request.Params)
		x.out.rec.Mask.Body(x.request.Params["CONTENT_TYPE"], recorded.Body)
	}
	out := x.answer(ctx)
	return out, x.out.rec.Answer(out.Status)
}
