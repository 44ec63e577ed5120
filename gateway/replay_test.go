package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
)

func (s *testSite) replay(k *requestlog.Request, o ReplayOptions) (string, Outcome, *requestlog.Answer) {
	s.t.Helper()
	var b strings.Builder
	out, now := s.g.Replay(context.Background(), k, &b, o)
	return b.String(), out, now
}

// TestReplay checks that a recorded request gives the same answer from the same scripts at any
// time, and changes nothing.
//
// Specification: 2.2.6, 2.3.8
func TestReplay(t *testing.T) {
	s := debugging(t)
	then := time.Now() // of the whole run: a replay has the time at which it began
	s.g.now = func() time.Time { return then }
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `local p = ...
		scratchpad.n = scratchpad.n + 1
		return table.concat ({p.method, p.postArgs, os.time (), math.random (1e9), math.random (1e9), p.connectionID, p.userAgent, p.serverPort}, "|")`)
	_, out := s.answer(s.postForm("/x.fcgi?a=b", "c=d+e", map[string]string{"HTTP_USER_AGENT": "tester"}))
	require.Equal(t, 200, out.Status)
	k := s.lastRecorded()
	s.put("scratchpad.n", objectdb.Number(0))
	s.g.now = func() time.Time { return time.Now().Add(1000 * time.Hour) }
	for range 2 {
		text, out, now := s.replay(s.lastRecorded(), ReplayOptions{})
		assert.Equal(t, 200, out.Status)
		assert.Equal(t, k.Answer, now)
		assert.True(t, strings.HasSuffix(text, k.Answer.Body), text)
		assert.Equal(t, objectdb.Number(0), s.get("scratchpad.n"))
	}
	assert.Len(t, s.recorded(), 1, "a replay is not recorded")

	_, _, _ = s.replay(s.lastRecorded(), ReplayOptions{Commit: true})
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))
	s.script("x", `return "today's"`)
	text, _, _ := s.replay(s.lastRecorded(), ReplayOptions{})
	assert.True(t, strings.HasSuffix(text, "today's"))
}

// TestReplayOfFailures checks that a replay shows the recorded page with its incident, and the
// error to a developer.
func TestReplayOfFailures(t *testing.T) {
	s := debugging(t)
	s.script("x", `scratchpad.left = 1; error ("boom")`)
	s.ask("/x.fcgi", nil)
	k := s.lastRecorded()
	_, out, now := s.replay(s.lastRecorded(), ReplayOptions{})
	assert.Equal(t, k.Incident, out.Incident)
	assert.Equal(t, k.Answer, now)
	text, _, _ := s.replay(s.lastRecorded(), ReplayOptions{Developer: true})
	assert.Contains(t, text, "suites.webserverScripts.x:1: boom")
	assert.NotContains(t, s.scratchpad(), "scratchpad.left=")
}

// TestReplayOfPieces checks that sendPartial does not commit in a replay.
func TestReplayOfPieces(t *testing.T) {
	s := debugging(t)
	s.script("x", `scratchpad.left = "pieces"; webserver.sendPartial ("one, "); scratchpad.left = "more"; return "two"`)
	s.ask("/x.fcgi", nil)
	s.put("scratchpad.left", objectdb.String("before"))
	k := s.lastRecorded()
	text, out, now := s.replay(s.lastRecorded(), ReplayOptions{})
	require.NoError(t, out.Err)
	assert.True(t, strings.HasSuffix(text, "one, two"), text)
	assert.Equal(t, k.Answer, now)
	assert.Equal(t, objectdb.String("before"), s.get("scratchpad.left"))
}

// TestReplayOfPages checks that the markers of a page see the recorded time.
func TestReplayOfPages(t *testing.T) {
	s := debugging(t)
	then := time.Now()
	s.g.now = func() time.Time { return then }
	s.page("p.mcro", `<!--#clock.now ()--> <!--#counter(p)-->`)
	first := s.ask("/p.mcro", nil).Body
	text, _, _ := s.replay(s.lastRecorded(), ReplayOptions{DocumentRoot: s.folder})
	when := strings.Fields(first)[0]
	assert.Contains(t, text, when)
	assert.NotContains(t, s.scratchpad(), "Macro error")
	assert.True(t, strings.HasSuffix(s.ask("/p.mcro", nil).Body, "2"), "the replay was not counted")
}

// TestReplayMasked checks that a replay has "(masked)" for each secret, unless the secret is given,
// and that secrets are masked in the answer that is compared.
func TestReplayMasked(t *testing.T) {
	s := debugging(t)
	s.script("x",
		`local p = ... return p.argTable.password .. " " .. p.searchTable.token .. " " .. p.cookies.sid .. " " .. p.username .. p.password`)
	_, out := s.answer(s.postForm("/x.fcgi?token=hush+one", "password=hush+two&a=1",
		map[string]string{"HTTP_COOKIE": "sid=hush-three", "HTTP_AUTHORIZATION": "Basic YWRhOmh1c2hmb3Vy"}))
	require.Equal(t, 200, out.Status)
	then := s.lastRecorded()
	text, _, now := s.replay(s.lastRecorded(), ReplayOptions{})
	assert.True(t, strings.HasSuffix(text, "(masked) (masked) (masked) "), text)
	assert.Equal(t, "(masked) (masked) (masked) ada(masked)", then.Answer.Body)
	assert.Equal(t, "(masked) (masked) (masked) ", now.Body)

	k := s.lastRecorded()
	require.NoError(t, k.SetField("password", "hush two"))
	require.NoError(t, k.SetField("token", "hush one"))
	assert.Error(t, k.SetField("nothing", "x"))
	k.SetVariable("HTTP_COOKIE", "sid=hush-three")
	k.SetVariable("HTTP_AUTHORIZATION", "Basic YWRhOmh1c2hmb3Vy")
	assert.Empty(t, k.Masked)
	assert.Equal(t, "/x.fcgi?token=hush+one", k.Variables["REQUEST_URI"])
	text, _, now = s.replay(k, ReplayOptions{})
	assert.True(t, strings.HasSuffix(text, "hush two hush one hush-three adahushfour"), text)
	assert.Equal(t, then.Answer.Body, now.Body)
}

