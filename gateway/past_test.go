package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// askAt answers a request on the root as a generation left it. It returns the ids of the
// objects whose old value was not kept.
func (s *testSite) askAt(generation int64, path string) (*httpheader.Response, []int64) {
	s.t.Helper()
	var later []int64
	log := &testlog.Buffer{}
	g := New(Options{
		DB:  s.db.At(generation, func(id, _ int64) { later = append(later, id) }),
		Log: slog.New(slog.NewTextHandler(log, nil)), Reach: s.g.Reach(),
	})
	var b strings.Builder
	g.Answer(context.Background(), s.request(path, nil), &b)
	resp, err := httpheader.Parse(b.String())
	require.NoError(s.t, err, b.String())
	assert.Empty(s.t, log.String())
	return resp, later
}

func (s *testSite) idOf(address string) (id int64) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err == nil {
			id = n.ID()
		}
		return err
	}))
	return id
}

// A request on the root as it was sees its scripts, data and settings. Nothing that it does is
// committed: sendPartial, the dirty root flag, Debugging, a cache that is to be flushed.
func TestPast(t *testing.T) {
	s := debugging(t)
	s.put("user.webserver.cacheServers", objectdb.List{objectdb.String("http://127.0.0.1:1")})
	s.list("cache", "http://127.0.0.1:1")
	s.put("own.n", objectdb.Number(1))
	s.put("own.doomed", objectdb.String("not yet deleted"))
	s.script("x", `own.n = own.n + 1
webserver.setDirtyRoot ()
webserver.flushCache ()
webserver.sendPartial ("<" .. own.n .. ">")
own.n = own.n + 1
odb.delete ("suites.webserverScripts.y")
return own.n .. " " .. own.doomed .. " " .. tostring (user.webserver.flDebug)`)
	s.script("y", `return "kept"`)
	then := s.generation()
	s.asPerson("own.n", objectdb.Number(100))
	s.asPerson("user.webserver.flDebug", objectdb.Boolean(false))
	s.asPerson("user.webserver.cacheServers", objectdb.List{})
	s.script("x", `return "today"`)
	update(t, s.db, func(tx *objectdb.Tx) error {
		tx.Origin.Person = true
		return tx.Delete(objectdb.Address{"own", "doomed"})
	})

	now, everything := s.generation(), s.everything()
	for range 2 {
		resp, later := s.askAt(then, "/x.fcgi")
		assert.Equal(t, "<2>3 not yet deleted true", string(resp.Body))
		assert.Empty(t, later)
	}
	resp, _ := s.askAt(then, "/y.fcgi")
	assert.Equal(t, "kept", string(resp.Body))
	assert.Equal(t, now, s.generation(), "no commit")
	assert.Equal(t, everything, s.everything())
	assert.Empty(t, s.recorded())
	assert.Equal(t, "today", string(s.ask("/x.fcgi", nil).Body))
}

// A thinned value is replaced by a later one, and the caller is told.
func TestPastOfThinnedValues(t *testing.T) {
	s := newSite(t)
	s.put("own.n", objectdb.Number(0))
	s.put("own.title", objectdb.String("a"))
	s.script("raise", `own.n = own.n + 1 return "raised"`)
	s.script("show", `return own.title .. own.n`)
	for range 3 {
		require.Equal(t, 200, s.ask("/raise.fcgi", nil).Status)
	}
	then := s.generation()
	for range 3 {
		require.Equal(t, 200, s.ask("/raise.fcgi", nil).Status)
	}
	resp, later := s.askAt(then, "/show.fcgi")
	assert.Equal(t, "a6", string(resp.Body), "the old value, 3, was not kept")
	assert.Equal(t, []int64{s.idOf("own.n")}, later)
}

// The generation that a recorded request has seen is that before its own commit, also if
// sendPartial has committed.
func TestGenerationOfRecordedRequests(t *testing.T) {
	s := debugging(t)
	s.put("user.webserver.historyInterval", objectdb.Number(0))
	s.put("own.n", objectdb.Number(1))
	s.script("x", `own.n = own.n + 1 return "n is " .. own.n`)
	s.script("partial", `own.n = own.n + 1 webserver.sendPartial ("n is ") own.n = own.n + 1 return own.n`)
	for i, name := range []string{"x", "partial", "x"} {
		resp := s.ask("/"+name+".fcgi", nil)
		require.Equal(t, 200, resp.Status)
		then := s.lastRecorded().Generation
		s.asPerson("own.n", objectdb.Number(float64(100*i)))
		again, _ := s.askAt(then, "/"+name+".fcgi")
		assert.Equal(t, string(resp.Body), string(again.Body), name)
	}
}

// BenchmarkPast compares a request of a command on today's root with one on the root of a year
// ago, after 100,000 changes.
func BenchmarkPast(b *testing.B) {
	s := newSite(b)
	const objects, days = 300, 365
	for i := range objects {
		s.put(fmt.Sprintf("own.n%d", i), objectdb.String(strings.Repeat("x", 100)))
	}
	s.script("sum", `local n = 0
for name, value in odb.pairs (own) do n = n + #value end
return tostring (n)`)
	then := s.generation()
	for day := range days {
		update(b, s.db, func(tx *objectdb.Tx) error {
			tx.Origin.Person = true
			for i := range objects {
				v := objectdb.String(strings.Repeat("y", 100-day%50))
				if err := tx.Put(objectdb.Address{"own", fmt.Sprintf("n%d", i)}, v); err != nil {
					return err
				}
			}
			return nil
		})
	}
	call := func(b *testing.B, at func(*objectdb.DB) *objectdb.DB) {
		began := processorTime()
		for b.Loop() {
			db, err := sqlitestore.Open(s.db.Path(), objectdb.Options{Reading: true, History: site.History()})
			require.NoError(b, err)
			g := New(Options{DB: at(db)})
			var out strings.Builder
			require.Equal(b, 200, g.Answer(context.Background(), s.request("/sum.fcgi", nil), &out).Status)
			require.NoError(b, db.Close())
		}
		b.ReportMetric(float64((processorTime()-began)/time.Duration(b.N))/1e6, "cpu-ms/op")
	}
	b.Run("today", func(b *testing.B) { call(b, func(db *objectdb.DB) *objectdb.DB { return db }) })
	b.Run("yearAgo", func(b *testing.B) { call(b, func(db *objectdb.DB) *objectdb.DB { return db.At(then, nil) }) })
}
