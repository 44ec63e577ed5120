package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"scripter/gateway"
	"scripter/metrics"
)

// report is the status at one moment.
type report struct {
	Program  string    `json:"program"`
	PID      int       `json:"pid"`
	Time     time.Time `json:"time"`
	Started  time.Time `json:"started"`
	Stopping bool      `json:"stopping"`
	Requests uint64    `json:"requests"`
	// Bounds are those of the classes of durations, in seconds.
	Bounds []float64 `json:"durationBounds"`
	metrics.Counts
	poolFacts
}

func (s *status) report() report {
	counts, facts := s.facts()
	r := report{
		Program: gateway.Program(), PID: os.Getpid(), Time: time.Now().UTC(),
		Started: s.started.UTC(), Stopping: s.stopping.Load(),
		Bounds: metrics.DurationBounds[:], Counts: counts, poolFacts: facts,
	}
	r.Requests = r.Counts.Requests()
	if r.Workers == nil {
		r.Workers = []workerFacts{}
	}
	return r
}

func (r report) writeJSON(w io.Writer) {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(r)
}

// writeText writes lines "name: value", for people and for grep.
func (r report) writeText(w io.Writer) {
	line := func(name string, value any) { fmt.Fprintf(w, "%s: %v\n", name, value) }
	line("program", r.Program)
	line("pid", r.PID)
	line("started", r.Started.Format(time.RFC3339))
	line("uptime", r.Time.Sub(r.Started).Round(time.Second))
	line("stopping", r.Stopping)
	line("requests", r.Requests)
	line("running", r.Running)
	line("waiting", r.Waiting)
	for _, name := range sorted(r.Actions) {
		a := r.Actions[name]
		for _, status := range sorted(a.Statuses) {
			line(fmt.Sprintf("requests %s %s", name, statusText(status)), a.Statuses[status])
		}
		line("milliseconds "+name, fmt.Sprintf("mean %.1f, half within %s, 99%% within %s",
			1000*a.Seconds/float64(max(a.Requests(), 1)), within(a, 0.5), within(a, 0.99)))
	}
	for _, name := range sorted(r.Limits) {
		line("limit "+name, r.Limits[name])
	}
	line("incidents", r.Incidents)
	line("run again", r.Again)
	line("waited", r.Waited)
	line("slow", r.Slow)
	line("bytes", r.Bytes)
	for _, name := range sorted(r.Caches) {
		c := r.Caches[name]
		line("cache "+name, fmt.Sprintf("%d hits, %d misses", c.Hits, c.Misses))
	}
	line("saved copies", fmt.Sprintf("%d, failed %d", r.Saves, r.Unsaved))
	a := r.Agent
	line("outbox", fmt.Sprintf("%d waiting, %d dead, %d delivered, %d to be tried again",
		a.Waiting, a.Dead, a.Delivered, a.Retried))
	line("schedule", fmt.Sprintf("%d runs, %d failed, %d missed", a.Runs, a.FailedRuns, a.Missed))
	line("workers", len(r.Workers))
	for _, p := range r.Workers {
		text := fmt.Sprintf("%s, %d requests, since %s", p.State, p.Requests, p.Started.UTC().Format(time.RFC3339))
		if !p.Since.IsZero() {
			text += fmt.Sprintf(", running for %v", r.Time.Sub(p.Since).Round(time.Millisecond))
		}
		line(fmt.Sprintf("worker %d", p.PID), text)
	}
	line("restarts", r.Restarts)
	for _, reason := range sorted(r.Kills) {
		line("killed, "+reason, r.Kills[reason])
	}
}

func sorted[K int | string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// statusText returns a status as text: "none" if there was no response because the client was
// gone.
func statusText(status int) string {
	if status == 0 {
		return "none"
	}
	return fmt.Sprint(status)
}

// within returns the bound, in milliseconds, within which a share of the requests ended.
func within(a metrics.ActionCounts, share float64) string {
	var n uint64
	for i, of := range a.Classes {
		n += of
		if float64(n) >= share*float64(a.Requests()) && i < len(metrics.DurationBounds) {
			return fmt.Sprintf("%g", 1000*metrics.DurationBounds[i])
		}
	}
	return fmt.Sprintf("more than %g", 1000*metrics.DurationBounds[len(metrics.DurationBounds)-1])
}
