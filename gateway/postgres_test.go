package gateway

import (
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/pgstore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/script"
)

// newHosts returns the sites of hosts that answer from one root in PostgreSQL.
func newHosts(t *testing.T, server *postgrestest.Server, wait time.Duration, n int) []*testSite {
	t.Helper()
	name := server.URL("schema=hosts")
	db, err := pgstore.Create(name, patient)
	require.NoError(t, err)
	defer db.Close()
	update(t, db, func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	hosts := make([]*testSite, n)
	for i := range hosts {
		folder := t.TempDir()
		db, err := pgstore.Open(name+"&host_folder="+url.QueryEscape(folder),
			objectdb.Options{BusyTimeout: wait, LockTime: patience})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, db.Close()) })
		s := &testSite{t: t, db: db, folder: folder, log: &testlog.Buffer{}}
		s.g = New(Options{DB: db, Log: slog.New(slog.NewTextHandler(s.log, nil))})
		hosts[i] = s
	}
	return hosts
}

// After a visitor with a cookie has sent something to one host, the next request sees it on every host. A visitor
// without a cookie sees it 50 ms later.
func TestFreshAcrossHosts(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	defer server.Remove()
	hosts := newHosts(t, server, patience, 3)
	hosts[0].script("set", `local params = ...
scratchpad.v = params.argTable.v
return webserver.httpHeader ("302 FOUND", "/show.fcgi")`)
	hosts[0].script("show", `return tostring (scratchpad.v)`)
	hosts[0].script("put", `scratchpad.v = "put" return ""`)
	cookie := map[string]string{"HTTP_COOKIE": "session=1"}
	for k := range 60 {
		want := strconv.Itoa(k)
		resp := hosts[k%3].post("/set.fcgi", "application/x-www-form-urlencoded", "v="+want)
		require.Equal(t, 302, resp.Status, hosts[k%3].log.String())
		sent := time.Now()
		for _, who := range []map[string]string{
			cookie, {"HTTP_AUTHORIZATION": "Basic YTpi"}, {"REMOTE_USER": "ada"}, {"SSL_CLIENT_S_DN": "CN=ada"},
			{"REQUEST_METHOD": "POST"},
		} {
			require.Equal(t, want, hosts[(k+1)%3].ask("/show.fcgi", who).Body, "%v", who)
		}
		require.Equal(t, want, hosts[k%3].ask("/show.fcgi", nil).Body, "the host that has committed it")
		for {
			begun := time.Now()
			body := hosts[(k+2)%3].ask("/show.fcgi", nil).Body
			if body == want {
				break
			}
			require.Less(t, begun.Sub(sent), objectdb.MaxAge, "it is too old")
		}
	}
}

// While the server is away, each request is answered 503, and the log says why. When it is back, so is the site.
func TestServerStopped(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	defer server.Remove()
	s := newHosts(t, server, 200*time.Millisecond, 1)[0]
	s.script("read", `return "read"`)
	s.script("write", `scratchpad.n = (scratchpad.n or 0) + 1 return "written"`)
	s.script("late", `local ok = pcall (function () for i = 1, 3000 do local _ = scratchpad["name" .. i] end end)
scratchpad.n = "late"
return "caught " .. tostring (ok)`)
	s.page("late.mcro", `<p><!--#suites.webserverScripts.late--></p>`)
	require.Equal(t, "read", s.ask("/read.fcgi", nil).Body)
	require.Equal(t, "written", s.ask("/write.fcgi", nil).Body)
	server.Stop()
	time.Sleep(objectdb.MaxAge)
	for _, path := range []string{"/read.fcgi", "/write.fcgi", "/late.fcgi", "/late.mcro"} {
		for _, more := range []map[string]string{nil, {"HTTP_COOKIE": "a=b"}, {"REQUEST_METHOD": "POST"}} {
			begun := time.Now()
			resp, out := s.answer(s.request(path, more))
			assert.Equal(t, 503, resp.Status, path)
			assert.Equal(t, "1", resp.Get("Retry-After"))
			assert.Contains(t, resp.Body, "The site cannot answer at the moment.")
			assert.NotEmpty(t, out.Incident)
			assert.Contains(t, resp.Body, out.Incident)
			assert.NotContains(t, resp.Body, "server of the root")
			assert.NotContains(t, resp.Body, "scripter-postgres")
			assert.Regexp(t, out.Incident+`.*the server of the root cannot be reached`, s.log.String())
			assert.Less(t, time.Since(begun), patience)
		}
	}
	require.NoError(t, server.Start())
	require.Equal(t, "read", s.ask("/read.fcgi", map[string]string{"HTTP_COOKIE": "a=b"}).Body)
	require.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))
}

