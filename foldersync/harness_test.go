package foldersync

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
)

// pair is a root and a folder.
type pair struct {
	t    testing.TB
	db   *objectdb.DB
	root string
	dir  string
	at   objectdb.Address
	slow bool // see TestEditors
}

var site = objectdb.Address{"user", "site"}

func newPair(t testing.TB) *pair {
	p := &pair{t: t, root: filepath.Join(t.TempDir(), "site.root"), dir: filepath.Join(t.TempDir(), "files"), at: site}
	db, err := sqlitestore.Create(p.root, objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	p.db = db
	t.Cleanup(func() { db.Close() })
	p.update(func(tx *objectdb.Tx) error { return tx.NewTable(site) })
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	return p
}

func (p *pair) update(fn func(tx *objectdb.Tx) error) {
	p.t.Helper()
	require.NoError(p.t, p.db.Update(context.Background(), fn))
}

// put puts a value into the root, at names separated by "/".
func (p *pair) put(name string, v objectdb.Value) {
	p.t.Helper()
	p.update(func(tx *objectdb.Tx) error { return tx.Put(p.address(name), v) })
}

func (p *pair) address(name string) objectdb.Address {
	return append(append(objectdb.Address{}, p.at...), strings.Split(name, "/")...)
}

func (p *pair) delete(name string) {
	p.t.Helper()
	p.update(func(tx *objectdb.Tx) error { return tx.Delete(p.address(name)) })
}

// get returns a value of the root, or nil.
func (p *pair) get(name string) (v objectdb.Value) {
	p.t.Helper()
	require.NoError(p.t, p.db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
		if v, err = tx.Get(p.address(name)); errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrIsTable) {
			err = nil
		}
		return err
	}))
	return v
}

func (p *pair) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *pair) write(name, content string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o700))
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(content), 0o600))
}

func (p *pair) remove(name string) {
	p.t.Helper()
	require.NoError(p.t, os.Remove(p.path(name)))
}

// read returns the content of a file, or "(none)".
func (p *pair) read(name string) string {
	p.t.Helper()
	content, err := os.ReadFile(p.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	require.NoError(p.t, err)
	return string(content)
}

func (p *pair) options() Options {
	return Options{DB: p.db, Dir: p.dir, Address: p.at, Origin: objectdb.Origin{Who: "ada", Why: "sync"},
		Check: func(_ *objectdb.Tx, a objectdb.Address, s objectdb.Script) error {
			return lua.Check(a.String(), string(s), 1<<20)
		}}
}

// round does one sync.
func (p *pair) round(r Round) (*Result, error) {
	p.t.Helper()
	f, err := Open(p.options())
	require.NoError(p.t, err)
	defer f.Close()
	return f.Sync(context.Background(), r)
}

// sync does one sync and returns what it says, a line for each object.
func (p *pair) sync(r ...Round) []string {
	p.t.Helper()
	result, err := p.round(append(r, Round{})[0])
	require.NoError(p.t, err)
	return lines(result)
}

func lines(r *Result) []string {
	list := []string{}
	for _, x := range r.Taken {
		list = append(list, string(x.From)+" "+x.Change+" "+x.Path)
	}
	for _, x := range r.Conflicts {
		list = append(list, "conflict "+x.Path)
	}
	for _, x := range r.Problems {
		list = append(list, "problem "+x.Path)
	}
	for _, x := range r.Skipped {
		list = append(list, "skipped "+x.Path)
	}
	return list
}

// same checks that root and folder are the same: an export would change nothing.
func (p *pair) same() {
	p.t.Helper()
	require.NoError(p.t, p.db.View(context.Background(), func(tx *objectdb.Tx) error {
		plan, err := objectfiles.PlanExport(tx, p.at, p.dir)
		if err != nil {
			return err
		}
		defer plan.Close()
		assert.Empty(p.t, plan.Added)
		assert.Empty(p.t, plan.Replaced)
		assert.Empty(p.t, plan.Removed)
		assert.Empty(p.t, plan.InTheWay)
		assert.Empty(p.t, plan.Others)
		return nil
	}))
	entries, err := os.ReadDir(p.path(partFolder))
	require.NoError(p.t, err)
	assert.Empty(p.t, entries)
	assert.NoFileExists(p.t, p.path(begunFile))
}

// settle waits until files are no longer fresh.
func settle() { time.Sleep(settleTime + 10*time.Millisecond) }

// export exports the objects to another folder.
func (p *pair) export(to string) error {
	return p.db.View(context.Background(), func(tx *objectdb.Tx) error {
		plan, err := objectfiles.PlanExport(tx, p.at, to)
		if err != nil {
			return err
		}
		defer plan.Close()
		return plan.Do(false)
	})
}

func (p *pair) reopen() {
	p.t.Helper()
	db, err := sqlitestore.Open(p.root, objectdb.Options{Relaxed: true})
	require.NoError(p.t, err)
	p.db = db
	p.t.Cleanup(func() { db.Close() })
}

// copy copies root and folder.
func (p *pair) copy() *pair {
	p.t.Helper()
	q := &pair{t: p.t, root: filepath.Join(p.t.TempDir(), "site.root"), dir: filepath.Join(p.t.TempDir(), "files"), at: p.at}
	saved, err := p.db.Save(context.Background(), objectdb.SaveOptions{})
	require.NoError(p.t, err)
	require.NoError(p.t, os.Rename(saved.Path, q.root))
	require.NoError(p.t, os.CopyFS(q.dir, os.DirFS(p.dir)))
	settle()
	q.reopen()
	return q
}
