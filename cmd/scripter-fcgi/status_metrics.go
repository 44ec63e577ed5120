package main

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"scripter/gateway"
)

// serveMetrics answers in the form of OpenMetrics, or in the older one of
// Prometheus for clients that know no other.
func (r report) serveMetrics(w http.ResponseWriter, hr *http.Request) {
	hr = hr.Clone(hr.Context())
	if !strings.Contains(hr.Header.Get("Accept"), "version=0.0.4") || hr.URL.Query().Get("format") != "" {
		hr.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r)
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, hr)
}

func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("scripter_"+name, help, labels, nil)
}

// The metrics: https://prometheus.io/docs/practices/naming/.
var (
	metricInfo     = metric("build_info", "The program's version, always 1.", "version")
	metricStart    = metric("start_time_seconds", "When the program was started, in seconds since 1970.")
	metricRequests = metric("requests_total",
		"Requests answered, by action and status; status none: the client had gone.", "action", "status")
	metricDurations = metric("request_duration_seconds", "Durations of requests, by action.", "action")
	metricLimits    = metric("limits_hit_total", "Requests that a limit has ended, by the name of its setting.", "limit")
	metricIncidents = metric("incidents_total", "Failures with an incident number in the log.")
	metricAgain     = metric("run_again_total", "Requests that lost a race and were run again.")
	metricWaited    = metric("waited_total", "Requests that had to wait for their turn.")
	metricSlow      = metric("slow_requests_total", "Requests in the slow log.")
	metricBytes     = metric("response_bytes_total", "Bytes of responses, heads included.")
	metricCaches    = metric("cache_lookups_total", "Lookups in caches, by cache and result.", "cache", "result")
	metricSaves     = metric("saved_copies_total",
		"Saved copies that the auto-save agent has made, or could not make.", "result")
	metricRunning  = metric("running_requests", "Requests under way.")
	metricWaiting  = metric("waiting_requests", "Requests that wait for their turn.")
	metricWorkers  = metric("workers", "Workers, by state.", "state")
	metricRestarts = metric("worker_restarts_total", "Workers started in the place of others.")
	metricOutbox   = metric("outbox_rows", "Rows of the outbox, by state: waiting or dead.", "state")
	metricDelivery = metric("outbox_deliveries_total",
		"Deliveries of the outbox, by result: delivered, retried, or buried as a dead letter.", "result")
	metricScheduled = metric("scheduled_runs_total", "Runs of the schedule, by result: ok, failed or missed.", "result")
	metricKills     = metric("worker_kills_total", "Workers that were ended, by reason.", "reason")
)

// Describe is part of [prometheus.Collector].
func (r report) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		metricInfo, metricStart, metricRequests, metricDurations, metricLimits, metricIncidents, metricAgain,
		metricWaited, metricSlow, metricBytes, metricCaches, metricSaves, metricRunning, metricWaiting, metricWorkers,
		metricRestarts, metricKills, metricOutbox, metricDelivery, metricScheduled,
	} {
		to <- d
	}
}

// Collect is part of [prometheus.Collector].
func (r report) Collect(to chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(metricInfo, 1, gateway.Version)
	gauge(metricStart, float64(r.Started.UnixMilli())/1000)
	for action, a := range r.Actions {
		for status, n := range a.Statuses {
			count(metricRequests, n, action, statusText(status))
		}
		below, sums := uint64(0), make(map[float64]uint64, len(r.Bounds))
		for i, bound := range r.Bounds {
			if i < len(a.Classes) {
				below += a.Classes[i]
			}
			sums[bound] = below
		}
		all := below
		for _, n := range a.Classes[min(len(r.Bounds), len(a.Classes)):] {
			all += n
		}
		to <- prometheus.MustNewConstHistogram(metricDurations, all, a.Seconds, sums, action)
	}
	for limit, n := range r.Limits {
		count(metricLimits, n, limit)
	}
	count(metricIncidents, r.Incidents)
	count(metricAgain, r.Again)
	count(metricWaited, r.Waited)
	count(metricSlow, r.Slow)
	count(metricBytes, r.Bytes)
	for name, c := range r.Caches {
		count(metricCaches, c.Hits, name, "hit")
		count(metricCaches, c.Misses, name, "miss")
	}
	count(metricSaves, r.Saves, "saved")
	count(metricSaves, r.Unsaved, "failed")
	gauge(metricRunning, float64(r.Running))
	gauge(metricWaiting, float64(r.Waiting))
	states := map[string]int{}
	for _, w := range r.Workers {
		states[w.State]++
	}
	for state, n := range states {
		gauge(metricWorkers, float64(n), state)
	}
	count(metricRestarts, r.Restarts)
	for reason, n := range r.Kills {
		count(metricKills, n, reason)
	}
	gauge(metricOutbox, float64(r.Agent.Waiting), "waiting")
	gauge(metricOutbox, float64(r.Agent.Dead), "dead")
	count(metricDelivery, r.Agent.Delivered, "delivered")
	count(metricDelivery, r.Agent.Retried, "retried")
	count(metricDelivery, r.Agent.Buried, "buried")
	count(metricScheduled, r.Agent.Runs-r.Agent.FailedRuns, "ok")
	count(metricScheduled, r.Agent.FailedRuns, "failed")
	count(metricScheduled, r.Agent.Missed, "missed")
}
