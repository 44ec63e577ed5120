package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// schedule makes a row that runs workspace.NAME, whose source is given.
func (r *testRoot) schedule(name, cron, source string) {
	r.t.Helper()
	r.put("workspace."+name, objectdb.Script(source))
	r.put("user.scheduler."+name+".cron", objectdb.String(cron))
	r.put("user.scheduler."+name+".script", objectdb.String("workspace."+name))
}

func (r *testRoot) runs(name string) (runs Runs) {
	r.t.Helper()
	r.view(func(tx *objectdb.Tx) (err error) {
		runs, err = runsOf(tx, name)
		return err
	})
	return runs
}

// TestSchedule checks runs at their times, their arguments, results and errors.
func TestSchedule(t *testing.T) {
	r := newRoot(t)
	r.time = time.Date(2026, 11, 25, 12, 0, 30, 0, time.UTC)
	r.schedule("count", "* * * * *", `scratchpad.n = (scratchpad.n or 0) + 1; return "run " .. ... .. " " .. job.name`)
	r.put("user.scheduler.count.args", objectdb.List{objectdb.String("Ada")})
	r.once()
	assert.Empty(t, r.get("scratchpad.n"), "a new row waits for its time")
	assert.Equal(t, "12:01:00", time.UnixMilli(r.runs("count").Next).UTC().Format(time.TimeOnly))
	r.pass(30 * time.Second)
	r.once()
	r.once()
	assert.Equal(t, "1", r.get("scratchpad.n"))
	last := r.runs("count").Last
	require.Len(t, last, 1)
	assert.Equal(t, "run Ada count", last[0].Text)
	assert.Equal(t, RunOK, last[0].Result)
	assert.Zero(t, last[0].Missed)

	// No agent was there for ten minutes: one run, which says how many were missed.
	r.pass(10 * time.Minute)
	r.once()
	r.once()
	assert.Equal(t, "2", r.get("scratchpad.n"))
	last = r.runs("count").Last
	assert.Equal(t, 9, last[0].Missed)
	assert.Contains(t, r.log.String(), "schedule: late")

	// The same, not made up for.
	r.put("user.scheduler.count.missed", objectdb.String("skip"))
	r.pass(10 * time.Minute)
	r.once()
	assert.Equal(t, "2", r.get("scratchpad.n"))
	assert.Equal(t, RunMissed, r.runs("count").Last[0].Result)
	assert.Equal(t, 10, r.runs("count").Last[0].Missed)
	r.pass(time.Minute)
	r.once()
	assert.Equal(t, "3", r.get("scratchpad.n"))

	// Another time, and off.
	r.put("user.scheduler.count.cron", objectdb.String("0 * * * *"))
	r.pass(time.Minute)
	r.once()
	assert.Equal(t, "3", r.get("scratchpad.n"))
	r.put("user.scheduler.count.on", objectdb.Boolean(false))
	r.pass(5 * time.Hour)
	r.once()
	assert.Equal(t, "3", r.get("scratchpad.n"))

	// A script that fails leaves nothing, and is not tried again before its time.
	r.schedule("bad", "* * * * *", `scratchpad.n = 100; error ("no luck")`)
	r.once()
	r.pass(time.Minute)
	r.once()
	r.once()
	assert.Equal(t, "3", r.get("scratchpad.n"))
	last = r.runs("bad").Last
	require.Len(t, last, 1)
	assert.Equal(t, RunFailed, last[0].Result)
	assert.Contains(t, last[0].Error, "no luck")
	assert.Contains(t, r.log.String(), "id="+last[0].Incident)

	// Mistakes in rows do not stop the others.
	for name, cells := range map[string]map[string]objectdb.Value{
		"none":  {"cron": objectdb.String("* * * * *")},
		"wrong": {"cron": objectdb.Number(5), "script": objectdb.String("workspace.bad")},
		"zone":  {"cron": objectdb.String("@daily"), "script": objectdb.String("workspace.bad"), "zone": objectdb.String("X")},
		"args":  {"cron": objectdb.String("@daily"), "script": objectdb.String("workspace.bad"), "args": objectdb.Number(1)},
		"on":    {"cron": objectdb.String("@daily"), "script": objectdb.String("workspace.bad"), "on": objectdb.String("no")},
	} {
		for cell, v := range cells {
			r.put("user.scheduler."+name+"."+cell, v)
		}
	}
	r.put("user.scheduler.text", objectdb.String("x"))
	r.schedule("good", "* * * * *", `scratchpad.good = "yes"`)
	r.once()
	r.pass(time.Minute)
	r.once()
	assert.Equal(t, "yes", r.get("scratchpad.good"))
	mistakes := 0
	r.view(func(tx *objectdb.Tx) error {
		entries, err := ReadSchedule(tx)
		for _, e := range entries {
			if e.Err != nil {
				mistakes++
			}
		}
		return err
	})
	assert.Equal(t, 6, mistakes)
}

// TestScheduleBounds checks that the log of the runs is bounded, and that a run is not lost to a clock that was
// set back.
func TestScheduleBounds(t *testing.T) {
	r := newRoot(t)
	r.schedule("count", "* * * * *", `return ("x"):rep (5000)`)
	r.once()
	for range 30 {
		r.pass(time.Minute)
		r.once()
	}
	runs := r.runs("count")
	assert.Len(t, runs.Last, maxRuns)
	assert.Len(t, runs.Last[0].Text, maxRunText)
}

// TestKilledAgentOfSchedule checks that the run of a killed agent is not made again, is said, and that the next
// one comes.
func TestKilledAgentOfSchedule(t *testing.T) {
	r := newRoot(t)
	r.schedule("count", "* * * * *", `scratchpad.n = (scratchpad.n or 0) + 1`)
	r.once()
	r.pass(time.Minute)
	killed := r.agent()
	run, err := killed.claimRun(t.Context(), "count", 3*time.Minute, false)
	require.NoError(t, err)
	require.NotNil(t, run)
	r.once()
	assert.Empty(t, r.get("scratchpad.n"), "it is claimed")
	_, err = r.agent().RunNow(t.Context(), "count")
	require.ErrorContains(t, err, "it is running")
	r.pass(4 * time.Minute)
	r.once()
	assert.Equal(t, "1", r.get("scratchpad.n"))
	last := r.runs("count").Last
	require.Len(t, last, 2)
	assert.Equal(t, RunLost, last[1].Result)

	// What the killed agent has begun cannot be committed any more.
	result := RunJob(t.Context(), r.runner(), r.db, Job{By: killed.name, Name: "count", Began: run.Began}, nil)
	assert.True(t, result.Lost, result.Err)
	assert.Equal(t, "1", r.get("scratchpad.n"))
}
