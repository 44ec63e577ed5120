package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// TestStatusOfALostRequest checks that a request whose worker is killed is answered, logged and
// counted once, and that the earlier requests of this worker are still counted.
func TestStatusOfALostRequest(t *testing.T) {
	file := makeRoot(t)
	db, err := sqlitestore.Open(file, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		if err := tx.Put(objectdb.Address{"user", "webserver", "maxTime"}, objectdb.Number(600)); err != nil {
			return err
		}
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "busy"},
			objectdb.Script(`while true do local t = {} for i = 1, 100 do t [i] = i end end`))
	}))
	require.NoError(t, db.Close())
	sock := filepath.Join(t.TempDir(), "status.sock")
	d := start(t, file, "--workers", "2", "--status", "unix:"+sock)
	status := func() (r report) {
		_, text, _ := look(t, sock, "/-/status?format=json", "")
		require.NoError(t, json.Unmarshal([]byte(text), &r), text)
		return r
	}
	for range 3 {
		assert.Contains(t, d.ask("/samples.tellTime.fcgi"), "Status: 200")
	}
	// A response arrives a moment before its worker is idle again. On a busy machine, a worker
	// may report its counts too late for the first status.
	require.Eventually(t, func() bool { r := status(); return r.Requests == 3 && r.quiet() }, patience,
		10*time.Millisecond, "the workers have reported")

	answer := make(chan string)
	go func() { answer <- d.ask("/busy.fcgi") }()
	pid := 0
	require.Eventually(t, func() bool {
		for _, w := range status().Workers {
			if w.State == "running" && !w.Since.IsZero() {
				pid = w.PID
			}
		}
		return pid != 0
	}, patience, 10*time.Millisecond)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	assert.Contains(t, <-answer, "Status: 500")
	var r report
	require.Eventually(t, func() bool { r = status(); return r.Actions["-"].Statuses[500] == 1 }, patience,
		10*time.Millisecond)
	assert.Equal(t, uint64(4), r.Requests)
	assert.Equal(t, uint64(3), r.Actions["SCRIPTER"].Statuses[200])
	assert.Equal(t, uint64(1), r.Incidents)
	var kills uint64
	for _, n := range r.Kills {
		kills += n
	}
	assert.Equal(t, uint64(1), kills, r.Kills)
	assert.Contains(t, d.ask("/samples.tellTime.fcgi"), "Status: 200")
}
