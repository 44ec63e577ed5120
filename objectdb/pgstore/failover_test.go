package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// ask returns what a query returns, as one text.
func ask(t testing.TB, s *postgrestest.Server, sql string) (text string) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), s.URL(""))
	require.NoError(t, err)
	defer c.Close(context.Background())
	require.NoError(t, c.QueryRow(context.Background(), sql).Scan(&text))
	return text
}

// newPair returns a server, its standby, and the URL of a root that is on both.
func newPair(t testing.TB) (primary, other *postgrestest.Server, root string) {
	t.Helper()
	primary = postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(primary.Remove)
	other = primary.NewStandby(t)
	t.Cleanup(other.Remove)
	root = postgrestest.URL("target_session_attrs=read-write&host_folder="+url.QueryEscape(t.TempDir()), primary, other)
	return primary, other, root
}

// caughtUp waits until the standby has all that the server has.
func caughtUp(t testing.TB, primary *postgrestest.Server) {
	t.Helper()
	require.Eventually(t, func() bool {
		return ask(t, primary, `SELECT (count(*) FILTER (WHERE replay_lsn >= pg_current_wal_insert_lsn()) = 1)::text
			FROM pg_stat_replication`) == "true"
	}, patience, 10*time.Millisecond)
}

// If a standby takes over without the last commits, a program that has seen them drops its caches, and no later answer
// shows them.
func TestFailoverThatLosesCommits(t *testing.T) {
	primary, other, root := newPair(t)
	db, _ := newRoot(t, root, patient)
	put(t, db, "n", objectdb.Number(1), "t.a", objectdb.Number(1))
	caughtUp(t, primary)
	other.Stop()

	var hosts []*objectdb.DB
	for range 3 {
		host, s := host(t, root, filepath.Join(t.TempDir(), "newest"))
		hosts = append(hosts, host)
		polls(t, host, s, "n")
	}
	for k := range 3 { // what will be lost
		put(t, db, "n", objectdb.Number(1000+k), "t.lost", objectdb.Number(k))
	}
	for _, db := range hosts {
		require.EqualValues(t, 1002, number(t, db.Update, "n"))
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var crashed atomic.Int64
	var readers sync.WaitGroup
	for _, db := range hosts {
		readers.Go(func() {
			for ctx.Err() == nil {
				begun := clock()
				var v objectdb.Value
				err := db.UpdateRecent(ctx, func(tx *objectdb.Tx) (err error) {
					v, err = tx.Get(addr(t, "n"))
					return err
				})
				if ctx.Err() != nil {
					return
				}
				at := crashed.Load()
				if !assert.NoError(t, err) || at > 0 && begun-at > int64(objectdb.MaxAge) &&
					!assert.Less(t, v, objectdb.Number(1000), "a value that was lost") {
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	primary.Crash()
	crashed.Store(clock())
	require.NoError(t, other.Start())
	require.NoError(t, other.Promote())

	third := reopen(t, db, patient)
	for k := range 4 { // they get the generations and ids of those that were lost
		put(t, third, "n", objectdb.Number(10+k), "t.new", objectdb.Number(k))
	}
	time.Sleep(100 * time.Millisecond)
	stop()
	readers.Wait()
	for _, db := range append(hosts, db) {
		storetest.RequireSame(t, third, db)
		require.EqualValues(t, 13, number(t, db.UpdateRecent, "n"))
	}
	storetest.RequireSound(t, db)
}

// With a synchronous standby, no commit that was answered is lost when the standby takes over in the middle.
func TestFailoverToASynchronousStandby(t *testing.T) {
	primary, other, root := newPair(t)
	db, _ := newRoot(t, root, patient)
	put(t, db, "n", objectdb.Number(0))
	execute(t, primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
	execute(t, primary, `SELECT pg_reload_conf()`)
	require.Eventually(t, func() bool {
		return ask(t, primary, `SELECT (count(*) = 1)::text FROM pg_stat_replication WHERE sync_state = 'sync'`) == "true"
	}, patience, 10*time.Millisecond)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var done, unknown atomic.Int64
	var writers sync.WaitGroup
	for range 4 {
		db := reopen(t, db, objectdb.Options{BusyTimeout: patience, LockTime: patience}) // not Relaxed
		writers.Go(func() {
			for ctx.Err() == nil {
				// Not the context of the test, which would leave outcomes open.
				err := db.Update(context.Background(), func(tx *objectdb.Tx) error { return storetest.Increment(tx, addr(t, "n")) })
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, objectdb.ErrUnknown):
					unknown.Add(1)
				case !errors.Is(err, objectdb.ErrUnreachable):
					assert.NoError(t, err)
					return
				}
			}
		})
	}
	require.Eventually(t, func() bool { return done.Load() > 100 }, patience, time.Millisecond)
	primary.Crash()
	require.NoError(t, other.Promote())
	execute(t, other, `ALTER SYSTEM RESET synchronous_standby_names`)
	execute(t, other, `SELECT pg_reload_conf()`)
	before := done.Load()
	require.Eventually(t, func() bool { return done.Load() > before+100 }, patience, time.Millisecond)
	stop()
	writers.Wait()
	n := int64(number(t, db.Update, "n"))
	assert.GreaterOrEqual(t, n, done.Load())
	assert.LessOrEqual(t, n, done.Load()+unknown.Load())
	storetest.RequireSound(t, db)
}

// A root on a standby can be read.
func TestStandby(t *testing.T) {
	primary, other, root := newPair(t)
	db, _ := newRoot(t, root, patient)
	put(t, db, "n", objectdb.Number(1))
	caughtUp(t, primary)
	reader, s := host(t, other.URL(""), filepath.Join(t.TempDir(), "newest"))
	require.EqualValues(t, 1, number(t, reader.View, "n"))
	polls(t, reader, s, "n")
	err := reader.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(addr(t, "n"), objectdb.Number(2)) })
	require.ErrorIs(t, err, objectdb.ErrReadOnly)
	require.ErrorContains(t, err, "the server is a standby")
	put(t, db, "n", objectdb.Number(3))
	require.Eventually(t, func() bool { return number(t, reader.UpdateRecent, "n") == 3 }, patience, time.Millisecond)
}

// If the server has no more connections, a transaction waits for one, and then says so.
func TestMaxConnections(t *testing.T) {
	server := postgrestest.New(t, append(postgrestest.Fast, "max_connections=8")...)
	defer server.Remove()
	root := server.URL("")
	db, err := Create(root, objectdb.Options{})
	require.NoError(t, err)
	put(t, db, "n", objectdb.Number(1))
	require.NoError(t, db.Close())

	var taken []*pgx.Conn
	defer func() {
		for _, c := range taken {
			c.Close(context.Background())
		}
	}()
	for full := false; !full; {
		c, err := pgx.Connect(t.Context(), root)
		if full = err != nil; !full {
			taken = append(taken, c)
		}
	}
	_, err = Open(root, objectdb.Options{BusyTimeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, objectdb.ErrBusy)
	require.ErrorContains(t, err, "the server has no more connections")

	free := time.AfterFunc(100*time.Millisecond, func() { taken[0].Close(context.Background()) })
	defer free.Stop()
	db, err = Open(root, patient)
	require.NoError(t, err)
	defer db.Close()
	require.EqualValues(t, 1, number(t, db.Update, "n"))
}

const holdsLockOf = "SCRIPTER_TEST_HOLDS_LOCK_OF"

// holdLock is the process that TestDeadHost stops.
func holdLock(root string) {
	db, err := Open(root, objectdb.Options{})
	if err == nil {
		err = db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
			fmt.Println("held")
			time.Sleep(patience)
			return nil
		})
	}
	panic(fmt.Sprint("it was to be killed: ", err))
}

// A host that hangs with the writer's lock holds up the others for three seconds, and one that dies, not at all.
func TestDeadHost(t *testing.T) {
	root := newURL(t)
	db, _ := newRoot(t, root, patient)
	for signal, most := range map[syscall.Signal]time.Duration{syscall.SIGSTOP: 20 * time.Second, syscall.SIGKILL: 3 * time.Second} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), holdsLockOf+"="+root)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		kill := sync.OnceFunc(func() {
			_ = child.Process.Kill()
			_ = child.Wait()
		})
		defer kill()
		_, err = out.Read(make([]byte, 5))
		require.NoError(t, err)
		require.NoError(t, child.Process.Signal(signal))
		begun := time.Now()
		put(t, db, "n", objectdb.Number(1))
		waited := time.Since(begun)
		assert.Less(t, waited, most, signal)
		if signal == syscall.SIGSTOP {
			assert.Greater(t, waited, time.Second, "it held the lock")
		}
		kill()
		put(t, db, "n", objectdb.Number(2))
	}
	storetest.RequireSound(t, db)
}

