package gateway

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

func init() { patienceBefore, patienceAfter = patience, patience }

// debugging returns a site with Debugging on.
func debugging(t testing.TB) *testSite {
	s := newSite(t)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	return s
}

func (s *testSite) recorded() []*requestlog.Request {
	s.t.Helper()
	var list []*requestlog.Request
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		var err error
		list, err = requestlog.All(tx)
		return err
	}))
	return list
}

func (s *testSite) lastRecorded() *requestlog.Request {
	s.t.Helper()
	list := s.recorded()
	require.NotEmpty(s.t, list)
	return list[len(list)-1]
}

// scratchpad returns all that lies there as one text.
func (s *testSite) scratchpad() string {
	var all strings.Builder
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(objectdb.Address{"scratchpad"}, func(a objectdb.Address, n *objectdb.Node) error {
			if n.Kind() == objectdb.KindTable {
				return nil
			}
			v, err := tx.Value(n)
			fmt.Fprintf(&all, "%s=%v\n", a, v)
			return err
		})
	}))
	return all.String()
}

// postForm returns a request with a URL-encoded body.
func (s *testSite) postForm(path, body string, more map[string]string) *Request {
	r := s.request(path, more)
	r.Params["REQUEST_METHOD"], r.Params["CONTENT_LENGTH"] = "POST", strconv.Itoa(len(body))
	if r.Params["CONTENT_TYPE"] == "" {
		r.Params["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
	}
	r.Body = strings.NewReader(body)
	return r
}

// TestRecorded checks what is recorded of a request that worked, and of one that failed
// (specification, 2.2: Debugging).
//
// Specification: 2.2.6, 2.3.8
func TestRecorded(t *testing.T) {
	s := debugging(t)
	s.script("ok", `return {status = 201, headers = {["Set-Cookie"] = "sid=abcdef; Path=/"}, body = "made"}`)
	s.script("bad", `error ("boom")`)
	before := time.Now()
	require.Equal(t, 201, s.ask("/ok.fcgi?a=1", nil).Status)
	_, out := s.answer(s.postForm("/bad.fcgi", "a=1&password=hushhush", nil))
	list := s.recorded()
	require.Len(t, list, 2)

	k := list[0]
	assert.Equal(t, 1, k.Number)
	assert.Equal(t, "GET /ok.fcgi?a=1", k.Line())
	assert.WithinDuration(t, before, k.Time, patience)
	assert.Equal(t, "192.0.2.1", k.Variables["REMOTE_ADDR"])
	assert.Empty(t, k.Masked)
	require.NotNil(t, k.Answer)
	assert.Equal(t, 201, k.Answer.Status)
	assert.True(t, strings.HasPrefix(k.Answer.Head, "HTTP/1.0 201 Created\n"), k.Answer.Head)
	assert.Contains(t, k.Answer.Head, "Set-Cookie: sid=(masked); Path=/\n")
	assert.Equal(t, "made", k.Answer.Body)
	assert.Equal(t, int64(4), k.Answer.Size)
	assert.Positive(t, k.Duration)
	assert.Empty(t, k.Incident)

	k = list[1]
	assert.Equal(t, 2, k.Number)
	assert.Equal(t, 500, k.Answer.Status)
	assert.Equal(t, out.Incident, k.Incident)
	assert.NotEmpty(t, k.Incident)
	assert.Contains(t, k.Error, "suites.webserverScripts.bad:1: boom")
	assert.Equal(t, "a=1&password=(masked)", k.Body)
	assert.Equal(t, int64(21), k.BodySize)
	assert.Equal(t, []string{"field password"}, k.Masked)
}

// TestRecordedTransports checks that answers that are not held (a file, pieces) are recorded, too.
//
// Specification: 2.2.6
func TestRecordedTransports(t *testing.T) {
	s := debugging(t)
	s.page("plain.txt", "the file")
	s.script("plain", `return ""`)
	s.script("pieces", `webserver.sendPartial ("one, "); webserver.sendPartial ("two, "); return "three"`)
	s.script("written", `for i = 1, 100 do write (string.rep ("x", 100)) end`)
	for path, want := range map[string]string{"/plain.txt": "the file", "/pieces.fcgi": "one, two, three",
		"/written.fcgi": strings.Repeat("x", 10000)} {
		var b strings.Builder
		s.g.Answer(context.Background(), s.request(path, map[string]string{"SCRIPTER_ACTION": "SCRIPTER"}), &b)
		require.True(t, strings.HasSuffix(b.String(), want), b.String())
		k := s.lastRecorded()
		assert.Equal(t, "GET "+path, k.Line())
		require.NotNil(t, k.Answer, path)
		assert.Equal(t, want, k.Answer.Body)
	}
	s.script("head", `return "body"`)
	s.g.Answer(context.Background(), s.request("/head.fcgi", map[string]string{"REQUEST_METHOD": "HEAD"}), io.Discard)
	assert.Empty(t, s.lastRecorded().Answer.Body)
}

// TestLastRequestsAreRecorded checks that the last maxRequests requests are recorded, and that
// scratchpad.cgiparams has the last one.
//
// Specification: 2.2.6, 2.3.8
func TestLastRequestsAreRecorded(t *testing.T) {
	s := debugging(t)
	s.script("x", `return "x"`)
	numbers := func(max float64, ask int) []int {
		s.put("user.webserver.maxRequests", objectdb.Number(max))
		for range ask {
			s.ask("/x.fcgi", nil)
		}
		var list []int
		for _, k := range s.recorded() {
			require.NotNil(t, k.Answer)
			list = append(list, k.Number)
		}
		return list
	}
	assert.Equal(t, []int{3, 4, 5}, numbers(3, 5))
	assert.Equal(t, []int{6}, numbers(1, 1))
	assert.Equal(t, []int{6, 7, 8}, numbers(10, 2))
	assert.Empty(t, numbers(0, 1))
	assert.Equal(t, objectdb.String("/x.fcgi"), s.get("scratchpad.cgiparams.scriptName"))
	s.put("scratchpad.cgiparamsLog.mine", objectdb.String("stays"))
	assert.Equal(t, []int{1, 2}, numbers(2, 2))
	assert.Equal(t, objectdb.String("stays"), s.get("scratchpad.cgiparamsLog.mine"))
}

// TestRecordedConcurrently checks that requests at the same time are all recorded, each with its
// outcome, and that what they count is exact.
func TestRecordedConcurrently(t *testing.T) {
	s := debugging(t)
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `scratchpad.n = scratchpad.n + 1 return scratchpad.n`)
	const clients, each = 6, 5
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range each {
				s.g.Answer(context.Background(), s.request("/x.fcgi", nil), io.Discard)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, objectdb.Number(clients*each), s.get("scratchpad.n"))
	list := s.recorded()
	require.Len(t, list, clients*each, s.log)
	seen := map[string]bool{}
	for i, k := range list {
		assert.Equal(t, i+1, k.Number)
		require.NotNil(t, k.Answer)
		seen[k.Answer.Body] = true
	}
	assert.Len(t, seen, clients*each, "each answer is that of its own request")
}

