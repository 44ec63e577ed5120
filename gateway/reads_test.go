package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/script"
)

// textOf returns the addresses that a request has read, separated by blanks, with "[]" after those of tables.
func textOf(r *requestlog.Reads) string {
	var list []string
	for _, a := range r.Values {
		list = append(list, a.String())
	}
	for _, a := range r.Tables {
		list = append(list, a.String()+"[]")
	}
	return strings.Join(list, " ")
}

// TestReadsRecorded checks that a recorded request says what its scripts have read: not what the gateway reads
// for each request, and not what they have written themselves.
func TestReadsRecorded(t *testing.T) {
	s := debugging(t)
	s.put("own.n", objectdb.Number(1))
	s.put("own.title", objectdb.String("Title"))
	s.put("own.rows.a", objectdb.Number(1))
	s.put("own.rows.b", objectdb.Number(2))
	s.put("own.gone", objectdb.Number(3))
	s.script("plain", `return "hello"`)
	s.script("part", `return "part"`)
	s.script("count", `own.n = own.n + 1 own.made = 1 return own.n .. own.made .. tostring (own.nothing)`)
	s.script("calls", `return suites.webserverScripts.part () .. own.n`)
	s.script("walks", `local n = 0 for k, v in pairs (own.rows) do n = n + v end return n`)
	s.script("deletes", `local n = own.gone; own.gone = nil; return n`)
	s.script("fails", `local n = own.n; error ("boom")`)
	s.script("setting", `return user.webserver.serverName .. webserver.httpHeader ():sub (1, 4)`)
	s.script("pieces", `local n = own.n webserver.sendPartial ("one") webserver.sendPartial (own.title, false)`)
	s.put("suites.webserverScripts.page",
		objectdb.Text("<!--#own.title--> <!--#nothing--> <!--#suites.webserverScripts.part ()-->"))
	for range 2 { // the second time much is in caches
		for name, want := range map[string]string{
			"plain":   "plain",
			"count":   "count own.n",
			"calls":   "calls part own.n",
			"walks":   "walks own.rows.a own.rows.b own.rows[]",
			"deletes": "deletes own.gone",
			"fails":   "fails own.n",
			"setting": "setting user.webserver.serverName suites.webserver.httpheader",
			"pieces":  "pieces own.n own.title suites.webserver.sendPartial",
			"page":    "page part own.title",
		} {
			s.ask("/"+name+".fcgi", nil)
			reads := s.lastRecorded().Reads
			require.NotNil(t, reads, name)
			got := strings.ReplaceAll(textOf(reads), "suites.webserverScripts.", "")
			assert.ElementsMatch(t, strings.Fields(want), strings.Fields(got), name)
			assert.Zero(t, reads.More, name)
		}
		s.put("own.gone", objectdb.Number(3))
	}
}

// TestReadsOfAPage checks that the values that markers of a page name count as read, also when their texts are cached.
func TestReadsOfAPage(t *testing.T) {
	s := debugging(t)
	s.put("own.title", objectdb.String("Title"))
	s.put("own.text", objectdb.String("Text"))
	s.page("x.mcro", "<!--#own.title--> <!--#own.text-->")
	ask := func() { assert.Equal(t, "own.title own.text", readsAsked(s, "/x.mcro")) }
	require.Eventually(t, func() bool { // a file that has just been written is read each time
		ask()
		s.g.pages.mu.Lock()
		defer s.g.pages.mu.Unlock()
		return len(s.g.pages.pages) > 0
	}, patience, 10*time.Millisecond)
	ask()
	ask()
}

// readsAsked asks for a path and returns what was read.
func readsAsked(s *testSite, path string) string {
	s.ask(path, nil)
	return textOf(s.lastRecorded().Reads)
}

// TestReadsOfTheLastRun checks that a request that loses a race has read what its last run read, also when it
// holds the writer's lock from its start.
func TestReadsOfTheLastRun(t *testing.T) {
	s := debugging(t)
	for _, name := range []string{"n", "first", "second"} {
		s.put("own."+name, objectdb.Number(0))
	}
	runs := 0
	s.g = newGateway(Options{DB: s.db}, script.Verb{Name: "test.run", Doc: "Writes.", Func: func(*script.Call) error {
		if runs++; runs == 1 {
			s.put("own.n", objectdb.Number(10))
		}
		return nil
	}})
	s.script("x", `local n = own.n; test.run ()
if n == 0 then return own.first end
own.n = n + 1; return own.second`)
	s.script("write", `local n = own.n; own.n = n + 1; test.run ()
if n == 0 then n = own.first else n = own.second end
return n`)
	s.ask("/write.fcgi", nil)
	require.Equal(t, 2, runs)
	assert.Equal(t, "suites.webserverScripts.write own.n own.second", textOf(s.lastRecorded().Reads))
	s.g.runner.Conflicted("/x.fcgi", time.Now().Add(time.Minute))
	assert.Equal(t, "suites.webserverScripts.x own.n own.second", readsAsked(s, "/x.fcgi"))
}

