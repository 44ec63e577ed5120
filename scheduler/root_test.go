package scheduler

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/testlog"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/outbox"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
)

// testRoot is a root without supplied objects, with a clock of its own.
type testRoot struct {
	t     *testing.T
	db    *objectdb.DB
	log   testlog.Buffer
	reach site.Reach
	cache *site.Cache

	mu   sync.Mutex
	time time.Time
}

func newRoot(t *testing.T) *testRoot {
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"),
		objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return rootOf(t, db)
}

func rootOf(t *testing.T, db *objectdb.DB) *testRoot {
	r := &testRoot{t: t, db: db, cache: site.NewCache(), time: time.Now().Truncate(time.Second)}
	for _, name := range []string{"scratchpad", "workspace", "user"} {
		r.update(func(tx *objectdb.Tx) error { return tx.NewTable(objectdb.Address{name}) })
	}
	return r
}

func (r *testRoot) now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.time
}

// pass lets time pass.
func (r *testRoot) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time = r.time.Add(d)
}

func (r *testRoot) update(fn func(tx *objectdb.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.db.Update(context.Background(), fn))
}

func (r *testRoot) view(fn func(tx *objectdb.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.db.View(context.Background(), fn))
}

func (r *testRoot) put(address string, v objectdb.Value) {
	r.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(r.t, err)
	r.update(func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

// get returns the text of a value, or "".
func (r *testRoot) get(address string) (text string) {
	r.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(r.t, err)
	r.view(func(tx *objectdb.Tx) error {
		v, err := tx.Get(a)
		if objectdb.IsMissing(err) {
			return nil
		}
		if n, ok := v.(objectdb.Number); ok {
			text = lua.NumberText(float64(n))
		} else if s, ok := v.(objectdb.String); ok {
			text = string(s)
		}
		return err
	})
	return text
}

func (r *testRoot) rows(s outbox.State) (list []outbox.Row) {
	r.t.Helper()
	r.view(func(tx *objectdb.Tx) (err error) {
		list, err = outbox.List(tx, s)
		return err
	})
	return list
}

func (r *testRoot) runner() *runner.Runner {
	engine := script.NewEngine(verbs.All(site.NewPasswords()), verbs.Properties()...)
	return runner.New(runner.Config{DB: r.db, Engine: engine, Site: r.cache, Now: r.now,
		Outside: func(run *runner.Run) (*script.Table, any, error) {
			run.StartOutput(1<<20, func() error { return assert.AnError })
			return script.NewTable(), &testHost{Run: run, reach: r.reach}, nil
		}})
}

// testHost is the host of scripts.
type testHost struct {
	*runner.Run
	batch outbox.Batch
	reach site.Reach
}

func (h *testHost) Batch() *outbox.Batch { return &h.batch }

func (h *testHost) Reach() site.Reach { return h.reach }

func (r *testRoot) options() Options {
	return Options{
		DB: r.db, Site: r.cache, Reach: func() site.Reach { return r.reach }, Now: r.now,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)), Run: InProcess(r.runner(), r.db, nil),
	}
}

func (r *testRoot) agent() *Agent { return New(r.options()) }
