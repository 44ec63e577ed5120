package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectdb/sqlitestore"
	"scripter/outbox"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
)

// agentRoot makes this test program an agent of a root, or the process of a job.
const (
	agentRoot  = "SCHEDULER_TEST_ROOT"
	agentReach = "SCHEDULER_TEST_REACH"
	agentJob   = "SCHEDULER_TEST_JOB"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(agentRoot); name != "" {
		if err := beAgent(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beAgent delivers the outbox of a root until it is killed, with claims of a second.
func beAgent(name string) error {
	db, err := roots.Open(name, objectdb.Options{Relaxed: true})
	if err != nil {
		return err
	}
	defer db.Close()
	var reach site.Reach
	if err := reach.Add(site.KeyFetchPrivate, os.Getenv(agentReach)); err != nil {
		return err
	}
	cache := site.NewCache()
	run := runner.New(runner.Config{DB: db, Site: cache,
		Engine:  script.NewEngine(verbs.All(site.NewPasswords()), verbs.Properties()...),
		Outside: func(*runner.Run) (*script.Table, any, error) { return script.NewTable(), nil, nil }})
	if os.Getenv(agentJob) != "" {
		return ServeJob(context.Background(), os.Stdin, os.Stdout, run, db, nil)
	}
	a := New(Options{DB: db, Site: cache, Reach: func() site.Reach { return reach }, Run: InProcess(run, db, nil),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	a.lease, a.scriptLease = time.Second, time.Second
	a.Start()
	select {}
}

// startProcess starts this test program as an agent.
func startProcess(t *testing.T, root, reach string, log *testlog.Buffer) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), agentRoot+"="+root, agentReach+"="+reach)
	c.Stderr = log
	require.NoError(t, c.Start())
	return c
}

// TestKilledAgents kills agents at random while they deliver: nothing is lost, a post that arrives twice has
// the same key, and each script has run once.
func TestKilledAgents(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		file := t.TempDir() + "/test.root"
		db, err := sqlitestore.Create(file, objectdb.Options{Relaxed: true})
		require.NoError(t, err)
		defer db.Close()
		killAgents(t, rootOf(t, db), file, 1000)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := postgrestest.New(t, postgrestest.Fast...)
		defer server.Remove()
		name := server.URL("schema=agents")
		nothing := func(*objectdb.Tx) error { return nil }
		require.NoError(t, roots.Create(t.Context(), name, objectdb.Options{}, nothing))
		db, err := roots.Open(name, objectdb.Options{BusyTimeout: time.Minute})
		require.NoError(t, err)
		defer db.Close()
		killAgents(t, rootOf(t, db), name, 200)
	})
}

