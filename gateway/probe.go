package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"scripter/httpheader"
	"scripter/probe"
	"scripter/requestlog"
	"scripter/rootname"
	"scripter/runner"
	"scripter/site"
)

// probeVariable is the variable of [probe.Field].
const probeVariable = "HTTP_SCRIPTER_PROBE"

// probe answers the request if it is a probe with a good token, and reports whether it is
// one.
func (x *exchange) probe(ctx context.Context) (probed bool, err error) {
	given := x.request.Params[probeVariable]
	if given == "" {
		return false, nil
	}
	token, kind, _ := strings.Cut(given, " ")
	reply := probe.Reply{Probe: "scripter"}
	var limit runner.Bound
	o := runner.Options{ReadOnly: true, Inner: x.isInner(), Within: x.test}
	_, err = x.g.runner.Run(ctx, o, func(r *runner.Run) error {
		if probed = probe.IsGood(r.Tx, token, x.g.now()); probed {
			limit = x.fillProbe(r, &reply)
		}
		return nil
	})
	if err != nil || !probed {
		return false, nil
	}
	x.bodyRead = true
	if x.body, err = x.request.readBody(limit); err != nil {
		reply.BodyError = err.Error()
	}
	reply.Body = len(x.body)
	if kind == probe.Beyond {
		reply.Outside = x.g.Outside(ctx)
	}
	return true, x.answerProbe(ctx, kind, &reply)
}

// fillProbe writes into p what has arrived and what would answer it. It returns the limit of
// the body.
func (x *exchange) fillProbe(run *runner.Run, p *probe.Reply) runner.Bound {
	traced, r := *x, *x.request
	traced.request = &r
	c := traced.newAttempt(run)
	run.Script = c.answering
	p.Transport, p.Form, p.Server = r.Transport, "parsed", c.server()
	if r.Form == NPH {
		p.Form = "nph"
	}
	p.Variables = r.probeVariables()
	p.Steps = []string{}
	r.Trace = func(step string) { p.Steps = append(p.Steps, step) }
	err := r.Check()
	if err == nil {
		c.target, err = dispatch(&r, c.Site())
	}
	if err != nil {
		p.Refused = err.Error()
	}
	t := c.target
	p.Path, p.Extra, p.PathArgs, p.Handler = t.Path, t.Extra, t.PathArgs, t.ViaHandler
	p.Action, p.Rule = t.Action, t.Rule
	if file, err := c.findFile(c.pageFiles()); err == nil {
		p.File = file.real
	}
	p.PID, p.UID, p.GID = os.Getpid(), os.Geteuid(), os.Getegid()
	root := c.g.db.Path()
	p.RootHash = probe.RootHash(root)
	if local, err := rootname.LocalPath(root); err == nil {
		p.Files = probe.RightsTo(local)
	}
	p.Unlisted = c.g.Reach().Unlisted(c.Site())
	return c.Size(site.MaxBody)
}

// probeVariables returns the variables that may be shown.
func (r *Request) probeVariables() map[string]string {
	m := new(requestlog.Mask).Variables(r.Params)
	delete(m, probeVariable)
	for name, value := range m {
		switch {
		case value != "" && requestlog.IsSecretVariable(name):
			m[name] = requestlog.Masked
		case len(value) > 1<<10:
			m[name] = strings.ToValidUTF8(value[:1<<10], "")
		}
	}
	return m
}

// answerProbe sends an answer of this kind.
func (x *exchange) answerProbe(ctx context.Context, kind string, reply *probe.Reply) error {
	resp := &httpheader.Response{Status: 200, Reason: "OK"}
	resp.Add("Server", reply.Server)
	resp.Add("MIME-Version", "1.0")
	resp.Add("Content-type", "text/html")
	switch kind {
	case probe.Pieces:
		return x.sendPieces(ctx, resp)
	case probe.Redirect:
		resp.Status, resp.Reason = 302, "FOUND"
		resp.Add("Location", probe.Location)
		resp.Body = "<p>elsewhere</p>\n"
	case probe.Error:
		resp.Status, resp.Reason = 404, "FILE NOT FOUND"
		resp.Body = probe.ErrorBody
	default:
		text, err := json.Marshal(reply)
		if err != nil {
			return fmt.Errorf("encode what arrived: %w", err)
		}
		resp.Set("Content-type", "application/json")
		resp.Body = string(text)
	}
	complete(x.request, resp)
	x.hold(held{resp: resp})
	return x.send()
}

// sendPieces sends two pieces as webserver.sendPartial does, with a pause between them.
func (x *exchange) sendPieces(ctx context.Context, resp *httpheader.Response) error {
	a := x.out
	resp.Body = probe.First
	complete(x.request, resp)
	if a.nginx {
		resp.Set("X-Accel-Buffering", "no")
	}
	if err := a.start(resp); err != nil {
		return err
	}
	if err := a.flush(); err != nil {
		return err
	}
	select {
	case <-time.After(probe.Pause):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return a.write(probe.Last)
}
