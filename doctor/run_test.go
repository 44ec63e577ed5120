package doctor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/doctor"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/probe"
	"scripter/site"
)

func newRoot(t *testing.T) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func set(t *testing.T, db *objectdb.DB, a objectdb.Address, v objectdb.Value) {
	t.Helper()
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(a, v) }))
}

// states returns the checks with their states.
func states(r doctor.Report) []string {
	var list []string
	for _, f := range r.Checks {
		list = append(list, f.State+" "+f.Check)
	}
	return list
}

// TestDeadline checks that a run whose time is over returns what it has found, says what is
// missing, and leaves no token in the root.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers int // requests that are answered; the others wait
		want    []string
		missing string
	}{
		{"no answer", 0, []string{"warning time"}, `the check "reach"`},
		{"two answers", 2, []string{"ok name", "warning time"}, `the check "SCRIPTER"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := make(chan bool, c.answers)
			for range c.answers {
				left <- true
			}
			end := make(chan bool)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case <-left:
					w.Header().Set("Server", "nginx/1.22.1")
					http.NotFound(w, r)
				case <-end:
				}
			}))
			defer s.Close()
			defer close(end)
			db := newRoot(t)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			r, err := doctor.Run(ctx, doctor.Options{Root: db, URL: s.URL})
			require.NoError(t, err)
			assert.Equal(t, c.want, states(r))
			last := r.Checks[len(r.Checks)-1]
			assert.Equal(t, "not finished in time: "+c.missing+" and those after it are missing", last.Reason)
			assert.Contains(t, last.Change[0], "scripter doctor --url '"+s.URL+"'")
			assert.Equal(t, 1, r.Warnings)
			require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
				_, err := tx.Stat(probe.Tokens.Parent())
				assert.ErrorIs(t, err, objectdb.ErrNotFound)
				return nil
			}))
		})
	}
}

// TestCancelled checks that a run that is cancelled is an error, as at Ctrl-C.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { cancel() }))
	defer s.Close()
	_, err := doctor.Run(ctx, doctor.Options{Root: newRoot(t), URL: s.URL})
	assert.ErrorIs(t, err, context.Canceled)
}

// TestWithoutServer checks the report for which nobody is asked, also on a root that cannot be
// written.
func TestWithoutServer(t *testing.T) {
	db := newRoot(t)
	folder := filepath.Dir(db.Path())
	user := "ok rights"
	if os.Geteuid() == 0 {
		user = "warning rights"
	}
	r, err := doctor.Run(t.Context(), doctor.Options{Root: db})
	require.NoError(t, err)
	assert.Equal(t, []string{user, "ok listed"}, states(r))

	set(t, db, site.WebsiteFolderPath.Address(), objectdb.String(folder))
	set(t, db, site.CacheServers.Address(), objectdb.List{objectdb.String("http://proxy:6081")})
	set(t, db, site.HistoryRows.Child("user.none"), objectdb.String("nonsense"))
	readOnly, err := sqlitestore.Open(db.Path(), objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer readOnly.Close()
	var reach site.Reach
	require.NoError(t, reach.Add(site.KeyPages, folder))
	r, err = doctor.Run(t.Context(), doctor.Options{Root: readOnly, Reach: reach})
	require.NoError(t, err)
	assert.Equal(t, []string{user, "fault listed", "warning public", "warning history"}, states(r))
	assert.Contains(t, r.Checks[1].Reason, "http://proxy:6081")
	assert.Equal(t, 1, r.Faults)
	assert.Empty(t, r.URL)
}

// TestToldOutside checks what is said of hosts and databases that scripts may use.
func TestToldOutside(t *testing.T) {
	r, err := doctor.Run(t.Context(), doctor.Options{Root: newRoot(t), Outside: []probe.Outside{
		{Line: "fetch: a.example"}, {Line: "fetch: *.b.example", Untried: true}, {Line: "database: shop /x", Failure: "no file"},
		{Line: "fetch: c.example"},
	}})
	require.NoError(t, err)
	var told []string
	for _, f := range r.Checks {
		if f.Check == "outside" {
			told = append(told, f.State+" "+f.Reason)
		}
	}
	assert.Equal(t, []string{
		`warning scripts may use what the line "database: shop /x" of scripter.conf lists, but it cannot be reached: no file`,
		`ok scripts may use, and can reach: "fetch: a.example", "fetch: c.example"`,
		`note scripts may use these, which were not tried: "fetch: *.b.example"`,
	}, told)
}

// TestOptions checks that invalid options are refused, and which one is named.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		options doctor.Options
		want    string
	}{
		{doctor.Options{URL: "localhost"}, `url "localhost" is not like http://www.example.com/`},
		{doctor.Options{URL: "http://localhost/", Headers: []string{"nonsense"}}, `header "nonsense" is not "Name: value"`},
		{doctor.Options{URL: "http://localhost/", Protected: "members"},
			`protected "members" is no folder of URLs, such as /members/`},
	} {
		c.options.Root = newRoot(t)
		_, err := doctor.Run(t.Context(), c.options)
		var wrong *doctor.OptionError
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, c.want, err.Error())
	}
}
