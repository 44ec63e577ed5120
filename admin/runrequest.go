package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// ranAnswer is the answer to a request that was run.
type ranAnswer struct {
	Status int         `json:"status"`
	Head   string      `json:"head"` // status line and fields, each with a line end
	Body   boundedText `json:"body"`
	Broken bool        `json:"broken,omitempty"` // it began and was not finished
	IsHTML bool        `json:"-"`
}

// Class returns the colour of the status.
func (a *ranAnswer) Class() string { return statusClass(a.Status) }

// StatusText returns the words of the status.
func (a *ranAnswer) StatusText() string { return http.StatusText(a.Status) }

// runRequest runs a request that was recorded or typed. typed, if not nil, takes the place of a script.
// What is written is kept or thrown away. what stands in the history.
func (c *call) runRequest(request *requestlog.Request, what string, keep bool, typed *typedScript) (*ran, error) {
	log := &runLog{}
	return c.runRequestBy(c.Gateway.On(c.db, slog.New(log)), log, request, what, &ran{Kept: keep, typed: typed})
}

// runRequestBy is runRequest with another gateway, which logs to log. It completes and returns r.
func (c *call) runRequestBy(
	g *gateway.Gateway, log *runLog, request *requestlog.Request, what string, r *ran,
) (*ran, error) {
	err := c.perform(r, func() error {
		w := &answerHead{}
		o := c.runOptions(r, what)
		out, answer := g.Replay(c.ctx(), request, w, gateway.ReplayOptions{
			Commit: r.Kept, Developer: true, By: o.Origin, DocumentRoot: gateway.DocumentRoot(c.ctx()),
			Prepare: o.Prepare, Ended: o.Ended,
		})
		r.Log = log.lines
		if out.Status > 0 {
			r.Answer = newRanAnswer(answer, w, out.Broken)
		}
		return out.Err
	})
	return r, err
}

func newRanAnswer(answer *requestlog.Answer, w *answerHead, broken bool) *ranAnswer {
	a := &ranAnswer{Status: answer.Status, Head: answer.Head, Broken: broken}
	_, body, _ := strings.Cut(w.text.String(), "\r\n\r\n")
	a.Body = boundedOf(body, answer.Size)
	for line := range strings.Lines(answer.Head) {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Content-Type") {
			media, _, _ := mime.ParseMediaType(strings.TrimSpace(value))
			a.IsHTML = media == "text/html" && !a.Body.Binary && a.Body.Size > 0
		}
	}
	return a
}

// answerHead keeps the head of an answer and the beginning of its body.
type answerHead struct{ text strings.Builder }

func (w *answerHead) Write(p []byte) (int, error) {
	const most = requestText + 64<<10 // with the head
	if left := most - w.text.Len(); left > 0 {
		w.text.Write(p[:min(left, len(p))])
	}
	return len(p), nil
}

// runLog keeps the lines for the log of one run.
type runLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *runLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l *runLog) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *runLog) WithGroup(string) slog.Handler                    { return l }

func (l *runLog) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= ranLog {
		return nil
	}
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "detail" { // the traceback, which the page shows
			line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	})
	l.lines = append(l.lines, cutAt(strings.ToValidUTF8(line, "�"), 2000))
	return nil
}

// typedRequest is a request as a person types it.
type typedRequest struct {
	Method string `json:"method"`
	URL    string `json:"url"`    // path and query
	Header string `json:"header"` // lines such as "Accept-Language: de"
	Body   string `json:"body"`
}

// methods are the methods that the page offers.
var methods = []string{"GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"}

// readRequest reads a request from the form.
func (c *call) readRequest() typedRequest {
	return typedRequest{Method: cmp.Or(c.field("method"), "GET"), URL: strings.TrimSpace(c.field("url")),
		Header: c.lines("header"), Body: c.field("body")}
}

var headerLine = regexp.MustCompile(`^([A-Za-z0-9-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)$`)

