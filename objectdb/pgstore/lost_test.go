package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

var (
	patient = storetest.Patient
	put     = storetest.Put
	get     = storetest.Get
	addr    = storetest.Addr
)

// newRoot returns the DB of a new root, and its store.
func newRoot(t testing.TB, root string, o objectdb.Options) (*objectdb.DB, *store) {
	t.Helper()
	s, err := opened("create", root, o, (*store).create)
	require.NoError(t, err)
	db := objectdb.New(s, s.options)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, s
}

func reopen(t testing.TB, db *objectdb.DB, o objectdb.Options) *objectdb.DB {
	t.Helper()
	other, err := Open(db.Path(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	return other
}

// disconnect ends all connections of the server but its own.
const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE pid <> pg_backend_pid() AND application_name = 'scripter'`

// Each reason why a root cannot be opened has its own error.
func TestOpenErrors(t *testing.T) {
	root := newURL(t)
	quick := objectdb.Options{BusyTimeout: 50 * time.Millisecond}
	_, err := Open(root, quick)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "create it first")

	db, s := newRoot(t, root, patient)
	_, err = Create(root, quick)
	require.ErrorIs(t, err, fs.ErrExist)

	execute(t, server.Get(t), inSchema(`UPDATE @.info SET form = 99`, s.schema))
	_, err = Open(root, quick)
	require.ErrorIs(t, err, objectdb.ErrNewer)
	err = db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(addr(t, "x"), objectdb.Number(1)) })
	require.ErrorIs(t, err, objectdb.ErrNewer, "of a program that had it open")
	execute(t, server.Get(t), inSchema(`UPDATE @.info SET form = 2`, s.schema))

	readOnly, err := Open(root, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer readOnly.Close()
	err = readOnly.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(addr(t, "x"), objectdb.Number(1)) })
	require.ErrorIs(t, err, objectdb.ErrReadOnly)

	_, err = Open("postgres://ada:s3cret@/site?host="+url.QueryEscape(t.TempDir()), quick)
	require.ErrorIs(t, err, objectdb.ErrUnreachable)
	require.NotContains(t, err.Error(), "s3cret")

	_, err = Open(strings.Replace(root, "/postgres?", "/missing?", 1), quick)
	require.ErrorContains(t, err, `database "missing" does not exist`)

	_, err = db.Save(t.Context(), objectdb.SaveOptions{})
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// A transaction whose connection is lost is run again, if it has not committed anything.
func TestLostConnections(t *testing.T) {
	db, _ := newRoot(t, newURL(t), patient)
	put(t, db, "n", objectdb.Number(0))
	runs := 0
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		if runs++; runs == 1 {
			execute(t, server.Get(t), disconnect)
		}
		_, err := tx.List(objectdb.Address{}) // not in the cache
		return errors.Join(err, storetest.Increment(tx, addr(t, "n")))
	}))
	assert.Equal(t, 2, runs)
	storetest.RequireEqual(t, objectdb.Number(1), get(t, db, "n"))

	// The connections of the pool are lost between transactions.
	for range 3 {
		execute(t, server.Get(t), disconnect)
		storetest.RequireEqual(t, objectdb.Number(1), get(t, db, "n"))
	}
	execute(t, server.Get(t), disconnect)
	put(t, db, "n", objectdb.Number(2))

	// The lock is lost with the connection that held it.
	other := reopen(t, db, patient)
	runs = 0
	require.NoError(t, db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
		execute(t, server.Get(t), disconnect)
		put(t, other, "other", objectdb.Number(1))
		return nil
	}))
	err := db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
		if err := tx.Put(addr(t, "lost"), objectdb.Number(1)); err != nil {
			return err
		}
		execute(t, server.Get(t), disconnect)
		put(t, other, "other", objectdb.Number(2))
		return nil
	})
	require.ErrorIs(t, err, objectdb.ErrUnreachable)
	storetest.View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "n other", storetest.Names(t, tx, "")) })
	storetest.RequireSound(t, db)
}

// cutter is a server in front of the real one that cuts all connections in the middle of a commit.
type cutter struct {
	net.Listener
	mu     sync.Mutex
	conns  []net.Conn
	before bool // cut the next commit before the server gets it
	after  bool // cut it before the client gets the answer
	end    bool // accept no connection after the cut
}

// newCutter returns a cutter and the URL of the root behind it.
func newCutter(t *testing.T, root string) (*cutter, string) {
	t.Helper()
	u, err := url.Parse(root)
	require.NoError(t, err)
	query := u.Query()
	folder := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	require.NoError(t, err)
	c := &cutter{Listener: l}
	t.Cleanup(func() { l.Close() })
	behind := filepath.Join(query.Get("host"), ".s.PGSQL.5432")
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(client, behind)
		}
	}()
	query.Set("host", folder)
	u.RawQuery = query.Encode()
	return c, u.String()
}

func (c *cutter) serve(client net.Conn, behind string) {
	c.mu.Lock()
	c.conns = append(c.conns, client)
	c.mu.Unlock()
	defer client.Close()
	server, err := net.Dial("unix", behind)
	if err != nil {
		return
	}
	defer server.Close()
	var silent sync.Mutex
	muted := false
	go func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			silent.Lock()
			quiet := muted
			silent.Unlock()
			if quiet { // the server has answered the commit
				c.cutAll()
				return
			}
			if n > 0 {
				if _, err := client.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		before, after := c.cuts(buf[:n])
		if before {
			c.cutAll()
			return
		}
		if after {
			silent.Lock()
			muted = true
			silent.Unlock()
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cuts reports whether what the client sends is a commit that must be cut.
func (c *cutter) cuts(sent []byte) (before, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	digest := sha256.Sum256([]byte(commit))
	// The statement is bound, and not just prepared.
	if !bytes.Contains(sent, []byte(hex.EncodeToString(digest[:24]))) || bytes.Contains(sent, []byte(commit+"\x00")) {
		return false, false
	}
	before, after = c.before, c.after
	c.before, c.after = false, false
	return before, after
}

func (c *cutter) cutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.conns {
		client.Close()
	}
	c.conns = nil
	if c.end {
		c.Close()
	}
}

func (c *cutter) cut(before, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.after = before, after
}

// If the connection is lost in the middle of a commit, the session finds out whether it was made.
func TestLostInACommit(t *testing.T) {
	direct, _ := newRoot(t, newURL(t), patient)
	for _, relaxed := range []bool{true, false} {
		c, root := newCutter(t, direct.Path())
		db, err := Open(root, objectdb.Options{Relaxed: relaxed, BusyTimeout: patience, LockTime: patience})
		require.NoError(t, err)
		want := 0
		raise := func() (runs int, err error) {
			err = db.Update(t.Context(), func(tx *objectdb.Tx) error {
				runs++
				return storetest.Increment(tx, addr(t, "n"))
			})
			return runs, err
		}
		require.NoError(t, direct.Update(t.Context(), func(tx *objectdb.Tx) error {
			return tx.Put(addr(t, "n"), objectdb.Number(0))
		}))
		for i, step := range []struct {
			before, after bool
			runs          int
		}{{false, false, 1}, {true, false, 2}, {false, true, 1}, {false, false, 1}, {true, false, 2}, {false, true, 1}} {
			c.cut(step.before, step.after)
			runs, err := raise()
			require.NoError(t, err)
			assert.Equal(t, step.runs, runs, i)
			want++
			storetest.RequireEqual(t, objectdb.Number(want), get(t, direct, "n"))
			storetest.RequireEqual(t, objectdb.Number(want), get(t, db, "n"))
		}
		require.NoError(t, db.Close())
	}

	// The server does not come back.
	c, root := newCutter(t, direct.Path())
	db, err := Open(root, objectdb.Options{BusyTimeout: 50 * time.Millisecond})
	require.NoError(t, err)
	defer db.Close()
	put(t, db, "n", objectdb.Number(1))
	c.end = true
	c.cut(false, true)
	runs := 0
	err = db.Update(t.Context(), func(tx *objectdb.Tx) error {
		runs++
		return tx.Put(addr(t, "n"), objectdb.Number(2))
	})
	require.ErrorIs(t, err, objectdb.ErrUnknown)
	assert.Equal(t, 1, runs)
	storetest.RequireSound(t, direct)
}

// A commit without the lock is refused, if another one has its generation.
func TestFence(t *testing.T) {
	db, s := newRoot(t, newURL(t), patient)
	put(t, db, "n", objectdb.Number(1))
	for _, sql := range []string{
		`INSERT INTO @.commits SELECT generation + 1, 0, last_id, NULL, NULL, reverted, reach, reach_time, thinned, past_bytes
			FROM @.commits ORDER BY generation DESC LIMIT 1`,
		`DELETE FROM @.commits WHERE generation = (SELECT max(generation) FROM @.commits)`,
	} {
		err := db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
			execute(t, server.Get(t), inSchema(sql, s.schema))
			return tx.Put(addr(t, "n"), objectdb.Number(2))
		})
		require.ErrorIs(t, err, objectdb.ErrConflict)
		storetest.RequireEqual(t, objectdb.Number(1), get(t, db, "n"))
	}
}

// A server that has lost commits is noticed by whoever has seen them.
func TestLostCommits(t *testing.T) {
	db, s := newRoot(t, newURL(t), patient)
	put(t, db, "n", objectdb.Number(1), "t.a", objectdb.Number(1))
	tables := []string{"commits", "object", "past", "change", "replaced"}
	for _, name := range tables {
		execute(t, server.Get(t), inSchema(`CREATE TABLE @.then_`+name+` AS SELECT * FROM @.`+name, s.schema))
	}
	putLong := func(db *objectdb.DB, letter string) {
		put(t, db, "long", objectdb.Text(strings.Repeat(letter, int(objectdb.WholeValue)+1)))
	}
	other := reopen(t, db, patient)
	for lost := range 4 { // as many commits are lost
		for i := range lost {
			put(t, db, "n", objectdb.Number(100+i), "t.b", objectdb.Number(1))
			putLong(db, "a")
		}
		for range 2 {
			storetest.RequireSame(t, db, other)
		}
		for _, name := range tables {
			back := `TRUNCATE @.` + name + `; INSERT INTO @.` + name + ` SELECT * FROM @.then_` + name
			execute(t, server.Get(t), inSchema(back, s.schema))
		}
		third := reopen(t, db, patient)
		for i := range lost { // they get the same generations and ids
			put(t, third, "n", objectdb.Number(200+i), "t.c", objectdb.Number(2))
			putLong(third, "b")
		}
		for _, db := range []*objectdb.DB{db, other} {
			for range 2 {
				storetest.RequireSame(t, third, db)
			}
		}
	}

	// A transaction that has read what is lost is run again.
	runs := 0
	put(t, db, "n", objectdb.Number(1))
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		runs++
		if err := storetest.Increment(tx, addr(t, "n")); err != nil || runs > 1 {
			return err
		}
		const another = `UPDATE @.commits SET stamp = 0 WHERE generation = (SELECT max(generation) FROM @.commits)`
		execute(t, server.Get(t), inSchema(another, s.schema))
		return nil
	}))
	assert.Equal(t, 2, runs)
}

// What a commit has returned is there after a crash of the server; a relaxed commit need not be.
func TestCrash(t *testing.T) {
	// Nothing but commits lets the server write its WAL to the disk.
	s := postgrestest.New(t, "wal_writer_delay=10s")
	defer s.Remove()
	root := s.URL("")
	db, err := Create(root, patient)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	crash := func(relaxed bool, n int) (lost bool) {
		db, err := Open(root, objectdb.Options{Relaxed: relaxed, BusyTimeout: patience})
		require.NoError(t, err)
		put(t, db, "n", objectdb.Number(n))
		s.Crash()
		require.NoError(t, s.Start())
		storetest.View(t, db, func(tx *objectdb.Tx) {
			v, err := tx.Get(addr(t, "n"))
			lost = err != nil || v != objectdb.Number(n)
		})
		storetest.RequireSound(t, db)
		require.NoError(t, db.Close())
		return lost
	}
	for n := range 3 {
		require.False(t, crash(false, n))
	}
	for n := range 20 { // the server may write its WAL at any time
		if crash(true, 10+n) {
			return
		}
	}
	require.Fail(t, "no relaxed commit was lost: the test shows nothing")
}

// A host that dies with the lock, or loses its network, does not block the others.
func TestTheLockOfADeadHost(t *testing.T) {
	root := newURL(t)
	db, _ := newRoot(t, root, patient)
	hung, err := Open(root, objectdb.Options{LockTime: 100 * time.Millisecond})
	require.NoError(t, err)
	done := make(chan struct{})
	held := make(chan struct{})
	go func() {
		defer close(done)
		_ = hung.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
			close(held)
			storetest.Update(t, db, func(tx *objectdb.Tx) { assert.NoError(t, tx.Put(addr(t, "n"), objectdb.Number(1))) })
			return fmt.Errorf("it has waited until the server took the lock away")
		})
	}()
	<-held
	<-done
	storetest.RequireEqual(t, objectdb.Number(1), get(t, db, "n"))
	require.NoError(t, hung.Close())
}

const patience = storetest.Patience
