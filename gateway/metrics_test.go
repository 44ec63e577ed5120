package gateway

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/metrics"
	"scripter/objectdb"
)

// TestCounts checks that each request is counted once, under its action and status.
func TestCounts(t *testing.T) {
	s := newSite(t)
	s.script("ok", `return "fine"`)
	s.script("bad", `error "no"`)
	s.script("loop", `while true do end`)
	s.put("user.webserver.maxInstructions", objectdb.Number(0.1))
	s.page("page.mcro", "<p><!--#method--></p>")
	s.g.TakeCounts()

	var sent int64
	for path, n := range map[string]int{"/ok.fcgi": 3, "/bad.fcgi": 2, "/loop.fcgi": 1, "/page.mcro": 2,
		"/none.fcgi": 1, "/x.unknown": 1} {
		for range n {
			w := &counting{}
			s.g.Answer(context.Background(), s.request(path, map[string]string{"PATH_TRANSLATED": s.folder + path}), w)
			sent += w.n
		}
	}
	s.g.Answer(context.Background(), s.request("/ok.fcgi", map[string]string{"REQUEST_METHOD": "TRACE"}), io.Discard)
	gone, leave := context.WithCancel(context.Background())
	leave()
	s.g.Answer(gone, s.request("/ok.fcgi", nil), io.Discard)

	c := s.g.TakeCounts()
	assert.Equal(t, uint64(12), c.Requests())
	assert.Equal(t, map[int]uint64{200: 3, 500: 3, 404: 1}, c.Actions["SCRIPTER"].Statuses)
	assert.Equal(t, map[int]uint64{200: 2}, c.Actions["MACRO"].Statuses)
	assert.Equal(t, map[int]uint64{405: 1, 404: 1, 0: 1}, c.Actions["-"].Statuses)
	assert.Equal(t, map[string]uint64{"maxInstructions": 1}, c.Limits)
	assert.Equal(t, uint64(4), c.Incidents)
	assert.GreaterOrEqual(t, c.Bytes, uint64(sent))
	for name, a := range c.Actions {
		var n uint64
		for _, of := range a.Classes {
			n += of
		}
		assert.Equal(t, a.Requests(), n, name)
	}
	assert.Positive(t, c.Actions["SCRIPTER"].Seconds)
	assert.Positive(t, c.Caches["pages"].Hits)
	assert.Positive(t, c.Caches["pages"].Misses)
	assert.GreaterOrEqual(t, c.Caches["scripts"].Hits, uint64(2))
	assert.GreaterOrEqual(t, c.Caches["scripts"].Misses, uint64(3))
	assert.Positive(t, c.Caches["objects"].Hits)

	assert.Equal(t, metrics.Counts{}, s.g.TakeCounts(), "what was taken is not counted again")
}

type counting struct{ n int64 }

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// TestCountsTaken checks that counts that are taken while requests run contain every request once
// when they are added up, in any order.
func TestCountsTaken(t *testing.T) {
	s := newSite(t)
	s.script("ok", `return "fine"`)
	const clients, each = 8, 50
	var answered sync.WaitGroup
	for range clients {
		answered.Go(func() {
			for range each {
				s.g.Answer(context.Background(), s.request("/ok.fcgi", nil), io.Discard)
			}
		})
	}
	over := make(chan struct{})
	go func() { answered.Wait(); close(over) }()
	var sum metrics.Counts
	take := func() {
		b, err := json.Marshal(s.g.TakeCounts())
		require.NoError(t, err)
		var c metrics.Counts
		require.NoError(t, json.Unmarshal(b, &c))
		sum.Add(c)
	}
	for running := true; running; take() {
		select {
		case <-over:
			running = false
		case <-time.After(time.Millisecond):
		}
	}
	take()
	assert.Equal(t, map[int]uint64{200: clients * each}, sum.Actions["SCRIPTER"].Statuses)
	var classes uint64
	for _, n := range sum.Actions["SCRIPTER"].Classes {
		classes += n
	}
	assert.Equal(t, uint64(clients*each), classes)
}
