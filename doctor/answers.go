package doctor

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"scripter/probe"
)

// bodySizes are tried up to user.webserver.maxBody: web servers refuse from
// 128 KB (mod_fcgid) or 1 MB (nginx) on, as they are supplied.
var bodySizes = []int64{1 << 10, 200 << 10, 2 << 20}

// checkBody posts bodies.
func (d *doctor) checkBody(ctx context.Context) {
	last := int64(0)
	for _, n := range bodySizes {
		if n = min(n, d.maxBody); n <= last {
			break
		}
		r := d.probe(ctx, question{method: "POST", path: d.works, body: make([]byte, n)})
		switch {
		case r.Probe == nil:
			d.fault("body", "a body of %s does not arrive, although user.webserver.maxBody is %s: %s",
				bytesText(n), bytesText(d.maxBody), r.outcome())
			return
		case r.Probe.Variables["CONTENT_LENGTH"] == "" && r.Probe.Body == 0:
			d.add(Fault, "variable", "CONTENT_LENGTH is missing: no form arrives",
				d.changeVariable("CONTENT_LENGTH")...)
			return
		case int64(r.Probe.Body) != n:
			d.fault("body", "of a body of %s arrive %d bytes: %s", bytesText(n), r.Probe.Body, r.Probe.BodyError)
			return
		case r.Probe.Variables["CONTENT_TYPE"] == "" && last == 0:
			d.add(Fault, "variable", "CONTENT_TYPE is missing: uploaded files cannot be taken apart",
				d.changeVariable("CONTENT_TYPE")...)
		}
		last = n
	}
	if last > 0 {
		d.ok("body", "a body of %s arrives whole", bytesText(last))
	}
}

func bytesText(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.4g MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.4g KB", float64(n)/(1<<10))
}

// checkPieces measures whether a piece of a response arrives before the next one is
// sent: for a client that does not accept gzip, and for one that does.
func (d *doctor) checkPieces(ctx context.Context) {
	var plain, packed *answered
	var both sync.WaitGroup
	both.Go(func() { plain = d.pieces(ctx) })
	both.Go(func() { packed = d.pieces(ctx, "Accept-Encoding: gzip") })
	both.Wait()
	switch {
	case string(plain.Body) != probe.First+probe.Last:
		d.fault("buffering", "an answer in two pieces does not arrive whole: %s", plain.outcome())
		return
	case !plain.apart() && d.server == "apache" && (d.way == "cgi" || d.way == "nph"):
		// mod_cgi passes each piece on at once. mod_deflate, which Debian enables,
		// gathers the beginning, even for a client that does not accept gzip.
		d.note("compression", "a filter of Apache, as a rule mod_deflate, holds the pieces of a response back "+
			"until the last one is sent; it matters only for scripts that stream their response")
		return
	case !plain.apart():
		d.fault("buffering", "the first piece of an answer is held back until the last one is sent, %v later",
			probe.Pause)
		return
	}
	d.ok("buffering", "a piece arrives before the next one is sent")
	if packed.Header.Get("Content-Encoding") != "" && !packed.apart() {
		d.note("compression", "compression (%s) holds pieces of a response back until the last one is sent; "+
			"it matters only for scripts that stream their response",
			packed.Header.Get("Content-Encoding"))
	}
}

// pieces asks for an answer in two pieces, three times if they come together: on
// a busy machine we may ourselves have been too late to see the first one alone.
func (d *doctor) pieces(ctx context.Context, fields ...string) (r *answered) {
	for range 3 {
		r = d.probe(ctx, question{path: d.works, kind: probe.Pieces, fields: fields})
		if r.err != nil || r.apart() {
			break
		}
	}
	return r
}

// apart reports whether the first piece came well before the last.
func (r *answered) apart() bool { return r.Last.Sub(r.First) >= probe.Pause/2 }

// checkAnswers checks whether the web server changes our responses.
func (d *doctor) checkAnswers(ctx context.Context) {
	d.checkStatus(ctx)
	r := d.probe(ctx, question{path: d.works})
	if r.Probe == nil {
		return // another check has reported it
	}
	right := len(d.findings)
	for _, name := range []string{"Server", "Content-Type", "Content-Length", "Mime-Version", "Date", "Cache-Control"} {
		if values := r.Header.Values(name); len(values) > 1 {
			d.fault("twice", "%s stands twice in the answer: %q", name, values)
		}
	}
	if status := r.Header.Values("Status"); len(status) > 0 {
		d.fault("status field", "the field Status: %s, which is between the web server and us, is sent on to visitors",
			strings.Join(status, ", "))
	}
	if c := r.Header.Get("Cache-Control"); !strings.Contains(c, "no-cache") {
		d.fault("cache", "the web server changes Cache-Control to %q: caches would keep what scripts answer", c)
	}
	if right == len(d.findings) {
		d.ok("header", "the fields of an answer arrive as they are sent")
	}
}

func (d *doctor) checkHead(ctx context.Context) {
	r := d.probe(ctx, question{method: "HEAD", path: d.works})
	switch {
	case r.Status != 200 || !r.fromScripter():
		d.fault("HEAD", "the method HEAD does not reach Scripter: %s", r.outcome())
	case len(r.Extra) > 0:
		d.fault("HEAD", "the answer to HEAD has a body: %.60q", r.Extra)
	default:
		d.ok("HEAD", "the method HEAD is answered with a head alone")
	}
}

// checkStatus asks for an error page and a redirect of ours.
func (d *doctor) checkStatus(ctx context.Context) {
	r := d.probe(ctx, question{path: d.works, kind: probe.Error})
	switch {
	case r.Status != 404:
		d.fault("status", "the status 404 of a script does not arrive: %s", r.outcome())
	case string(r.Body) != probe.ErrorBody:
		d.fault("error pages", "the web server puts a page of its own in the place of a script's error page")
	default:
		d.ok("error pages", "status and page of a script's error arrive")
	}
	r = d.probe(ctx, question{path: d.works, kind: probe.Redirect})
	switch {
	case r.Status != 302:
		d.fault("redirect", "the status 302 of a script does not arrive: %s", r.outcome())
	case r.Header.Get("Location") != probe.Location:
		d.fault("redirect", "the web server changes a redirect to %s into one to %q",
			probe.Location, r.Header.Get("Location"))
	default:
		d.ok("redirect", "redirects arrive as they are sent")
	}
}