// TestRecordedIsBounded checks that a visitor cannot fill the root while Debugging is on.
func TestRecordedIsBounded(t *testing.T) {
	s := debugging(t)
	s.script("long", `return string.rep ("long ", 20000)`)
	more := map[string]string{}
	for i := range 50 {
		more[fmt.Sprintf("HTTP_X_%d", i)] = strings.Repeat("v", 8000)
	}
	body := "a=" + strings.Repeat("y", 200_000)
	_, out := s.answer(s.postForm("/long.fcgi", body, more))
	require.Equal(t, 200, out.Status)
	k := s.lastRecorded()
	assert.Len(t, k.Body, 64<<10)
	assert.Equal(t, int64(len(body)), k.BodySize)
	assert.Contains(t, k.Cut, "body")
	assert.Contains(t, k.Cut, "HTTP_X_9")
	assert.Equal(t, "/long.fcgi", k.Variables["SCRIPT_NAME"], "long fields of the client do not push the rest out")
	require.ErrorContains(t, k.Incomplete(), "200002 bytes")
	long := strings.Repeat("long ", 20000)
	assert.False(t, k.Answer.Whole())
	assert.Empty(t, k.Answer.Body)
	assert.Equal(t, int64(len(long)), k.Answer.Size)
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(long))), k.Answer.SHA256)
	assert.Less(t, len(s.scratchpad()), (256+64+2*64+16)<<10)
}