// recorded returns the request as it would be recorded if this person's browser had sent it.
func (t typedRequest) recorded(c *call) (*requestlog.Request, error) {
	if !slices.Contains(methods, t.Method) {
		return nil, bad("run.method", t.Method)
	}
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || r == '#' }
	if !strings.HasPrefix(t.URL, "/") || strings.ContainsFunc(t.URL, odd) {
		return nil, bad("run.badURL", t.URL)
	}
	path, query, _ := strings.Cut(t.URL, "?")
	v := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
		"REQUEST_METHOD": t.Method, "SCRIPT_NAME": gateway.DecodePath(path), "REQUEST_URI": t.URL,
		"QUERY_STRING": query, "DOCUMENT_ROOT": gateway.DocumentRoot(c.ctx()), "REMOTE_ADDR": c.from().Address,
		"HTTP_HOST": c.r.Host,
	}
	if isSecure(c.r) {
		v["HTTPS"], v["SERVER_PORT"] = "on", "443"
	}
	if t.Body != "" {
		v["CONTENT_TYPE"], v["CONTENT_LENGTH"] = "application/x-www-form-urlencoded", strconv.Itoa(len(t.Body))
	}
	for line := range strings.SplitSeq(t.Header, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		m := headerLine.FindStringSubmatch(line)
		if m == nil {
			return nil, bad("run.badHeader", line)
		}
		switch name := strings.ReplaceAll(strings.ToUpper(m[1]), "-", "_"); name {
		case "CONTENT_LENGTH": // the body says it
		case "CONTENT_TYPE":
			v[name] = m[2]
		default:
			v["HTTP_"+name] = m[2]
		}
	}
	return &requestlog.Request{Time: c.Now(), Variables: v, Body: t.Body, BodySize: int64(len(t.Body)), Developer: true,
		Secrets: true}, nil
}

// keptRequest is a recorded request in the list of those that a script can be run with.
type keptRequest struct {
	Number int    `json:"number"`
	Time   string `json:"time"`
	Line   string `json:"request"`
	Status int    `json:"status,omitempty"`
}

// mostKept is how many recorded requests the page of a run lists.
const mostKept = 20

// keptRequests lists the last recorded requests for a path; or the last of all, if there are none or
// the path is "".
func keptRequests(tx *objectdb.Tx, path string) (list []keptRequest, forPath bool, err error) {
	var others []keptRequest
	for h, err := range requestlog.Heads(tx, 0) {
		if err != nil {
			return nil, false, err
		}
		k := keptRequest{Number: h.Number, Time: when(h.Time), Line: cutAt(h.Line, 200), Status: h.Status}
		_, asked, _ := strings.Cut(h.Line, " ")
		if i := strings.IndexAny(asked, "?$"); i >= 0 {
			asked = asked[:i]
		}
		if path != "" && strings.EqualFold(asked, path) {
			list = append(list, k)
		} else {
			others = append(others, k)
		}
	}
	if forPath = len(list) > 0; !forPath {
		list = others
	}
	return list[:min(len(list), mostKept)], forPath, nil
}

// keptRequest returns the recorded request that the form names, ready to be run again: for an owner with
// its secrets.
func (c *call) keptRequest() (*requestlog.Request, error) {
	n, err := strconv.Atoi(c.field("request"))
	if err != nil || n < 1 {
		return nil, bad("run.noRequest")
	}
	var r *requestlog.Request
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) {
		r, err = requestlog.Find(tx, n)
		return err
	})
	if errors.Is(err, requestlog.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, "run.notKept", err)
	}
	if err != nil {
		return nil, err
	}
	if c.role.Kind != site.RoleOwner {
		r = r.WithoutSecrets()
	}
	if failed := r.Incomplete(); failed != nil {
		return nil, newProblem(http.StatusConflict, "run.incomplete", failed)
	}
	return r, nil
}
