package gateway

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// hold takes the writer's lock, as a program does that writes for a long time. It returns a
// function that releases the lock. A program other than Scripter does not use the queue.
func (s *testSite) hold(queues bool) (release func()) {
	s.t.Helper()
	other, err := sqlitestore.Open(s.db.Path(), objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: -1})
	require.NoError(s.t, err)
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- other.UpdateLocked(context.Background(), func(*objectdb.Tx) error {
			close(held)
			<-let
			return nil
		})
	}()
	<-held
	if !queues {
		require.NoError(s.t, os.Remove(s.db.Path()+"-lock"))
	}
	return func() {
		s.t.Helper()
		close(let)
		require.NoError(s.t, <-done)
		require.NoError(s.t, other.Close())
	}
}

// gatewayThatWaits returns a gateway on the root of s that waits so long for the writer's lock.
func (s *testSite) gatewayThatWaits(wait time.Duration, now func() time.Time) *Gateway {
	s.t.Helper()
	db, err := sqlitestore.Open(s.db.Path(), objectdb.Options{Relaxed: true, BusyTimeout: wait, LockTime: patience})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { assert.NoError(s.t, db.Close()) })
	return New(Options{DB: db, Log: slog.New(slog.NewTextHandler(s.log, nil)), Now: now})
}

// TestLockedByAnother checks that, while another program holds the writer's lock, a request that
// only reads is answered, and one that writes gets 503: a visitor with an incident, a developer
// with the reason. Nothing is committed or sent.
//
// Catalogue: P8
func TestLockedByAnother(t *testing.T) {
	for name, queues := range map[string]bool{"scripter": true, "another program": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("user.webserver.debugToken", objectdb.String("token"))
			s.script("read", `return "read"`)
			writers := map[string]string{
				"commit":  `scratchpad.mark = 1 return "done"`,
				"partial": `scratchpad.mark = 1 webserver.sendPartial ("first") return "done"`,
				"caught":  `scratchpad.mark = 1 local ok = pcall (webserver.sendPartial, "first") return "done"`,
				"macro":   `return webserver.processMacros ("<!--#suites.webserverScripts.partial-->")`,
			}
			s.script("kept", `return scratchpad.mark or "nothing"`)
			for name, text := range writers {
				s.script(name, text)
			}
			s.g = s.gatewayThatWaits(20*time.Millisecond, nil)
			release := s.hold(queues)
			for name := range writers {
				for _, lately := range []bool{false, true} {
					path := "/" + name + ".fcgi"
					if lately { // then the request takes the lock from its start
						s.g.runner.Conflicted(path, time.Now().Add(time.Minute))
					}
					resp, out := s.answer(s.request(path, nil))
					assert.Equal(t, 503, resp.Status, path)
					assert.Equal(t, "1", resp.Get("Retry-After"), path)
					assert.NotEmpty(t, out.Incident)
					assert.Contains(t, resp.Body, out.Incident)
					assert.Contains(t, resp.Body, "The site is busy.")
					assert.NotContains(t, resp.Body, "locked")
					assert.NotContains(t, resp.Body, "first")
					assert.Regexp(t, out.Incident+`.*root is locked by another writer`, s.log.String())

					resp = s.ask(path, map[string]string{"HTTP_SCRIPTER_TOKEN": "token"})
					assert.Equal(t, 503, resp.Status, path)
					assert.Contains(t, resp.Body, "root is locked by another writer")
					assert.NotContains(t, resp.Body, "stopped")
				}
			}
			assert.Equal(t, "read", s.ask("/read.fcgi", nil).Body)
			release()
			assert.Equal(t, "nothing", s.ask("/kept.fcgi", nil).Body)
			require.Eventually(t, func() bool { return s.ask("/commit.fcgi", nil).Body == "done" }, patience, time.Millisecond)
		})
	}
}

// TestWaitingIsNotRunning checks that the time for which a request waits for the writer's lock
// does not count as time of its scripts.
func TestWaitingIsNotRunning(t *testing.T) {
	s := newSite(t)
	s.script("write", `scratchpad.mark = 1 for i = 1, 1000000 do end return "done"`)
	s.script("partial", `scratchpad.mark = 1 webserver.sendPartial ("first ") for i = 1, 100000 do end return "done"`)

	// The whole time limit passes, by this clock, while the lock is held.
	var later atomic.Int64
	var looks atomic.Int64
	s.g = s.gatewayThatWaits(patience, func() time.Time {
		looks.Add(1)
		return time.Now().Add(time.Duration(later.Load()))
	})
	s.g.runner.Conflicted("/write.fcgi", time.Now().Add(time.Minute))
	release := s.hold(true)
	body := make(chan string)
	go func() { body <- s.ask("/write.fcgi", nil).Body }()
	require.Eventually(t, func() bool { return looks.Load() >= 2 }, patience, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	later.Store(int64(time.Hour))
	release()
	assert.Equal(t, "done", <-body)

	later.Store(0)
	s.put("user.webserver.maxTime", objectdb.Number(4))
	release = s.hold(true)
	go func() { body <- s.ask("/partial.fcgi", nil).Body }()
	time.Sleep(5 * time.Second)
	release()
	assert.Equal(t, "first done", <-body)
}
