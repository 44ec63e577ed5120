package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/metrics"
)

// daemon is the program, running in this process.
type daemon struct {
	t    *testing.T
	sock string
	log  *testlog.Buffer
	stop func()
	done chan int
}

// start starts the program on a socket of its own, with more options, and waits
// until it listens.
func start(t *testing.T, root string, args ...string) *daemon {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d := &daemon{t: t, sock: filepath.Join(t.TempDir(), "s.sock"), log: &testlog.Buffer{}, stop: stop,
		done: make(chan int, 1)}
	go func() {
		d.done <- run(ctx, append([]string{"--root", root, "--listen", "unix:" + d.sock}, args...), nil, io.Discard, d.log)
	}()
	t.Cleanup(func() { stop(); d.end() })
	require.Eventually(t, func() bool { return strings.Contains(d.log.String(), "listening") }, patience,
		5*time.Millisecond, d.log)
	return d
}

// end waits until the program has ended, and returns its exit status.
func (d *daemon) end() int {
	d.t.Helper()
	select {
	case code := <-d.done:
		d.done <- code
		return code
	case <-time.After(patience):
		require.Fail(d.t, "the program does not end", d.log)
		return -1
	}
}

// ask answers a request through the public socket.
func (d *daemon) ask(path string) string {
	d.t.Helper()
	c, err := fcgitest.Dial(context.Background(), "unix:"+d.sock)
	require.NoError(d.t, err)
	defer c.Close()
	var out bytes.Buffer
	_, err = c.Do(context.Background(), map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": path,
		"REQUEST_URI": path}, strings.NewReader(""), &out, io.Discard)
	require.NoError(d.t, err)
	return out.String()
}

// look asks the socket of the status.
func look(t *testing.T, sock, path, accept string) (int, string, http.Header) {
	t.Helper()
	c := &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", sock)
		},
	}}
	r, err := http.NewRequest("GET", "http://localhost"+path, nil)
	require.NoError(t, err)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b), resp.Header
}

// quiet reports whether all workers are idle.
func (r report) quiet() bool {
	return !slices.ContainsFunc(r.Workers, func(w workerFacts) bool { return w.State != "idle" })
}

// TestStatus checks that the socket of the status shows the counts in three formats, with one
// process and with many, and that the public socket shows nothing.
func TestStatus(t *testing.T) {
	for form, processes := range map[string]int{"0": 1, "16": 2} {
		t.Run("workers "+form, func(t *testing.T) { testStatus(t, form, processes) })
	}
}

func testStatus(t *testing.T, form string, processes int) {
	sock := filepath.Join(t.TempDir(), "status.sock")
	d := start(t, makeRoot(t), "--status", "unix:"+sock, "--mode", "600", "--workers", form)
	info, err := os.Stat(sock)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	d.ask("/samples.tellTime.fcgi")
	d.ask("/samples.tellTime.fcgi")
	d.ask("/samples.runtimeError.fcgi")
	for _, path := range []string{"/-/status", "/-/ping", "/-/status.fcgi", "/-/ping.fcgi"} {
		assert.Regexp(t, `^Status: 404 `, d.ask(path), path)
	}

	code, text, _ := look(t, sock, "/-/ping", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, "pong\n", text)

	// An answer is there a moment before its worker is idle again.
	var r report
	require.Eventually(t, func() bool {
		_, text, _ := look(t, sock, "/-/status", "application/json")
		r = report{}
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		return r.Requests == 7 && r.quiet()
	}, patience, 10*time.Millisecond, "%+v", &r)
	// A busy machine may have made the pool grow.
	require.GreaterOrEqual(t, len(r.Workers), processes)

	code, text, head := look(t, sock, "/-/status", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, "no-store", head.Get("Cache-Control"))
	for _, line := range []string{
		"program: scripter ", "requests: 7\n", "requests SCRIPTER 200: 2\n", "requests SCRIPTER 404: 2\n",
		"requests SCRIPTER 500: 1\n",
		"requests - 404: 2\n", "incidents: 1\n", "running: 0\n", "waiting: 0\n", "\nworkers: ", "cache scripts: ",
		"saved copies: 0, failed 0\n",
	} {
		assert.Contains(t, text, line)
	}

	_, text, head = look(t, sock, "/-/status", "application/json")
	assert.Equal(t, "application/json", head.Get("Content-Type"))
	require.NoError(t, json.Unmarshal([]byte(text), &r), text)
	assert.Equal(t, uint64(7), r.Requests)
	assert.Equal(t, uint64(2), r.Actions["SCRIPTER"].Statuses[200])
	assert.Equal(t, os.Getpid(), r.PID)
	_, same, _ := look(t, sock, "/-/status?format=json", "text/plain")
	require.NoError(t, json.Unmarshal([]byte(same), &r))
	assert.Equal(t, uint64(7), r.Requests, "asking changes nothing")

	const prometheus = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
	_, text, head = look(t, sock, "/-/status", prometheus)
	assert.Contains(t, head.Get("Content-Type"), "application/openmetrics-text")
	assert.True(t, strings.HasSuffix(text, "# EOF\n"), text)
	for _, line := range []string{
		`scripter_requests_total{action="SCRIPTER",status="200"} 2.0`,
		`scripter_request_duration_seconds_count{action="SCRIPTER"} 5`,
		`scripter_request_duration_seconds_bucket{action="SCRIPTER",le="+Inf"} 5`,
		`scripter_incidents_total 1.0`,
		`scripter_workers{state="idle"} `,
		"# TYPE scripter_requests counter",
	} {
		assert.Contains(t, text, line)
	}
	_, text, head = look(t, sock, "/-/status", "text/plain;version=0.0.4")
	assert.Contains(t, head.Get("Content-Type"), "version=0.0.4")
	assert.Contains(t, text, "# TYPE scripter_requests_total counter")

	d.stop()
	assert.Zero(t, d.end())
	assert.NoFileExists(t, sock)
}

