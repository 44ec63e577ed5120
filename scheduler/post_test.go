package scheduler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/outbox"
	"scripter/site"
)

// TestPost checks posts: their fields and key, what is tried again and when, and what is given up.
func TestPost(t *testing.T) {
	r := newRoot(t)
	var mu sync.Mutex
	status, after := 200, ""
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body, _ := io.ReadAll(hr.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, strings.Join([]string{hr.Method, hr.URL.String(), hr.Header.Get("Idempotency-Key"),
			hr.Header.Get("X-Test"), hr.Header.Get("Content-Type"), string(body)}, " "))
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		io.WriteString(w, "said\n so")
	}))
	defer s.Close()
	set := func(code int, wait string) {
		mu.Lock()
		defer mu.Unlock()
		status, after = code, wait
	}
	host := strings.TrimPrefix(s.URL, "http://")
	require.NoError(t, r.reach.Add(site.KeyFetchPrivate, host))
	later := func() string {
		t.Helper()
		e, err := r.eval(`http.post_later ("` + s.URL + `/hook/secret?x=1", {json = {n = 1}, headers = {["X-Test"] = "yes"}})`)
		require.NoError(t, err)
		return e.Texts[0]
	}
	key := later()
	assert.Equal(t, s.URL, r.rows(outbox.Waiting)[0].To, "without the path")
	r.once()
	_, state := r.row(key)
	assert.Equal(t, outbox.Sent, state, r.log.String())
	assert.Equal(t, []string{"POST /hook/secret?x=1 " + key + ` yes application/json {"n":1}`}, seen)
	assert.NotContains(t, r.log.String(), "secret")

	// What may be better later is tried again, with the same key, and when the host wants it.
	set(503, "100")
	key = later()
	r.once()
	row, state := r.row(key)
	assert.Equal(t, outbox.Waiting, state)
	assert.Equal(t, "status 503: said so", row.Error)
	assert.InDelta(t, 100, row.Due().Sub(r.now()).Seconds(), 1)
	set(429, r.now().Add(time.Hour).UTC().Format(http.TimeFormat))
	r.pass(100 * time.Second)
	r.once()
	row, _ = r.row(key)
	assert.InDelta(t, 3500, row.Due().Sub(r.now()).Seconds(), 2)
	set(204, "")
	r.pass(time.Hour)
	r.once()
	_, state = r.row(key)
	assert.Equal(t, outbox.Sent, state)
	for _, line := range seen[1:] {
		assert.Contains(t, line, key)
	}

	// What is refused is given up.
	set(404, "")
	key = later()
	r.once()
	_, state = r.row(key)
	assert.Equal(t, outbox.Dead, state)

	// The host is not listed any more.
	set(200, "")
	key = later()
	r.reach.FetchPrivate = nil
	n := len(seen)
	r.once()
	row, state = r.row(key)
	assert.Equal(t, outbox.Dead, state)
	assert.Contains(t, row.Error, "fetch")
	assert.Len(t, seen, n)

	for source, why := range map[string]string{
		`http.post_later ("` + s.URL + `")`:                  "fetch",
		`http.post_later ("file:///etc/passwd")`:             "http",
		`http.post_later ()`:                                 "string expected",
		`http.post_later ("http://a.example", {bodi = "x"})`: "no option bodi",
	} {
		_, err := r.eval(source)
		assert.ErrorContains(t, err, why, source)
	}
	require.NoError(t, r.reach.Add(site.KeyFetchPrivate, host))
	for options, why := range map[string]string{
		`{headers = {["X-A"] = "a\r\nB: c"}}`: "headers", `{headers = {Host = "x"}}`: "headers", `{method = "TRACE"}`: "TRACE",
	} {
		_, err := r.eval(`http.post_later ("` + s.URL + `", ` + options + `)`)
		assert.ErrorContains(t, err, why, options)
	}
}