// A server that does not answer any more, as when its host is gone, is given up after BusyTimeout.
func TestSilentServer(t *testing.T) {
	root := newURL(t) + "&application_name=silent"
	db, _ := newRoot(t, root, objectdb.Options{BusyTimeout: 200 * time.Millisecond})
	put(t, db, "n", objectdb.Number(1))
	signal := func(sig syscall.Signal, pids []string) {
		for _, text := range pids {
			pid, err := strconv.Atoi(text)
			require.NoError(t, err)
			_ = syscall.Kill(pid, sig) // it may have ended
		}
	}
	for _, run := range []transact{db.View, db.Update, db.UpdateLocked} {
		pids := strings.Fields(ask(t, server.Get(t),
			`SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE application_name = 'silent'`))
		signal(syscall.SIGSTOP, pids)
		begun := time.Now()
		err := run(t.Context(), func(tx *objectdb.Tx) error { return nil })
		waited := time.Since(begun)
		signal(syscall.SIGCONT, pids)
		require.ErrorIs(t, err, objectdb.ErrUnreachable)
		require.ErrorContains(t, err, "has not answered")
		require.Less(t, waited, 20*time.Second)
		require.Eventually(t, func() bool { // on another connection
			return db.View(t.Context(), func(tx *objectdb.Tx) error { return nil }) == nil
		}, patience, time.Millisecond)
	}
}
