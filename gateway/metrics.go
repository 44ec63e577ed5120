package gateway

import (
	"time"

	"scripter/metrics"
	"scripter/runner"
)

// Started returns when the gateway was made.
func (g *Gateway) Started() time.Time { return g.started }

// Requests returns how many requests are running and how many were answered.
func (g *Gateway) Requests() (running int64, answered uint64) {
	answered, _ = g.metrics.Requests()
	return g.metrics.Running.Load(), answered
}

// count counts a request that was answered or abandoned.
func (x *exchange) count(out Outcome, took time.Duration) {
	r := metrics.Request{
		Action: x.action(), Status: out.Status, Duration: took, Bytes: x.out.sent,
		Failed: out.Err != nil, Incident: out.Incident != "",
	}
	if out.Err != nil {
		r.Limit = runner.LimitOf(out.Err)
	}
	x.g.metrics.CountRequest(r)
}

// CountSave counts a copy that the auto-save agent has saved, or could not save.
func (g *Gateway) CountSave(err error) { g.metrics.CountSave(err) }

// TakeCounts returns what the gateway has done since the last call. One place of a process
// takes the counts and adds them up.
func (g *Gateway) TakeCounts() metrics.Counts { return g.metrics.Take(g.cacheCounts()) }

// cacheCounts returns the counts of the caches since the gateway was made.
func (g *Gateway) cacheCounts() map[string]metrics.CacheCount {
	m := map[string]metrics.CacheCount{}
	if g.db != nil {
		o := g.db.CacheStats()
		m["objects"] = metrics.CacheCount{Hits: o.Hits, Misses: o.Misses}
	}
	var s metrics.CacheCount
	s.Hits, s.Misses = g.runner.Engine().CacheStats()
	m["scripts"] = s
	m["pages"] = g.pages.counts()
	return m
}

func (pc *pageCache) counts() metrics.CacheCount {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	return metrics.CacheCount{Hits: pc.hits, Misses: pc.misses}
}
