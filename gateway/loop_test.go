package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// expanded returns the body of a page with a text, as a visitor gets it.
func (s *testSite) expanded(page, query string) string {
	s.t.Helper()
	s.put("suites.webserverScripts.expanded", objectdb.Text(page))
	resp := s.ask("/expanded.fcgi?"+query, nil)
	require.Equal(s.t, 200, resp.Status, resp.Body)
	return resp.Body
}

func TestConditions(t *testing.T) {
	s := newSite(t)
	s.put("user.yes", objectdb.Boolean(true))
	s.put("user.no", objectdb.Boolean(false))
	s.put("user.zero", objectdb.Number(0))
	s.put("user.empty", objectdb.String(""))
	s.put("user.text", objectdb.Text("tea"))
	s.put("user.bare.x.y", objectdb.Number(1))
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "bare", "x"}) })
	s.put("user.list", objectdb.List{objectdb.Number(1)})
	s.put("user.none", objectdb.List{})
	s.put("user.then", objectdb.Date{Time: s.g.now().AddDate(-1, 0, 0)})
	s.put("user.now", objectdb.Date{Time: s.g.now()})
	s.put("user.member", objectdb.Script(`return ... == "ada"`))
	s.put("user.nothing", objectdb.Script(`return nil`))
	s.put("user.webserver.debugToken", objectdb.String("seesame"))
	s.put("user.writes", objectdb.Script(`scratchpad.wrote = true error ("no")`))
	for condition, want := range map[string]string{
		"user.yes": "yes", "user.no": "no", "user.zero": "yes", "user.empty": "no", "user.text": "yes", "user.missing.x": "no",
		"user.bare": "no", "user.list": "yes", "user.none": "no", "user.then": "yes", `""`: "no", "0": "yes", "nil": "no",
		"not user.yes": "no", "user.yes and user.no": "no", "user.no or user.text": "yes", "(user.no or user.yes) and user.text": "yes",
		`user.text == "tea"`: "yes", `user.text == "Tea"`: "no", `user.text ~= "tea"`: "no", `user.text < "teb"`: "yes",
		`searchTable.n == 7`: "yes", `searchTable.n == "7"`: "yes", `searchTable.n > 10`: "no", `searchTable.n >= 7`: "yes",
		`searchTable.word > 3`: "no", `searchTable.word < 3`: "no", `searchTable.missing < 3`: "no", `searchTable.missing == nil`: "yes",
		`user.then < user.now`: "yes", `user.then == user.then`: "yes", `user.yes == true`: "yes", `user.yes == "true"`: "no",
		`user.no == nil`: "no", `user.list == nil`: "no", `user.missing ~= nil`: "no",
		`user.member ("ada")`: "yes", `user.member (bob)`: "no", `user.nothing () == nil`: "yes", `user.member`: "no",
		`method == "GET"`: "yes", `string.upper ("x") == "X"`: "failed", `user.webserver.debugToken == "x"`: "failed", `user.list == 3`: "failed",
		`user.writes ()`: "failed", `webserver.getPref ("x")`: "failed", `fullRequest == "x"`: "failed", `html.escape (user.text) == "tea"`: "yes",
	} {
		got := s.expanded("<!--#if "+condition+"-->yes<!--#else-->no<!--#end-->", "n=7&word=many")
		if want == "failed" {
			want = ""
		}
		assert.Equal(t, want, got, condition)
	}
	assert.Equal(t, "b", s.expanded(`<!--#if user.no-->a<!--#elseif searchTable.n == 8-->b<!--#elseif user.yes-->c<!--#end-->`, "n=8"))
	var wrote bool
	require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
		_, err := tx.Get(objectdb.Address{"scratchpad", "wrote"})
		wrote = err == nil
		return nil
	}))
	assert.False(t, wrote, "what a failed condition has written is undone")
	assert.Contains(t, s.log.String(), "user.webserver.debugToken is a secret")
}

