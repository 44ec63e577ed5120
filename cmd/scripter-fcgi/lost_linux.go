package main

import (
	"log/slog"
	"time"

	"scripter/gateway"
	"scripter/metrics"
	"scripter/workers"
)

// lost logs and counts a request that no worker answered, and returns the response.
func lost(log *slog.Logger, sum *tally, l workers.Loss) []byte {
	status, what, limit := 500, "worker died", ""
	switch l.Reason {
	case workers.TooLong:
		what, limit = "script killed: it overran its time limit where the language could not stop it", "maxTime"
	case workers.TooLarge:
		what, limit = "script killed: it overran its memory limit where the language could not stop it", "maxMemory"
	case workers.Hung:
		what = "worker killed: it did nothing any more"
	case workers.Refused:
		status, what, limit = 503, "too many requests are waiting", "maxWaiting"
	case workers.TooSlow:
		status, what = 408, "a request did not arrive in time"
	case workers.TooMuch:
		status, what, limit = 413, "the body of a request is too large", "maxBody"
	}
	answer, incident := gateway.LostAnswer(status)
	args := []any{"status", status, "ran", l.Ran.Round(time.Millisecond)}
	if incident != "" {
		args = append(args, "id", incident)
	}
	if l.Pid != 0 {
		args = append(args, "pid", l.Pid, "err", l.Err)
	}
	if limit != "" {
		args = append(args, "limit", limit)
	}
	log.Error(what, args...)
	counts := metrics.LostCounts(status, l.Ran, limit)
	if incident != "" {
		counts.Incidents = 1
	}
	sum.add(counts)
	return answer
}
