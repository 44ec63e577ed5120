package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"scripter/fetch"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	verbhttp "scripter/verbs/http"
)

// Fetcher returns what makes requests to the hosts that are listed for the root.
func (g *Gateway) Fetcher() *fetch.Client {
	g.fetcher.Lock()
	defer g.fetcher.Unlock()
	if g.fetcher.client == nil {
		name, version, _ := strings.Cut(Program(), " ")
		g.fetcher.client = fetch.New(fetch.Options{
			Reach: g.Reach(), Agent: strings.ToUpper(name[:1]) + name[1:] + "/" + version, RootCAs: g.fetcher.rootCAs,
		})
	}
	return g.fetcher.client
}

// forgetFetcher makes Fetcher use the list of now.
func (g *Gateway) forgetFetcher() {
	g.fetcher.Lock()
	defer g.fetcher.Unlock()
	if g.fetcher.client != nil {
		g.fetcher.client.Close()
		g.fetcher.client = nil
	}
}

// Fetch makes a request for a script of this attempt: see [verbhttp.Host]. It holds no lock of the root: see
// [runner.Run.Once]. In a test, and in a replay, nobody is asked.
func (c *attempt) Fetch(t *script.Thread, r fetch.Request) (*fetch.Response, error) {
	most := c.Count(site.MaxFetches)
	if c.fetches++; c.fetches > most.Most {
		return nil, most.Error("the request fetches more than %d times", most.Most)
	}
	switch {
	case c.answers != nil:
		return c.answers.next(&r)
	case c.fetched != nil:
		return recordedAnswer(c.fetched, &r)
	case c.replay != nil, c.g.IsPast():
		return nil, errors.New("neither a run that is only looked at nor scripts of the past ask other hosts")
	case c.IsDiscarded() && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil, fmt.Errorf("a run whose changes are undone changes nothing elsewhere: the method is GET or HEAD, not %s",
			r.Method)
	}
	begun := time.Now()
	answer, err := c.askOutside(t, r)
	if c.entry != nil && !errors.Is(err, runner.ErrAgain) {
		c.entry.AddFetch(recordOf(&r, answer, err, time.Since(begun)), c.out.rec.Mask)
	}
	return answer, err
}

func (c *attempt) askOutside(t *script.Thread, r fetch.Request) (*fetch.Response, error) {
	client := c.g.Fetcher()
	if _, err := client.Check(r.URL); err != nil {
		return nil, err
	}
	size := c.Size(site.MaxFetchSize)
	r.MaxBytes, r.Timeout = size.Most, c.outsideTime(t, site.MaxFetchTime, r.Timeout)
	by := c.answerer()
	v, err := c.Once("http.fetch "+fetchKey(&r), func(ctx context.Context) (any, error) {
		begun := time.Now()
		answer, err := client.Do(ctx, r)
		c.logFetch(by, &r, answer, err, time.Since(begun))
		return answer, err
	})
	var refused *fetch.Refused
	switch {
	case err == nil:
		return v.(*fetch.Response), nil
	case errors.Is(err, fetch.ErrTooLarge):
		return nil, size.Error("%s: the answer is larger than %v MB", fetchHost(r.URL), size.Limit.Value)
	case errors.Is(err, runner.ErrAgain), errors.As(err, &refused), c.Context().Err() != nil:
		return nil, err
	}
	return nil, c.timeOver(t, &verbhttp.Unanswered{Why: err.Error()})
}

// timeOver ends the run if its time is over, and returns err if it is not.
func (c *attempt) timeOver(t *script.Thread, err error) error {
	end, ok := t.Deadline()
	if !ok || time.Now().Before(end) {
		return err
	}
	limit := runner.Bound{Limit: c.Limits().Get(site.MaxTime)}
	return c.stopOnError(limit.Error("time limit of %v exceeded", secondsOf(limit.Limit.Value)))
}

// outsideTime returns how long something outside may take: what the script wants, unless that is 0, at most the
// setting, and not beyond the time limit of the run.
func (c *attempt) outsideTime(t *script.Thread, set *site.Setting, wanted time.Duration) time.Duration {
	limit := secondsOf(c.Limits().Get(set).Value)
	if wanted > 0 {
		limit = min(limit, wanted)
	}
	if end, ok := t.Deadline(); ok {
		limit = min(limit, time.Until(end))
	}
	return max(limit, time.Millisecond)
}

// fetchKey returns a text that is the same for the same request.
func fetchKey(r *fetch.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q %d", r.Method, r.URL, r.Body, r.Redirects)
	var names []string
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %q %q", http.CanonicalHeaderKey(name), r.Header[name])
	}
	return b.String()
}

// fetchHost returns the scheme and the host of a URL. Paths may have secrets.
func fetchHost(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	return u.Scheme + "://" + u.Host
}

// logFetch logs a request that failed, and each one if Verbose Messages is on.
func (c *attempt) logFetch(by string, r *fetch.Request, answer *fetch.Response, err error, took time.Duration) {
	switch {
	case c.isQuiet():
	case err != nil:
		c.g.log.Warn("fetch failed", "method", r.Method, "host", fetchHost(r.URL), "path", c.request.LogPath(),
			"script", by, "time", took.Round(time.Millisecond), "err", err)
	case c.plan != nil && c.plan.verbose:
		c.g.verbose.Info("fetch", "method", r.Method, "host", fetchHost(r.URL), "status", answer.Status,
			"bytes", len(answer.Body), "time", took.Round(time.Millisecond))
	}
}