func TestLoops(t *testing.T) {
	s := newSite(t)
	for i, name := range []string{"Ada", "<b>Bob", "Cy"} {
		row := fmt.Sprintf("user.guestbook.%04d", i+1)
		s.put(row+".name", objectdb.String(name))
		s.put(row+".key", objectdb.String("own"))
		s.put(row+".tags", objectdb.List{objectdb.String("x"), objectdb.Number(float64(i))})
	}
	s.put("user.words.b", objectdb.String("two"))
	s.put("user.words.a", objectdb.String("one"))
	s.put("user.pair", objectdb.Script(`return {z = 1, y = "<2>"}`))
	s.put("user.rows", objectdb.Script(`return user.guestbook`))
	s.put("user.none", objectdb.List{})
	s.put("user.five", objectdb.Number(2))
	s.put("user.shout", objectdb.Script(`local entry = ... return entry.name:upper () .. "!"`))
	s.put("user.code.run", objectdb.Script(`return "ran"`))
	s.put("user.inner", objectdb.Script(`return webserver.processMacros ("<!--#entry.name-->")`))
	for page, want := range map[string]string{
		`<!--#for e in user.guestbook--><!--#e.key-->:<!--#e.index-->:<!--#e.name-->;<!--#end-->`:                                    "0001:1:Ada;0002:2:&lt;b&gt;Bob;0003:3:Cy;",
		`<!--#for e in user.guestbook reverse limit 2--><!--#E.Key-->:<!--#e.index--> <!--#end-->`:                                   "0003:1 0002:2 ",
		`<!--#for e in user.guestbook limit searchTable.n--><!--#e.key--> <!--#end-->`:                                               "0001 0002 ",
		`<!--#for e in user.guestbook limit user.five--><!--#e.key--> <!--#end-->`:                                                   "0001 0002 ",
		`<!--#for e in user.guestbook limit 0-->x<!--#else-->none<!--#end-->`:                                                        "none",
		`<!--#for e in user.missing-->x<!--#else-->none<!--#end-->`:                                                                  "none",
		`<!--#for e in user.none-->x<!--#else-->none<!--#end-->`:                                                                     "none",
		`<!--#for w in user.words--><!--#w.key-->=<!--#w--> <!--#end-->`:                                                             "a=one b=two ",
		`<!--#for w in user.pair ()--><!--#w.key-->=<!--#w--> <!--#end-->`:                                                           "y=&lt;2&gt; z=1 ",
		`<!--#for w in user.pair--><!--#w.key--><!--#end-->`:                                                                         "yz",
		`<!--#for e in user.rows () limit 1--><!--#e.name--><!--#end-->`:                                                             "Ada",
		`<!--#for e in user.guestbook limit 2--><!--#for t in e.tags--><!--#t.key--><!--#t--><!--#e.index--> <!--#end--><!--#end-->`: "1x1 201 1x2 212 ",
		`<!--#for e in user.guestbook--><!--#if e.index == 2--><!--#user.shout (e)--><!--#end--><!--#end-->`:                         "<B>BOB!",
		`<!--#for e in searchTable--><!--#e.key-->=<!--#e--> <!--#end-->`:                                                            "n=2 q=&lt;i&gt; ",
		`<!--#for e in user.guestbook--><!--#raw (e.name)--><!--#end-->`:                                                             "Ada<b>BobCy",
		`<!--#for user in user.words--><!--#user-->,<!--#end--><!--#user.words.a-->`:                                                 "one,two,one",

		// failures take out the marker, or the whole loop
		`<!--#for e in user.guestbook--><!--#e.index--><!--#e.missing--><!--#end-->.`:  "123.",
		`a<!--#for e in user.five--><!--#e--><!--#else-->none<!--#end-->b`:             "ab",
		`a<!--#for e in user.guestbook limit -1--><!--#e--><!--#end-->b`:               "ab",
		`a<!--#for e in user.webserver--><!--#e--><!--#end-->b`:                        "ab",
		`a<!--#for e in user--><!--#e--><!--#end-->b`:                                  "ab",
		`a<!--#for e in headers--><!--#e--><!--#end-->b`:                               "ab",
		`a<!--#for e in string--><!--#e.key--><!--#end-->b`:                            "ab",
		`<!--#for e in user.code--><!--#e.key--><!--#e--><!--#e ()--><!--#end-->`:      "run",
		`<!--#for entry in user.guestbook limit 1-->a<!--#user.inner ()--><!--#end-->`: "a",
	} {
		assert.Equal(t, want, s.expanded(page, "n=2&q=%3Ci%3E"), page)
	}
	assert.Contains(t, s.log.String(), "user.five is a number, and a loop goes over a table or a list")
	assert.Contains(t, s.log.String(), "contains secrets")
	assert.Contains(t, s.log.String(), "is a script, and the items of a loop are data")
}

