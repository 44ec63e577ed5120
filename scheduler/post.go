package scheduler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"scripter/fetch"
	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/outbox"
)

const (
	// postTime bounds a post whose script does not say how long it may take, and longestPost one whose
	// script does.
	postTime    = 30 * time.Second
	longestPost = deliveryTime - 10*time.Second
	// maxAnswer is how much of an answer is read, in bytes.
	maxAnswer = 1 << 20
)

// post makes the HTTP request of a row.
func (a *Agent) post(ctx context.Context, r outbox.Row, cells map[string]objectdb.Value) error {
	p, err := outbox.ReadRequest(cells)
	if err != nil {
		return final(err)
	}
	header := http.Header(p.Header).Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Idempotency-Key") == "" {
		header.Set("Idempotency-Key", r.Key)
	}
	limit := postTime
	if p.Timeout > 0 {
		limit = min(p.Timeout, longestPost)
	}
	// scripter.conf may have been changed since the row was written.
	client := fetch.New(fetch.Options{Reach: a.o.Reach()})
	defer client.Close()
	answer, err := client.Do(ctx, fetch.Request{
		Method: p.Method, URL: p.URL, Header: header, Body: p.Body,
		Timeout: limit, MaxBytes: maxAnswer, Redirects: p.Redirects,
	})
	var refused *fetch.Refused
	switch {
	case errors.Is(err, fetch.ErrTooLarge): // it has answered, and nobody reads that
		return nil
	case errors.As(err, &refused):
		return final(err)
	case err != nil:
		return err
	}
	return a.postFailure(answer)
}

// postFailure returns the error that an answer means.
func (a *Agent) postFailure(answer *fetch.Response) error {
	if answer.Status >= 200 && answer.Status < 300 {
		return nil
	}
	said := clip(strings.Join(strings.Fields(answer.Body), " "), 150)
	f := &failure{err: fmt.Errorf("status %d: %s", answer.Status, said)}
	switch s := answer.Status; {
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly, s == http.StatusTooManyRequests, s >= 500:
		f.wait = a.waitFor(answer.Header.Get("Retry-After"))
	default:
		f.final = true
	}
	return f
}

// waitFor returns what a field Retry-After asks for (RFC 9110, 10.2.3), or 0.
func (a *Agent) waitFor(field string) time.Duration {
	if seconds, err := strconv.Atoi(field); err == nil {
		return time.Duration(min(max(seconds, 0), int(longestRetry/time.Second))) * time.Second
	}
	if date, err := httpheader.ParseDate(field); err == nil {
		return max(date.Sub(a.o.Now()), 0)
	}
	return 0
}