// TestDebuggingEnds checks that Debugging switches itself off after debugMinutes.
func TestDebuggingEnds(t *testing.T) {
	s := debugging(t)
	s.script("x", `return "x"`)
	s.ask("/x.fcgi", nil)
	require.Len(t, s.recorded(), 1)
	later := time.Now().Add(29 * time.Minute)
	s.g.now = func() time.Time { return later }
	s.ask("/x.fcgi", nil)
	require.Len(t, s.recorded(), 2)
	s.put("user.webserver.debugMinutes", objectdb.Number(20))
	assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
	assert.Len(t, s.recorded(), 2)
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDebug"))
	assert.Contains(t, s.log.String(), "debugging has switched itself off")

	s.put("user.webserver.debugMinutes", objectdb.Number(0))
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	later = later.Add(1e6 * time.Minute)
	s.ask("/x.fcgi", nil)
	assert.Len(t, s.recorded(), 3)
}

// TestDebuggingNeverFails checks that a request that cannot be recorded is answered.
//
// Specification: 2.2.6
func TestDebuggingNeverFails(t *testing.T) {
	t.Run("other objects", func(t *testing.T) {
		s := debugging(t)
		s.script("x", `return "x"`)
		s.put("scratchpad.cgiparams", objectdb.String("mine"))
		s.put("scratchpad.cgiparamsLog", objectdb.Number(1))
		assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
		assert.Len(t, s.recorded(), 1)
	})
	t.Run("no scratchpad", func(t *testing.T) {
		s := debugging(t)
		s.script("x", `return "x"`)
		update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"scratchpad"}) })
		s.put("scratchpad", objectdb.String("mine"))
		assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
		assert.Contains(t, s.log.String(), "request not recorded")
	})
	t.Run("a form that cannot be read", func(t *testing.T) {
		s := debugging(t)
		s.script("x", `return "x"`)
		_, out := s.answer(s.postForm("/x.fcgi", "a=%zz", nil))
		assert.Equal(t, 400, out.Status)
		assert.Equal(t, 400, s.lastRecorded().Answer.Status)
	})
	t.Run("the log emptied by the script", func(t *testing.T) {
		s := debugging(t)
		s.script("x", `scratchpad.cgiparamsLog = nil return "x"`)
		assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
		assert.Empty(t, s.recorded())
		assert.NotContains(t, s.log.String(), "not recorded")
	})
	t.Run("another writer", func(t *testing.T) {
		before := patienceBefore
		defer func() { patienceBefore = before }()
		patienceBefore = 500 * time.Millisecond
		s := debugging(t)
		s.script("x", `return "x"`)
		held, release := make(chan bool), make(chan bool)
		done := make(chan error)
		go func() {
			done <- s.db.UpdateLocked(context.Background(), func(*objectdb.Tx) error { close(held); <-release; return nil })
		}()
		<-held
		start := time.Now()
		assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
		assert.Less(t, time.Since(start), patience/2, "it has not waited for the writer as others do")
		close(release)
		require.NoError(t, <-done)
		assert.Contains(t, s.log.String(), "request not recorded")
	})
}

