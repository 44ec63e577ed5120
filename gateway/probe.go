package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"scripter/httpheader"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/site"
)

// A probe is a request of "scripter doctor", which asks what a web server
// makes of requests on their way to us. It carries a token whose SHA-256 lies
// in the root, and is answered before the trap; nothing of the site runs.

// ProbeField is the field that carries the token, and after a blank the kind
// of answer that is wanted.
const ProbeField = "Scripter-Probe"

const probeVariable = "HTTP_SCRIPTER_PROBE"

// The kinds of answer, beside the [ProbeReply] that is the rule.
const (
	ProbePieces   = "pieces"   // two lines, ProbePause apart
	ProbeRedirect = "redirect" // 302 to ProbeLocation
	ProbeError    = "error"    // 404 with the body ProbeErrorBody
)

// What those answers hold.
const (
	ProbePause     = 400 * time.Millisecond
	ProbeFirst     = "<p>first piece</p>\n"
	ProbeLast      = "<p>last piece</p>\n"
	ProbeLocation  = "http://scripter-probe.invalid/target?a=1"
	ProbeErrorBody = "<p>this is the error page of a script</p>\n"
)

// ProbeReply is the JSON answer to a probe: what arrived.
type ProbeReply struct {
	Probe     string            `json:"probe"` // "scripter"
	Transport string            `json:"road"`  // CGI, FastCGI, net/http/fcgi, HTTP
	Form      string            `json:"form"`  // nph, parsed
	Server    string            `json:"server"`
	Variables map[string]string `json:"variables"` // secrets masked
	Body      int               `json:"body"`      // bytes that arrived
	BodyError string            `json:"bodyError,omitempty"`
	Path      string            `json:"path"`
	Extra     string            `json:"extra"`
	PathArgs  string            `json:"pathArgs"`
	Action    string            `json:"action"`
	Rule      string            `json:"rule"` // what chose the action
	Handler   bool              `json:"handler"`
	File      string            `json:"file,omitempty"` // the page, where there is one
	Refused   string            `json:"refused,omitempty"`
	Steps     []string          `json:"steps"`
	PID       int               `json:"pid"`
	UID       int               `json:"uid"`
	GID       int               `json:"gid"`
	RootHash  string            `json:"rootHash"` // see RootHash
	Files     []FileRights      `json:"files"`    // the root's file, its folder, its companions
	Unlisted  []*site.Unlisted  `json:"unlisted"` // what settings name but scripter.conf does not list
}

// FileRights tells what the answering process may do with a file.
type FileRights struct {
	Name  string `json:"name"` // "file", "folder", "-wal", "-shm"
	UID   int    `json:"uid"`
	GID   int    `json:"gid"`
	Mode  string `json:"mode"` // as ls shows it
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
}

// RootHash stands for a root's place in the file system without telling it.
func RootHash(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return probeHash("root " + file)
}

// probe answers the request when it is a probe with a good token, and reports whether it
// is. To all other requests it does nothing.
func (x *exchange) probe(ctx context.Context) (probed bool, err error) {
	given := x.request.Params[probeVariable]
	if given == "" {
		return false, nil
	}
	token, kind, _ := strings.Cut(given, " ")
	reply := ProbeReply{Probe: "scripter"}
	var limit runner.Bound
	_, err = x.g.runner.Run(ctx, runner.Options{ReadOnly: true}, func(r *runner.Run) error {
		if probed = knownProbe(r.Tx, token, x.g.now()); probed {
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
	return true, x.answerProbe(ctx, kind, &reply)
}

// fillProbe says what arrived and what would become of it, and returns the limit of the
// body.
func (x *exchange) fillProbe(run *runner.Run, p *ProbeReply) runner.Bound {
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
	p.RootHash = RootHash(root)
	p.Files = rootRights(root)
	p.Unlisted = c.g.reach.Load().Unlisted(c.Site())
	return c.Size(site.MaxBody)
}

// probeVariables are the variables that may be shown.
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

// rootRights looks at the root's file, its folder and what SQLite has beside
// it. A file of the root is never opened here: closing it would give up this
// process's locks on it.
func rootRights(root string) []FileRights {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	list := []FileRights{}
	for _, f := range []struct{ name, path string }{
		{"file", root}, {"folder", filepath.Dir(root)}, {"-wal", root + "-wal"}, {"-shm", root + "-shm"},
	} {
		info, err := os.Stat(f.path)
		if err != nil {
			continue
		}
		const readable, writable = 4, 2 // access(2)
		rights := FileRights{
			Name: f.name, Mode: info.Mode().String(),
			Read:  syscall.Access(f.path, readable) == nil,
			Write: syscall.Access(f.path, writable) == nil,
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			rights.UID, rights.GID = int(s.Uid), int(s.Gid)
		}
		list = append(list, rights)
	}
	return list
}

// answerProbe sends the answer of one kind.
func (x *exchange) answerProbe(ctx context.Context, kind string, reply *ProbeReply) error {
	resp := &httpheader.Response{Status: 200, Reason: "OK"}
	resp.Add("Server", reply.Server)
	resp.Add("MIME-Version", "1.0")
	resp.Add("Content-type", "text/html")
	switch kind {
	case ProbePieces:
		return x.sendPieces(ctx, resp)
	case ProbeRedirect:
		resp.Status, resp.Reason = 302, "FOUND"
		resp.Add("Location", ProbeLocation)
		resp.Body = "<p>elsewhere</p>\n"
	case ProbeError:
		resp.Status, resp.Reason = 404, "FILE NOT FOUND"
		resp.Body = ProbeErrorBody
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

// sendPieces sends two pieces as webserver.sendPartial does, with time
// between them.
func (x *exchange) sendPieces(ctx context.Context, resp *httpheader.Response) error {
	a := x.out
	resp.Body = ProbeFirst
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
	case <-time.After(ProbePause):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return a.write(ProbeLast)
}