// TestLoopChanges checks that a marker in a loop that fails takes back only its own writes, that the
// loop sees what its body changes further on, and that items are those of one transaction.
func TestLoopChanges(t *testing.T) {
	s := newSite(t)
	for i := range 250 {
		s.put(fmt.Sprintf("user.rows.%03d", i), objectdb.Number(float64(i)))
	}
	s.put("scratchpad.seen", objectdb.Number(0))
	s.put("user.see", objectdb.Script(`local n = ... scratchpad.seen = scratchpad.seen + 1
if n == 3 then user.rows ["120"] = nil user.rows ["249x"] = "new" end
if n == 7 then scratchpad.seen = 1000 error ("no") end return ""`))
	page := `<!--#for e in user.rows--><!--#user.see (e)--><!--#e.key-->,<!--#end-->`
	got := s.expanded(page, "")
	assert.Equal(t, 250, strings.Count(got, ","))
	assert.NotContains(t, got, "120,")
	assert.Contains(t, got, "249,249x,")
	assert.Equal(t, objectdb.Number(249), s.get("scratchpad.seen"))
	assert.Contains(t, s.log.String(), "no")
}

// TestFailuresInLoops checks that a marker that fails in each row does not fill the log, and that the
// log names the row.
func TestFailuresInLoops(t *testing.T) {
	s := newSite(t)
	update(t, s.db, func(tx *objectdb.Tx) error {
		for i := range maxProblems + 20 {
			if err := tx.Put(objectdb.Address{"user", "rows", fmt.Sprintf("%03d", i)}, objectdb.Number(1)); err != nil {
				return err
			}
		}
		return nil
	})
	assert.Empty(t, s.expanded(`<!--#for e in user.rows--><!--#e.name--><!--#end-->`, ""))
	log := s.log.String()
	assert.Equal(t, maxProblems, strings.Count(log, "e.name names nothing"))
	assert.Contains(t, log, `err="e.name names nothing (e is user.rows.007)"`)
	assert.True(t, strings.HasSuffix(log, "msg=\"more macros failed\" path=/expanded.fcgi? count=20\n"))
}

func TestLoopLimits(t *testing.T) {
	s := newSite(t)
	for i := range 30 {
		s.put(fmt.Sprintf("user.rows.%03d", i), objectdb.String(strings.Repeat("x", 100_000)))
	}
	s.put("suites.webserverScripts.p", objectdb.Text(`<!--#for e in user.rows--><!--#e--><!--#end-->`))
	assert.Equal(t, 200, s.ask("/p.fcgi", nil).Status)
	s.put("user.webserver.maxResponse", objectdb.Number(1))
	assert.Equal(t, 500, s.ask("/p.fcgi", nil).Status)
	assert.Contains(t, s.log.String(), "the page is longer than 1048576 bytes")
	s.put("user.webserver.maxResponse", objectdb.Number(64))
	s.put("user.webserver.maxMacros", objectdb.Number(60))
	assert.Equal(t, 500, s.ask("/p.fcgi", nil).Status, "1 loop, 30 items, 30 markers")
	s.put("user.webserver.maxMacros", objectdb.Number(61))
	assert.Equal(t, 200, s.ask("/p.fcgi", nil).Status)
}
