package gateway

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// TestYield checks that a request that has written yields while it only waits for the disk, and
// that other requests see what it has written.
func TestYield(t *testing.T) {
	s := newSite(t)
	s.script("raise", `user.n = (user.n or 0) + 1 return "n " .. user.n`)
	s.script("show", `return "n is " .. user.n`)
	s.script("parts", `user.n = user.n + 1 webserver.sendPartial ("first, ") user.n = user.n + 1 return "last"`)
	s.script("fails", `user.n = 100 error ("no")`)
	db, err := sqlitestore.Open(s.db.Path(),
		objectdb.Options{BusyTimeout: patience, LockTime: patience}) // one that waits for the disk
	require.NoError(t, err)
	defer db.Close()
	s.g = New(Options{DB: db})
	var seen []string
	ask := func(name string) string {
		r := s.request("/"+name+".fcgi", nil)
		r.Yield = func() { seen = append(seen, s.ask("/show.fcgi", nil).Body) }
		resp, _ := s.answer(r)
		return resp.Body
	}
	assert.Equal(t, "n 1", ask("raise"))
	assert.Equal(t, []string{"n is 1"}, seen)
	assert.Equal(t, "n is 1", ask("show"))
	assert.Contains(t, ask("fails"), "Incident")
	assert.Len(t, seen, 1, "where nothing is committed nobody waits for the disk")
	s.answer(s.request("/parts.fcgi", nil))
	assert.Len(t, seen, 1)
	ask("parts")
	assert.Equal(t, []string{"n is 1", "n is 5"}, seen, "a script that goes on does not yield")
}

// TestFailureAfterYield checks that a request that fails after it has yielded gets a plain page:
// the site's own page would run a script beside another one.
func TestFailureAfterYield(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.prefs.fileNotFoundPage", objectdb.Text("ours"))
	assert.Contains(t, s.ask("/nothing.fcgi", nil).Body, "ours")
	var b bytes.Buffer
	x := s.g.newExchange(s.request("/nothing.fcgi", nil), &b)
	x.yielded = true
	assert.Equal(t, 404, x.answer(t.Context()).Status)
	assert.NotContains(t, b.String(), "ours")
}