// TestSecretsMasked checks that no secret is recorded, not even as part of the response, and that
// with flDebugSecrets all are.
//
// Specification: 2.3.8
func TestSecretsMasked(t *testing.T) {
	s := debugging(t)
	s.script("echo", `local p = ...
		if p.argTable.fail then error (p.password) end
		return {headers = {["X-Echo"] = p.password, ["Set-Cookie"] = "sid=" .. p.password}, body = p.argTable.password .. html.escape (p.searchTable.token) .. p.cookies.sid}`)
	ask := func(body string) {
		_, out := s.answer(s.postForm("/echo.fcgi?token=hush%3C1%3E", body, map[string]string{
			"HTTP_AUTHORIZATION": "Basic YWRhOmh1c2h0d28=", "HTTP_COOKIE": "sid=hush-three", "HTTP_X_API_KEY": "hush-four",
			"HTTP_REFERER": "http://r/?session=hush-five",
		}))
		require.NotZero(t, out.Status)
	}
	ask("password=hush-zero")
	assert.NotContains(t, s.scratchpad(), "hush")
	assert.NotContains(t, s.scratchpad(), "YWRhOmh1c2h0d28=")
	assert.Equal(t, "(masked)(masked)(masked)", s.lastRecorded().Answer.Body)
	assert.Contains(t, s.lastRecorded().Answer.Head, "X-Echo: (masked)\n")
	assert.Equal(t, []string{"HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_X_API_KEY", "field password", "field session",
		"field token"}, s.lastRecorded().Masked)
	ask("password=987")
	assert.Equal(t, "(masked)(masked)(masked)", s.lastRecorded().Answer.Body, "the digits of a card")
	ask("password=hush-zero&fail=1")
	assert.Equal(t, 500, s.lastRecorded().Answer.Status)
	assert.NotContains(t, s.scratchpad(), "hush")

	ask("colour=red&password=hush-zero&password=hush-again&colour=blue")
	assert.NotContains(t, s.scratchpad(), "hush", "a secret that is sent twice")
	assert.Equal(t, objectdb.List{objectdb.String(requestlog.Masked), objectdb.String(requestlog.Masked)},
		s.get("scratchpad.cgiparams.fields.password"))
	assert.Equal(t, objectdb.List{objectdb.String("red"), objectdb.String("blue")},
		s.get("scratchpad.cgiparams.fields.colour"))
	edge := "--B\r\nContent-Disposition: form-data; name="
	_, out := s.answer(s.postForm("/echo.fcgi?token=hush-1&token=hush-2",
		edge+"password\r\n\r\nhush-3\r\n"+edge+"password\r\n\r\nhush-4\r\n"+edge+"secret; filename=a\r\n\r\nhush-5\r\n"+
			edge+"secret; filename=b\r\n\r\nhush-6\r\n"+edge+"open; filename=c\r\n\r\nfile\r\n--B--\r\n",
		map[string]string{"CONTENT_TYPE": "multipart/form-data; boundary=B"}))
	require.NotZero(t, out.Status)
	assert.NotContains(t, s.scratchpad(), "hush", "secrets in a multipart form")
	assert.Equal(t, objectdb.String("file"), s.get(`scratchpad.cgiparams.allFiles.open.["file 1"].data`))

	ask(`{"user":"ada","password":"hush-zero"}`)
	assert.NotContains(t, s.scratchpad(), "hush", "JSON that was sent as a form")

	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	ask("password=hush-zero")
	assert.Contains(t, s.lastRecorded().Answer.Head, "X-Echo: hushtwo\n")
	assert.Equal(t, "hush-zerohush&lt;1&gt;hush-three", s.lastRecorded().Answer.Body)
	assert.Equal(t, "password=hush-zero", s.lastRecorded().Body)
	assert.True(t, s.lastRecorded().Secrets)
	assert.Empty(t, s.lastRecorded().Masked)
}

// BenchmarkDebugging measures a request with Debugging off, and on, which costs two writes.
func BenchmarkDebugging(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprint(on), func(b *testing.B) {
			s := newSite(b)
			s.put("user.webserver.flDebug", objectdb.Boolean(on))
			s.script("x", `return "x"`)
			b.ReportAllocs()
			for b.Loop() {
				s.g.Answer(context.Background(), s.request("/x.fcgi", nil), io.Discard)
			}
		})
	}
}

// TestServerNameWarns checks the warning if Set Server Name differs from the name of the web
// server in the last recorded request (specification, 2.2).
//
// Specification: 2.2.4
func TestServerNameWarns(t *testing.T) {
	s := debugging(t)
	warning := func(name string) string {
		return strings.Join(s.set(site.ServerName, objectdb.String(name)), "\n")
	}
	assert.Empty(t, warning("Other/1"), "no request was recorded")
	s.script("x", `return "x"`)
	s.ask("/x.fcgi", nil)
	assert.Contains(t, warning("Other/1"), `"Test/1"`)
	for _, name := range []string{"Test/1", ""} {
		assert.Empty(t, warning(name), name)
	}
}
