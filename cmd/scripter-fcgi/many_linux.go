package main

import (
	"context"
	"encoding/json"
	"time"

	"scripter/gateway"
	"scripter/workers"
)

// many is the status of a pool.
type many struct {
	*workers.Pool
	sums *tally
}

// askEvery is how often workers are asked for their counts, which one that is
// killed takes with it.
const askEvery = 5 * time.Second

func (m *many) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	m.Ask(ctx)
}

func (m *many) counts() gateway.Counts {
	m.ask()
	return m.sums.counts()
}

// told adds what a worker has counted since it told before.
func (t *tally) told(text []byte) {
	var c gateway.Counts
	if json.Unmarshal(text, &c) == nil {
		t.add(c)
	}
}

func (m *many) Facts() poolFacts {
	ws, facts, _, waiting := m.Status()
	f := poolFacts{Waiting: waiting, Restarts: uint64(facts.Replaced), Kills: map[string]uint64{}}
	for _, reason := range []workers.Reason{workers.Crashed, workers.TooLong, workers.TooLarge, workers.Hung} {
		if n := facts.Lost[reason]; n > 0 {
			f.Kills[string(reason)] = uint64(n)
		}
	}
	for _, w := range ws {
		one := workerFacts{PID: w.Pid, State: w.State, Requests: uint64(w.Served), Started: w.Since}
		if w.Running > 0 {
			f.Running++
			one.Since = time.Now().Add(-w.Running)
		}
		f.Workers = append(f.Workers, one)
	}
	return f
}