func killAgents(t *testing.T, r *testRoot, name string, n int) {
	var mu sync.Mutex
	arrived := map[string]map[string]int{} // key → body → times
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body := hr.URL.Query().Get("n")
		mu.Lock()
		defer mu.Unlock()
		key := hr.Header.Get("Idempotency-Key")
		if arrived[key] == nil {
			arrived[key] = map[string]int{}
		}
		arrived[key][body]++
		if rand.IntN(50) == 0 {
			w.WriteHeader(503)
			w.Header().Set("Retry-After", "1")
		}
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	require.NoError(t, r.reach.Add(site.KeyFetchPrivate, host))
	r.put("user.webserver.outboxTries", objectdb.Number(100))
	r.put("user.webserver.maxScheduledTime", objectdb.Number(2)) // with which the claims of scripts end
	r.put("workspace.count", objectdb.Script(`local i = ...; scratchpad ["n" .. i] = (scratchpad ["n" .. i] or 0) + 1`))
	for from := 1; from <= n; from += 100 {
		r.later(fmt.Sprintf(`for i = %d, %d do
			if i %% 2 == 0 then http.post_later (%q .. i) else after (0, workspace.count, i) end
		end`, from, from+99, s.URL+"/?n="))
	}
	var log testlog.Buffer
	agents := make([]*exec.Cmd, 2)
	for i := range agents {
		agents[i] = startProcess(t, name, host, &log)
	}
	kill := func(c *exec.Cmd) {
		c.Process.Kill()
		c.Wait()
	}
	defer func() {
		for _, c := range agents {
			kill(c)
		}
	}()
	kills, began := 0, time.Now()
	for {
		time.Sleep(time.Duration(300+rand.IntN(900)) * time.Millisecond)
		if len(r.rows(outbox.Waiting)) == 0 {
			break
		}
		require.Less(t, time.Since(began), 5*time.Minute, "%d rows wait: %s", len(r.rows(outbox.Waiting)), &log)
		if kills < 15 {
			kills++
			i := rand.IntN(len(agents))
			kill(agents[i])
			agents[i] = startProcess(t, name, host, &log)
		}
		r.flush() // what has failed need not wait
	}
	assert.Empty(t, r.rows(outbox.Dead))
	mu.Lock()
	defer mu.Unlock()
	posts, twice := map[string]bool{}, 0
	for key, bodies := range arrived {
		require.Len(t, bodies, 1, "one key for two posts: %s", key)
		for body, times := range bodies {
			assert.False(t, posts[body], "two keys for one post")
			posts[body] = true
			if times > 1 {
				twice++
			}
		}
	}
	assert.Len(t, posts, n/2, "posts are lost")
	for i := 1; i <= n; i += 2 {
		assert.Equal(t, "1", r.get(fmt.Sprintf("scratchpad.n%d", i)), "script %d", i)
	}
	t.Logf("%d agents were killed; %d posts arrived again; it took %v", kills, twice, time.Since(began))
}

// flush makes all rows due now.
func (r *testRoot) flush() {
	r.t.Helper()
	r.update(func(tx *objectdb.Tx) error {
		_, err := outbox.Flush(tx, time.Now().Add(time.Second))
		return err
	})
}

// TestJobsAreKilled checks processes that hang, die, take too much memory, or write what is no result.
func TestJobsAreKilled(t *testing.T) {
	run := func(limits Limits, shell string) Result {
		return Processes(func() *exec.Cmd { return exec.Command("/bin/sh", "-c", shell) })(t.Context(), Job{Key: "x"}, limits)
	}
	for shell, why := range map[string]string{
		"exit 3":                       "its process ended: exit status 3",
		"kill -9 $$":                   "its process ended: signal: killed",
		"echo nothing":                 "its process ended: invalid character",
		"echo fatal error >&2; exit 2": "its process ended: exit status 2: fatal error",
		"exec sleep 100":               "its process ended: it was killed: it took more than",
	} {
		limits := Limits{Time: time.Minute, Memory: 1 << 30}
		if strings.Contains(shell, "sleep") {
			limits.Time = 100*time.Millisecond - killAfter
		}
		result := run(limits, shell)
		assert.Contains(t, result.Err, why, shell)
	}
	result := run(Limits{Time: time.Minute, Memory: -memoryMargin + 1}, "exec sleep 100")
	assert.Contains(t, result.Err, "it had more than 0 MB of memory")

	r := newRoot(t)
	r.put("workspace.note", objectdb.Script(`scratchpad.n = ...; return "fine"`))
	r.later(`after (0, workspace.note, "Ada")`)
	key := r.rows(outbox.Waiting)[0].Key
	r.update(func(tx *objectdb.Tx) error {
		_, _, err := outbox.Claim(tx, key, "me", r.now(), time.Minute)
		return err
	})
	result = Processes(func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), agentRoot+"="+r.db.Path(), agentReach+"=localhost", agentJob+"=1")
		return c
	})(t.Context(), Job{By: "me", Key: key}, Limits{Time: time.Minute, Memory: 1 << 30})
	assert.Equal(t, Result{Text: "fine"}, result)
	assert.Equal(t, "Ada", r.get("scratchpad.n"))
	_, err := json.Marshal(result)
	require.NoError(t, err)
}