// If the server crashes in the middle of a request and comes back, the request is run again. If it does not, Lua cannot
// go on with what it could not read: the answer is 503, and nothing is committed.
func TestServerCrashesInARequest(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	defer server.Remove()
	s := newHosts(t, server, patience, 1)[0]
	s.put("scratchpad.v", objectdb.Number(7))
	s.script("x", `test.during ()
local ok, v = pcall (function () return scratchpad.v end)
scratchpad.result = ok and v or "caught"
return tostring (scratchpad.result)`)
	runs := 0
	during := func() {}
	gatewayOn := func(db *objectdb.DB) {
		s.g = newGateway(Options{DB: db, Log: slog.New(slog.NewTextHandler(s.log, nil))}, script.Verb{
			Name: "test.during", Doc: "Does what the test wants.", Func: func(*script.Call) error {
				runs++
				during()
				return nil
			},
		})
	}
	gatewayOn(s.db)
	during = func() {
		if runs == 1 {
			server.Crash()
			assert.NoError(t, server.Start())
		}
	}
	assert.Equal(t, "7", s.ask("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST"}).Body)
	assert.Equal(t, 2, runs)
	assert.Equal(t, objectdb.Number(7), s.get("scratchpad.result"))

	s.put("scratchpad.result", objectdb.Number(0))
	quick, err := pgstore.Open(s.db.Path(), objectdb.Options{BusyTimeout: 200 * time.Millisecond})
	require.NoError(t, err)
	defer quick.Close()
	gatewayOn(quick) // nothing is cached
	during = server.Crash
	resp, out := s.answer(s.request("/x.fcgi", nil))
	assert.Equal(t, 503, resp.Status, resp.Body)
	assert.Regexp(t, out.Incident+`.*the server of the root cannot be reached`, s.log.String())
	require.NoError(t, server.Start())
	assert.Equal(t, objectdb.Number(0), s.get("scratchpad.result"))
}

// A visitor who has sent something is told if it is unknown whether it was committed.
func TestUnknownOutcome(t *testing.T) {
	s := newSite(t)
	s.g = newGateway(Options{DB: s.db, Log: slog.New(slog.NewTextHandler(s.log, nil))}, script.Verb{
		Name: "test.commit", Doc: "Fails as a commit does.", Func: func(*script.Call) error {
			return fmt.Errorf("%w: the connection was lost while change 7 was committed", objectdb.ErrUnknown)
		},
	})
	s.script("x", `pcall (test.commit) return "done"`)
	resp, out := s.answer(s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST"}))
	assert.Equal(t, 503, resp.Status)
	assert.Equal(t, "1", resp.Get("Retry-After"))
	assert.Contains(t, resp.Body, "It is not known whether this was done.")
	assert.Contains(t, resp.Body, out.Incident)
	assert.Regexp(t, out.Incident+`.*it is not known whether the change was committed`, s.log.String())
}

// TestSessionAcrossHosts checks that a session of one host counts on the others at once, and that requests of one
// session on several hosts lose no write.
func TestSessionAcrossHosts(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	defer server.Remove()
	hosts := newHosts(t, server, patience, 2)
	hosts[0].script("count", `session.n = (session.n or 0) + 1 return session.n .. ""`)
	hosts[0].script("out", `users.logOut () return "out"`)
	hosts[0].script("in", `return users.logIn ("ada", "open sesame")`)
	hosts[0].script("who", `return tostring (users.current ())`)
	hosts[0].script("add", `httpd.addUser ("Ada", "open sesame") return "done"`)
	require.Equal(t, "done", hosts[0].ask("/add.fcgi", nil).Body)
	b := hosts[0].browser()
	require.Equal(t, "1", b.get("/count.fcgi"))
	b.s = hosts[1]
	require.Equal(t, "2", b.get("/count.fcgi"))
	tabs := []*browser{b.copy(), b.copy()}
	tabs[0].s = hosts[0]
	var all sync.WaitGroup
	for _, tab := range tabs {
		all.Go(func() {
			for range 10 {
				for tab.send("/count.fcgi", nil, nil).Status != 200 {
				}
			}
		})
	}
	all.Wait()
	assert.Equal(t, "23", b.get("/count.fcgi"))
	assert.Equal(t, "Ada", b.get("/in.fcgi"))
	there := b.copy()
	there.s = hosts[0]
	assert.Equal(t, "Ada", there.get("/who.fcgi"))
	there.get("/out.fcgi")
	assert.Equal(t, "nil", b.get("/who.fcgi"))
}