// TestManyReads checks that what is recorded is bounded, in one table and in all, and that its rest is counted.
func TestManyReads(t *testing.T) {
	const tables, rows = 30, 400
	s := debugging(t)
	require.NoError(t, s.db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for i := range tables {
			for j := range rows {
				a := objectdb.Address{"own", fmt.Sprintf("t%02d", i), fmt.Sprintf("%s %03d", strings.Repeat("long", 20), j)}
				if err := tx.Put(a, objectdb.Number(1)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	s.put("own.last", objectdb.Number(1))
	s.script("x", `local n = 0
for i = 0, 29 do for k, v in pairs (own[("t%02d"):format (i)]) do n = n + v end end
return n + own.last`)
	s.script("one", `local n = own.last; for k, v in pairs (own.t00) do n = n + v end return n`)
	resp := s.ask("/x.fcgi", nil)
	require.Equal(t, "12001", resp.Body)
	r := s.lastRecorded().Reads
	listed := len(r.Values) + len(r.Tables)
	assert.LessOrEqual(t, listed, 200)
	assert.Greater(t, listed, 100)
	assert.Equal(t, tables*rows+tables+2, listed+r.More)
	size := 0
	for _, a := range append(r.Values, r.Tables...) {
		size += len(a.String())
	}
	assert.LessOrEqual(t, size, 16<<10)

	s.ask("/one.fcgi", nil)
	r = s.lastRecorded().Reads
	assert.Len(t, r.Values, 42, "40 of the table, and two others")
	assert.Equal(t, "own.t00[]", textOf(&requestlog.Reads{Tables: r.Tables}))
	assert.Equal(t, rows-40, r.More)
}

// TestReadsAreMasked checks that secrets of the request are masked in the addresses too.
func TestReadsAreMasked(t *testing.T) {
	s := debugging(t)
	s.put("own.visits.HushHush", objectdb.Number(1))
	s.put("own.visits.other", objectdb.Number(2))
	s.script("x", `local p = ... return own.visits[p.searchTable.token] .. own.visits.other`)
	s.ask("/x.fcgi?token=hushhush", nil)
	assert.Equal(t, `suites.webserverScripts.x own.visits.["(masked)"] own.visits.other`, textOf(s.lastRecorded().Reads))
	assert.NotContains(t, strings.ToLower(s.scratchpad()), "hush")
	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	s.ask("/x.fcgi?token=hushhush", nil)
	r := s.lastRecorded()
	assert.Equal(t, `suites.webserverScripts.x own.visits.HushHush own.visits.other`, textOf(r.Reads))
	assert.Equal(t, `suites.webserverScripts.x own.visits.["(masked)"] own.visits.other`, textOf(r.WithoutSecrets().Reads))
}

// TestReadsWithoutDebugging checks that the transaction of a request does not record its reads while Debugging is
// off or stores no requests.
func TestReadsWithoutDebugging(t *testing.T) {
	s := newSite(t)
	noted := -1
	s.g = newGateway(Options{DB: s.db}, script.Verb{Name: "test.noted", Doc: "Counts.", Func: func(c *script.Call) error {
		noted = 0
		for range c.Thread().Host().(*attempt).Tx.Reads() {
			noted++
		}
		return nil
	}})
	s.script("x", `test.noted () return "x"`)
	s.ask("/x.fcgi", nil)
	assert.Zero(t, noted)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.ask("/x.fcgi", nil)
	assert.Positive(t, noted)
	s.put("user.webserver.maxRequests", objectdb.Number(0))
	s.ask("/x.fcgi", nil)
	assert.Zero(t, noted)
}

// TestReadsOfManyAtOnce checks that requests at the same time do not mix up what they read.
func TestReadsOfManyAtOnce(t *testing.T) {
	s := debugging(t)
	const clients, each = 4, 5
	for i := range clients {
		s.put(fmt.Sprintf("own.n%d", i), objectdb.Number(i))
	}
	s.put("own.all", objectdb.Number(0))
	s.script("x", `local p = ... own.all = own.all + 1 return own["n" .. p.searchTable.i]`)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for range each {
				s.ask(fmt.Sprintf("/x.fcgi?i=%d", i), nil)
			}
		})
	}
	wg.Wait()
	for _, r := range s.recorded() {
		_, i, _ := strings.Cut(r.Line(), "i=")
		assert.Equal(t, "suites.webserverScripts.x own.all own.n"+i, textOf(r.Reads))
	}
}
