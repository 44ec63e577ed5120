package replay_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/replay"
	"scripter/requestlog"
	"scripter/root"
	"scripter/site"
)

// recordedSite returns a root with a recorded request, which has written own.n = 2 and answered
// with it; the root has own.n = 50 since.
func recordedSite(t *testing.T) (*objectdb.DB, *requestlog.Request) {
	t.Helper()
	const patience = time.Minute // a busy machine may stand still for seconds
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), objectdb.Options{
		Relaxed: true, BusyTimeout: patience, LockTime: patience, History: site.History(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	put := func(address string, v objectdb.Value) {
		a, err := objectdb.ParseAddress(address)
		require.NoError(t, err)
		require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
			tx.Origin = objectdb.Origin{Person: true, Who: "ada"}
			return tx.Put(a, v)
		}))
	}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	}))
	put("user.webserver.flDebug", objectdb.Boolean(true))
	put("own.n", objectdb.Number(1))
	put("suites.webserverScripts.x", objectdb.Script(`own.n = own.n + 1 return "same\n" .. own.n .. "\n"`))
	out := gateway.New(gateway.Options{DB: db}).Answer(t.Context(), &gateway.Request{
		Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/x.fcgi", "SERVER_SOFTWARE": "Test/1"},
		Form:   gateway.NPH,
	}, io.Discard)
	require.Equal(t, 200, out.Status)
	put("own.n", objectdb.Number(50))
	var r *requestlog.Request
	require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
		r, err = requestlog.Find(tx, 0)
		return err
	}))
	return db, r
}

func options(db *objectdb.DB) replay.Options {
	return replay.Options{DB: db, Gateway: func(db *objectdb.DB) (*gateway.Gateway, error) {
		return gateway.New(gateway.Options{DB: db}), nil
	}}
}

// TestRun runs a recorded request on both states of the root.
func TestRun(t *testing.T) {
	db, r := recordedSite(t)
	o := options(db)
	for then, want := range map[bool]string{false: "same\n51\n", true: "same\n2\n"} {
		o.Then = then
		ended := 0
		o.Ended = func(run *replay.Result) {
			ended++
			assert.Equal(t, then, run.Past != nil)
			assert.Equal(t, then, run.Gateway.IsPast())
		}
		var response strings.Builder
		run, err := replay.Run(t.Context(), r, &response, o)
		require.NoError(t, err)
		assert.Equal(t, 200, run.Outcome.Status)
		assert.Equal(t, want, run.Answer.Body)
		assert.True(t, strings.HasSuffix(response.String(), want), response.String())
		assert.Equal(t, 1, ended)
		assert.Equal(t, r.Reads, run.Reads)
		assert.Equal(t, []objectdb.Address{{"suites", "webserverScripts", "x"}, {"own", "n"}}, run.Reads.Values)
	}
}

// TestCompare compares two runs, and one run with the recorded answer.
func TestCompare(t *testing.T) {
	db, r := recordedSite(t)
	o := options(db)
	compare := func(recorded, then bool) *replay.Difference {
		o.Then = then
		d, err := replay.Compare(t.Context(), r, recorded, o)
		require.NoError(t, err)
		assert.Empty(t, d.Head)
		return d
	}
	d := compare(false, false)
	assert.Equal(t, []string{"-2", "+51"}, d.Body)
	assert.Equal(t, []string{"-own.n = 2", "+own.n = 51"}, d.Written)
	assert.False(t, d.IsEmpty())

	assert.Equal(t, d, compare(false, true), "the two runs are always on both states")

	d = compare(true, false)
	assert.Equal(t, []string{"-2", "+51"}, d.Body)
	assert.Empty(t, d.Written, "it is not recorded")

	assert.True(t, compare(true, true).IsEmpty())

	r.Answer = nil
	_, err := replay.Compare(t.Context(), r, true, o)
	assert.ErrorContains(t, err, "the answer of request 1 is not known")
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(objectdb.Address{"own", "n"})
		assert.Equal(t, objectdb.Number(50), v, "what runs write is not kept")
		return err
	}))
}