// TestStatusRefuses checks which requests the status refuses.
func TestStatusRefuses(t *testing.T) {
	s := &status{pool: &fixedPool{}}
	for _, c := range []struct {
		method, url, host string
		code              int
	}{
		{"GET", "/-/ping", "localhost", 200},
		{"HEAD", "/-/ping", "127.0.0.1:9000", 200},
		{"GET", "/-/status", "[::1]:9000", 200},
		{"GET", "/-/status", "evil.example", 421},
		{"GET", "/-/ping", "evil.example:80", 421},
		{"POST", "/-/ping", "localhost", 405},
		{"DELETE", "/-/status", "localhost", 405},
		{"GET", "/", "localhost", 404},
		{"GET", "/-/status/x", "localhost", 404},
		{"GET", "/-/status?format=xml", "localhost", 400},
		{"GET", "/-/status?format=openmetrics", "localhost", 200},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(c.method, c.url, nil)
		r.Host = c.host
		s.ServeHTTP(w, r)
		assert.Equal(t, c.code, w.Code, "%s %s, Host %s", c.method, c.url, c.host)
	}
	s.stopping.Store(true)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/-/ping", nil)
	r.Host = ""
	s.ServeHTTP(w, r)
	assert.Equal(t, 503, w.Code)
	assert.Equal(t, "stopping\n", w.Body.String())
}

// TestStatusSocket checks that the status is never on an address that other machines can reach,
// even if web servers there are trusted.
func TestStatusSocket(t *testing.T) {
	t.Setenv("FCGI_WEB_SERVER_ADDRS", "192.0.2.1")
	for spec, want := range map[string]string{
		"0.0.0.0:0": "its own machine", ":0": "its own machine", "nonsense": "want unix:PATH or HOST:PORT",
		"unix:/nowhere/s": "/nowhere/s",
	} {
		_, err := listenStatus(spec, options{mode: 0o600})
		assert.ErrorContains(t, err, want, spec)
	}
	l, err := listenStatus("127.0.0.1:0", options{})
	require.NoError(t, err)
	l.Close()
}

// fixedPool is a pool with facts and counts that a test names.
type fixedPool struct {
	poolFacts
	sum tally
}

func (f *fixedPool) facts() poolFacts       { return f.poolFacts }
func (f *fixedPool) counts() metrics.Counts { return f.sum.counts() }

// TestStatusOfWorkers checks that the status adds up the counts of all workers, including those
// that have ended, and shows each worker.
func TestStatusOfWorkers(t *testing.T) {
	p := &fixedPool{}
	for range 3 {
		p.sum.add(metrics.Counts{
			Actions: map[string]metrics.ActionCounts{"SCRIPTER": {Statuses: map[int]uint64{200: 5, 0: 1}, Classes: []uint64{6},
				Seconds: 0.25}},
			Limits: map[string]uint64{"maxTime": 1}, Caches: map[string]metrics.CacheCount{"pages": {Hits: 2, Misses: 1}},
			Saves: 1,
		})
	}
	now := time.Now()
	p.poolFacts = poolFacts{
		Workers: []workerFacts{
			{PID: 11, State: "running", Requests: 7, Started: now.Add(-time.Hour), Since: now.Add(-1500 * time.Millisecond)},
			{PID: 12, State: "idle", Started: now},
		},
		Running: 1, Waiting: 2, Restarts: 3, Kills: map[string]uint64{"time": 2, "memory": 1},
	}
	s := &status{started: now.Add(-time.Hour), pool: p}
	get := func(form string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/-/status?format="+form, nil)
		r.Host = "localhost"
		s.ServeHTTP(w, r)
		require.Equal(t, 200, w.Code)
		return w.Body.String()
	}
	text := get("text")
	for _, line := range []string{
		"requests SCRIPTER 200: 15\n", "requests SCRIPTER none: 3\n", "limit maxTime: 3\n",
		"cache pages: 6 hits, 3 misses\n", "saved copies: 3, failed 0\n",
		"milliseconds SCRIPTER: mean 41.7, half within 1, 99% within 1\n", "waiting: 2\n", "restarts: 3\n",
		"killed, memory: 1\n", "killed, time: 2\n",
		"worker 12: idle, 0 requests",
	} {
		assert.Contains(t, text, line)
	}
	assert.Regexp(t, `worker 11: running, 7 requests, since \S+, running for 1\.\d+s`, text)
	metrics := get("openmetrics")
	for _, line := range []string{
		`scripter_requests_total{action="SCRIPTER",status="none"} 3.0`, `scripter_limits_hit_total{limit="maxTime"} 3.0`,
		`scripter_cache_lookups_total{cache="pages",result="miss"} 3.0`, `scripter_worker_kills_total{reason="memory"} 1.0`,
		`scripter_worker_restarts_total 3.0`, `scripter_waiting_requests 2.0`, `scripter_workers{state="running"} 1.0`,
		`scripter_request_duration_seconds_sum{action="SCRIPTER"} 0.75`,
	} {
		assert.Contains(t, metrics, line)
	}
}

func TestFormOf(t *testing.T) {
	for accept, want := range map[string]string{
		"": "text", "*/*": "text", "text/html,application/xhtml+xml": "text", "application/json": "json",
		"text/plain": "text",
		"application/openmetrics-text; version=1.0.0": "openmetrics", "text/plain;version=0.0.4": "openmetrics",
		"image/png, application/json;q=0.5": "json",
	} {
		assert.Equal(t, want, formOf(accept), accept)
	}
}