func TestReplayMultipart(t *testing.T) {
	s := debugging(t)
	s.script("x", `local p = ... return p.argTable.a .. p.argTable.password .. p.files.f.data`)
	body := "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nA\r\n" +
		"--B\r\nContent-Disposition: form-data; name=password\r\n\r\nhush\r\n" +
		"--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\nF\x00\xff\r\n--B--\r\n"
	require.Equal(t, 200, s.post("/x.fcgi", "multipart/form-data; boundary=B", body).Status)
	k := s.lastRecorded()
	assert.Equal(t, []string{"field password"}, k.Masked)
	assert.NotContains(t, s.recordedText(), "hush")
	require.NoError(t, k.SetField("password", "P"))
	text, _, _ := s.replay(k, ReplayOptions{})
	assert.True(t, strings.HasSuffix(text, "APF\x00\xff"), text)
}

// TestIncomplete checks that a body that was not recorded has to be given.
func TestIncomplete(t *testing.T) {
	s := debugging(t)
	s.script("x", `return postArgs`)
	require.Equal(t, 200, s.post("/x.fcgi", "application/json", `{"token": 1}`).Status)
	k := s.lastRecorded()
	require.Error(t, k.Incomplete())
	k.SetBody(`{"other": 2}`)
	require.NoError(t, k.Incomplete())
	text, _, _ := s.replay(k, ReplayOptions{})
	assert.True(t, strings.HasSuffix(text, `{"other": 2}`), text)
	assert.Equal(t, "12", k.Variables["CONTENT_LENGTH"])
}

// TestReplayFlushesNothing checks that a replay that commits nothing does not flush caches.
func TestReplayFlushesNothing(t *testing.T) {
	purged := 0
	cache := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { purged++ }))
	defer cache.Close()
	s := debugging(t)
	s.list("cache", cache.URL)
	s.put("user.webserver.cacheServers", objectdb.List{objectdb.String(cache.URL)})
	s.script("x", `webserver.flushCache ("/x.fcgi") return "x"`)
	require.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
	require.Equal(t, 1, purged)
	_, out, _ := s.replay(s.lastRecorded(), ReplayOptions{})
	require.Equal(t, 200, out.Status)
	assert.Equal(t, 1, purged)
	_, _, _ = s.replay(s.lastRecorded(), ReplayOptions{Commit: true})
	assert.Equal(t, 2, purged)
}

func TestRecordedIsFound(t *testing.T) {
	s := debugging(t)
	find := func(n int) (k *requestlog.Request, err error) {
		err = s.db.View(context.Background(), func(tx *objectdb.Tx) error {
			k, err = requestlog.Find(tx, n)
			return err
		})
		return k, err
	}
	_, err := find(0)
	require.ErrorIs(t, err, requestlog.ErrNotFound)
	s.script("x", `return "x"`)
	s.ask("/x.fcgi?1", nil)
	s.ask("/x.fcgi?2", nil)
	for n, want := range map[int]string{0: "GET /x.fcgi?2", 1: "GET /x.fcgi?1", 2: "GET /x.fcgi?2"} {
		k, err := find(n)
		require.NoError(t, err)
		assert.Equal(t, want, k.Line())
	}
	_, err = find(3)
	require.ErrorIs(t, err, requestlog.ErrNotFound)
	assert.ErrorContains(t, err, "1 to 2")
}

// TestDebugCGI checks that webserver.debugCGI () returns the response of the last recorded request
// before the one that calls it.
func TestDebugCGI(t *testing.T) {
	s := debugging(t)
	s.script("x", `scratchpad.left = 1 return "hello " .. searchTable.q`)
	s.script("again", `return webserver.debugCGI ()`)
	resp := s.ask("/again.fcgi", nil)
	assert.Equal(t, 500, resp.Status)
	assert.Contains(t, s.lastRecorded().Error, "no such request is recorded before this one")

	s.ask("/x.fcgi?q=there", nil)
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"scratchpad", "left"}) })
	resp = s.ask("/again.fcgi", nil)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "hello there", resp.Body)
	assert.NotContains(t, s.scratchpad(), "scratchpad.left=")

	// The last one is now a call of debugCGI itself, which is not run within a replay.
	resp = s.ask("/again.fcgi", nil)
	assert.Equal(t, 500, resp.Status)
	assert.Contains(t, resp.Body, "this request is run again itself")
}
