package gateway

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// errNotKept is returned by isKept's function, so that nothing is cached.
var errNotKept = errors.New("not kept")

// isKept reports whether the text of a loop of the page at suites.webserverScripts.name can be used again now.
func (s *testSite) isKept(name string, loop int) bool {
	s.t.Helper()
	kept := false
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) error {
		n, err := tx.Find(objectdb.Address{"suites", "webserverScripts", name})
		require.NoError(s.t, err)
		page, err := s.g.pages.object(tx, n)
		require.NoError(s.t, err)
		l, err := s.g.loops.Get(tx, loopKey{page, loop}, func(*objectdb.Tx) (*loopText, error) { return nil, errNotKept })
		kept = err == nil && l.usable
		return nil
	}))
	return kept
}

// TestKeptLoops changes a table at random, and compares pages whose loops may be kept with the same pages whose loops
// may not, because they also look at the request.
func TestKeptLoops(t *testing.T) {
	s := newSite(t)
	plain := `<!--#if method == "POST"-->never<!--#end-->`
	for name, page := range map[string]string{
		"all": `<!--#for e in user.rows-->%s<p><!--#e.index--> <!--#e.key-->: <b><!--#e.name--></b> ` +
			`<a title='<!--#e.text-->' href="/?x=<!--#e.key-->"></a></p><!--#else-->none<!--#end-->`,
		"last": `<!--#for e in user.rows reverse limit 3-->%s<!--#if e.name and e.size > 3-->big<!--#elseif e.name == "x"-->x<!--#else-->` +
			`small<!--#end--> <!--#e.name--><!--#end-->`,
		"nested": `<!--#for e in user.rows-->%s<!--#for part in e.parts limit 2-->[<!--#part--> <!--#e.key-->]<!--#else-->-<!--#end--><!--#end-->`,
	} {
		s.put("suites.webserverScripts."+name, objectdb.Text(fmt.Sprintf(page, "")))
		s.put("suites.webserverScripts.plain"+name, objectdb.Text(fmt.Sprintf(page, plain)))
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	kept := 0
	for range 300 {
		row := fmt.Sprintf("user.rows.%02d", r.IntN(8))
		switch r.IntN(8) {
		case 0:
			update(t, s.db, func(tx *objectdb.Tx) error {
				a, err := objectdb.ParseAddress(row)
				require.NoError(t, err)
				if err = tx.Delete(a); objectdb.IsMissing(err) {
					err = nil
				}
				return err
			})
		case 1:
			update(t, s.db, func(tx *objectdb.Tx) error {
				return tx.Put(objectdb.Address{"user", "other"}, objectdb.Number(r.Float64()))
			})
		default:
			value := []objectdb.Value{objectdb.String("x"), objectdb.Text("<tea> & 'milk'"), objectdb.Number(r.IntN(7)),
				objectdb.Script("return 1"), objectdb.List{objectdb.String("a"), objectdb.Number(2)}, objectdb.Boolean(false),
				objectdb.Date{Time: time.Unix(int64(r.IntN(5)), 0)}}[r.IntN(7)]
			a, err := objectdb.ParseAddress(row + "." + pick("name", "name", "text", "size", "parts", "parts.a", "parts.b"))
			require.NoError(t, err)
			update(t, s.db, func(tx *objectdb.Tx) error {
				err := tx.Put(a, value)
				if errors.Is(err, objectdb.ErrNotTable) || errors.Is(err, objectdb.ErrIsTable) {
					err = nil
				}
				return err
			})
		}
		for _, name := range []string{"all", "last", "nested"} {
			want := s.ask("/plain"+name+".fcgi", nil).Body
			for range 2 {
				require.Equal(t, want, s.ask("/"+name+".fcgi", nil).Body, name)
			}
			if s.isKept(name, 0) {
				kept++
			}
		}
	}
	assert.Greater(t, kept, 50) // in most rounds a row has failed
}

// TestLoopsThatAreNotKept has loops whose text depends on the request, or that say something else each time.
func TestLoopsThatAreNotKept(t *testing.T) {
	s := newSite(t)
	s.put("user.rows.a.name", objectdb.String("Ada"))
	s.put("user.rows.b.name", objectdb.String("Bob"))
	s.put("user.none", objectdb.Script(`return nil`))
	s.put("user.hide", objectdb.Script(`rawset (_G, "user", {rows = {x = {name = "hidden"}}})`))
	s.put("user.write", objectdb.Script(`user.rows.b.name = user.rows.b.name .. "!"`))
	s.put("suites.webserverScripts.locked.doc", objectdb.String("secret"))
	s.put("suites.webserverScripts.page", objectdb.Text(""))
	s.put("user.webserver.debugToken", objectdb.String("token"))
	const loop = `<!--#for e in user.rows--><!--#e.name-->,<!--#end-->`
	for name, c := range map[string]struct {
		page string
		want []string // one after another
		loop int
		kept bool
	}{
		"plain":             {loop, []string{"Ada,Bob,", "Ada,Bob,"}, 0, true},
		"after a script":    {`<!--#user.none ()-->` + loop, []string{"Ada,Bob,", "Ada,Bob,"}, 1, true},
		"the request":       {`<!--#for e in user.rows--><!--#e.name--><!--#method-->,<!--#end-->`, []string{"AdaGET,BobGET,"}, 0, false},
		"a call":            {`<!--#for e in user.rows--><!--#html (e.name)-->,<!--#end-->`, []string{"Ada,Bob,"}, 0, false},
		"a computed limit":  {`<!--#for e in user.rows limit searchTable.n--><!--#e.name-->,<!--#end-->`, []string{"Ada,"}, 0, false},
		"of the request":    {`<!--#for e in searchTable--><!--#e-->,<!--#end-->`, []string{"1,"}, 0, false},
		"another name":      {`<!--#for e in user.rows--><!--#user.rows.a.name-->,<!--#end-->`, []string{"Ada,Ada,"}, 0, false},
		"in an attribute":   {`<a title="` + loop + `">`, []string{`<a title="Ada,Bob,">`}, 0, false},
		"a hidden name":     {`<!--#user.hide ()-->` + loop, []string{"Ada,Bob,", "Ada,Bob,"}, 1, false},
		"what has URLs":     {`<!--#for e in suites.webserverScripts.locked--><!--#e-->,<!--#end-->`, []string{"secret,"}, 0, false},
		"a row that fails":  {`<!--#for e in user.rows--><!--#e.none-->,<!--#end-->`, []string{",,", ",,"}, 0, false},
		"what is not there": {`<!--#for e in user.missing--><!--#e-->,<!--#else-->none<!--#end-->`, []string{"none"}, 0, false},
	} {
		s.put("suites.webserverScripts.page", objectdb.Text(c.page))
		for _, want := range c.want {
			assert.Equal(t, want, s.ask("/page.fcgi?n=1", nil).Body, name)
		}
		assert.Equal(t, c.kept, s.isKept("page", c.loop), name)
	}
	require.Contains(t, s.log.String(), "e.none names nothing")

	// What a marker before the loop writes is seen.
	s.put("suites.webserverScripts.page", objectdb.Text(`<!--#user.write ()-->`+loop+`<!--#user.write ()-->`))
	assert.Equal(t, "Ada,Bob!,", s.ask("/page.fcgi", nil).Body)
	assert.Equal(t, "Ada,Bob!!!,", s.ask("/page.fcgi", nil).Body)

	// A developer sees why a row fails.
	s.put("suites.webserverScripts.page", objectdb.Text(`<!--#for e in user.rows--><!--#e.none--><!--#end-->`))
	s.ask("/page.fcgi", nil)
	assert.Contains(t, s.ask("/page.fcgi", map[string]string{"HTTP_SCRIPTER_TOKEN": "token"}).Body, "Macro error")

	// Kept loops count as many markers.
	s.put("suites.webserverScripts.page", objectdb.Text(loop))
	for range 2 {
		assert.Equal(t, 200, s.ask("/page.fcgi", nil).Status)
	}
	require.True(t, s.isKept("page", 0))
	s.put("user.webserver.maxMacros", objectdb.Number(4))
	for range 2 {
		assert.Equal(t, 500, s.ask("/page.fcgi", nil).Status)
	}
	s.put("user.webserver.maxMacros", objectdb.Number(5))
	for range 2 {
		assert.Equal(t, 200, s.ask("/page.fcgi", nil).Status)
	}
}
