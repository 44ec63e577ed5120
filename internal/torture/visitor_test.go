package torture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"scripter/internal/fcgitest"
)

// visitor asks for one thing after the other, and remembers what it was told.
type visitor struct {
	*torture
	name   string
	random *rand.Rand
	ask    func(ctx context.Context, script, query string) reply

	told    int // steps that it was told of
	last    int // the number of the last one
	unknown int // steps of which it knows not whether they were made

	cookie string // of its session
	visits int    // that the session has told

	conn     *fcgitest.Client // of byDaemon, kept from request to request
	attached int64            // which daemon it leads to
}

// reply is what became of a request. Err says that no whole answer came; killed,
// that a process it needed was killed meanwhile, or may have been.
type reply struct {
	status int
	body   string
	err    error
	killed bool
	cookie string // that it sets
}

// visit asks until ctx ends, and lets the last request finish.
func (v *visitor) visit(ctx context.Context) {
	long := context.WithoutCancel(ctx)
	for i := 0; ctx.Err() == nil; i++ {
		script := "step"
		switch v.random.Intn(4) {
		case 0:
			script = "hello"
		case 1:
			script = "look"
		}
		query := v.name
		if script == "hello" {
			query = fmt.Sprint(v.name, "-", i)
		}
		bounded, cancel := context.WithTimeout(long, 2*patience)
		r := v.ask(bounded, script, query)
		cancel()
		v.count.add("requests", 1)
		v.take(script, query, r)
	}
	if v.conn != nil {
		v.conn.Close()
	}
}

// take holds a reply against what it must be.
func (v *visitor) take(script, query string, r reply) {
	wrong := func(why string) {
		v.count.fault(wrongAnswers, "%s, %s: %s: status %d, %.300q, error %v", v.name, script, why, r.status, r.body, r.err)
	}
	if internals.MatchString(r.body) {
		wrong("it was told of the inside")
	}
	switch {
	case r.err != nil:
		if script == "step" {
			v.unknown++
		}
		if !r.killed {
			wrong("no answer, and nobody was killed")
		}
		v.count.add("requests cut off by a kill", 1)
	case r.status == 503:
		// Rolled back, and said so: not a step.
		v.count.add("answers 503: busy", 1)
	case r.killed && r.status >= 500:
		// The page that a server sends for a worker that was killed.
		v.count.add("requests cut off by a kill", 1)
		if script == "step" {
			v.unknown++
		}
	case r.status != 200:
		wrong("a wrong status")
	case script == "hello" && r.body != "hello "+query:
		wrong("another's answer")
	case script == "look" && r.body != "whole":
		wrong("a mixture")
	case script == "step":
		v.step(r, wrong)
	}
}

// step holds the number of a step against the ones before.
func (v *visitor) step(r reply, wrong func(string)) {
	var n, visits int
	if _, err := fmt.Sscanf(r.body, v.name+" %d %d", &n, &visits); err != nil {
		wrong("another's answer")
		return
	}
	v.told++
	switch {
	case r.cookie != "":
		v.cookie = r.cookie
	case visits > 0 && visits <= v.visits:
		v.count.fault(lostSteps, "the session of %s told %d visits after %d", v.name, visits, v.visits)
	}
	if v.visits = visits; visits > 0 {
		v.count.add("visits of sessions", 1)
	}
	if n <= v.last {
		v.count.fault(lostSteps, "%s was told of step %d after step %d", v.name, n, v.last)
	}
	if n > v.told+v.unknown {
		wrong(fmt.Sprintf("step %d, when %d were made and %d are unknown", n, v.told, v.unknown))
	}
	v.last = max(v.last, n)
}

// byCGI starts a CGI program that answers by itself.
func (v *visitor) byCGI(ctx context.Context, script, query string) reply {
	return v.started(ctx, script, query, alone)
}

// byResident starts one that hands its request over to the daemon, where there is
// one.
func (v *visitor) byResident(ctx context.Context, script, query string) reply {
	before := v.daemon.epoch.Load()
	r := v.started(ctx, script, query, byResident)
	r.killed = r.killed || before%2 == 1 || v.daemon.epoch.Load() != before
	return r
}

// started starts a CGI program, and kills one in ten.
func (v *visitor) started(ctx context.Context, script, query, resident string) reply {
	var kill <-chan time.Time
	if v.random.Intn(10) == 0 {
		kill = time.After(time.Duration(v.random.Intn(100)) * time.Millisecond)
		v.count.add("kills of CGI programs", 1)
	}
	status, body, err := v.cgi(ctx, script, query, "", resident, kill)
	if err != nil && crashes.MatchString(err.Error()) {
		v.count.fault(wrongAnswers, "scripter-cgi said %v", err)
	}
	return reply{status: status, body: body, err: err, killed: kill != nil}
}

var setCookie = regexp.MustCompile(`\r\nSet-Cookie: (scripter-visitor=[^;\r]+)`)

// byDaemon asks the daemon on a kept connection.
func (v *visitor) byDaemon(ctx context.Context, script, query string) reply {
	before := v.daemon.up(ctx)
	if v.conn == nil || v.attached != before {
		if v.conn != nil {
			v.conn.Close()
		}
		conn, err := fcgitest.Dial(ctx, v.daemon.current().spec())
		if err != nil {
			v.conn = nil
			return reply{err: err, killed: v.daemon.epoch.Load() != before}
		}
		v.conn, v.attached = conn, before
	}
	var out bytes.Buffer
	vars := variables(script, query, 0)
	vars["HTTP_X_SESSION"], vars["HTTP_COOKIE"] = "yes", v.cookie
	_, err := v.conn.Do(ctx, vars, nil, &out, io.Discard)
	r := reply{err: err}
	if err == nil {
		r.status, r.body, r.err = parseAnswer(out.String())
		if m := setCookie.FindStringSubmatch(out.String()); m != nil {
			r.cookie = m[1]
		}
	}
	if r.err != nil {
		v.conn.Close()
		v.conn = nil
	}
	r.killed = v.daemon.epoch.Load() != before
	return r
}

// byCommand asks with "scripter call".
func (v *visitor) byCommand(ctx context.Context, script, query string) reply {
	url := "/" + script + ".fcgi?" + query
	out, err := exec.CommandContext(ctx, v.program("scripter"), "--root", v.root, "call", url).Output()
	head, body, ok := strings.Cut(string(out), "\r\n\r\n")
	var status int
	if _, scanned := fmt.Sscanf(head, "HTTP/1.0 %d", &status); !ok || scanned != nil {
		return reply{body: string(out), err: fmt.Errorf("scripter call: %w: %.300q", err, out)}
	}
	return reply{status: status, body: body}
}
