package pgstore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
)

// transact is DB.Update or DB.UpdateRecent.
type transact func(context.Context, func(*objectdb.Tx) error) error

// host returns a DB of a root, whose page is at path, and its store.
func host(t testing.TB, root, path string) (*objectdb.DB, *store) {
	t.Helper()
	s, err := opened("open", root, patient, (*store).firstRead)
	require.NoError(t, err)
	s.poller.path = path
	db := objectdb.New(s, s.options)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, s
}

// number returns the number that a transaction reads.
func number(t testing.TB, run transact, name string) (n float64) {
	t.Helper()
	require.NoError(t, run(context.Background(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(addr(t, name))
		n = float64(v.(objectdb.Number))
		return err
	}))
	return n
}

// polls waits until the next transaction of a store needs no round trip.
func polls(t testing.TB, db *objectdb.DB, s *store, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		before := s.pool.Stat().AcquireCount()
		number(t, db.UpdateRecent, name)
		return s.pool.Stat().AcquireCount() == before
	}, patience, time.Millisecond)
}

// What a host has committed is seen by all others at most MaxAge later, and at once by those that ask for the newest
// state and by the same host.
func TestEditsAcrossHosts(t *testing.T) {
	edits := 150
	if testing.Short() {
		edits = 30
	}
	root := newURL(t)
	first, _ := newRoot(t, root, patient)
	put(t, first, "n", objectdb.Number(0))
	const hosts = 3
	var dbs [hosts]*objectdb.DB
	var neighbour [hosts]*objectdb.DB // another process of the same host
	var stores [hosts]*store
	for i := range hosts {
		path := filepath.Join(t.TempDir(), "newest")
		dbs[i], stores[i] = host(t, root, path)
		neighbour[i], _ = host(t, root, path)
		polls(t, dbs[i], stores[i], "n")
	}
	var committed [100000]atomic.Int64 // when Update had returned; by the number
	var newest atomic.Int64            // of these
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers sync.WaitGroup
	var unseen [hosts][]time.Duration // how old each edit of another host was when a read began that did not see it
	var trips, reads atomic.Int64
	for i, db := range dbs {
		readers.Go(func() {
			last, before := int64(0), int64(0) // the last edit that was seen, and when that read began
			acquired := stores[i].pool.Stat().AcquireCount()
			for ctx.Err() == nil {
				oldest := int64(0) // that may be seen
				begun := clock()
				for k := newest.Load(); k > 0 && oldest == 0; k-- {
					if begun-committed[k].Load() > int64(objectdb.MaxAge) {
						oldest = k
					}
				}
				n := int64(number(t, db.UpdateRecent, "n"))
				if !assert.GreaterOrEqual(t, n, oldest, "it is too old") || !assert.GreaterOrEqual(t, n, last) {
					return
				}
				for ; last < n; last++ {
					if at := committed[last+1].Load(); at > 0 && (last+1)%hosts != int64(i) {
						unseen[i] = append(unseen[i], time.Duration(max(0, before-at)))
					}
				}
				before = begun
				reads.Add(1)
				time.Sleep(time.Millisecond)
			}
			trips.Add(stores[i].pool.Stat().AcquireCount() - acquired)
		})
	}
	for k := int64(1); k <= int64(edits) && !t.Failed(); k++ {
		i := k % hosts
		require.NoError(t, dbs[i].Update(t.Context(), func(tx *objectdb.Tx) error {
			return tx.Put(addr(t, "n"), objectdb.Number(k))
		}))
		committed[k].Store(clock())
		newest.Store(k)
		require.EqualValues(t, k, number(t, dbs[i].UpdateRecent, "n"), "its own commit")
		require.EqualValues(t, k, number(t, neighbour[i].UpdateRecent, "n"), "the commit of another process of the host")
		if k%10 == 0 {
			require.EqualValues(t, k, number(t, dbs[(i+1)%hosts].Update, "n"), "the newest state")
		}
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(2 * objectdb.MaxAge)
	stop()
	readers.Wait()
	all := slices.Concat(unseen[:]...)
	slices.Sort(all)
	if len(all) > 0 {
		t.Logf("%d edits were seen by each read that began p50 %v, p100 %v later; %d of %d reads had a session", len(all),
			all[len(all)/2], all[len(all)-1], trips.Load(), reads.Load())
	}
	assert.Less(t, trips.Load(), reads.Load()/2, "most reads need no round trip")
}

// With fresh=strict, no transaction begins with a state that is not the newest.
func TestStrict(t *testing.T) {
	root := newURL(t)
	db, _ := newRoot(t, root, patient)
	put(t, db, "n", objectdb.Number(0))
	strict, s := host(t, root+"&fresh=strict", filepath.Join(t.TempDir(), "newest"))
	for k := range 50 {
		put(t, db, "n", objectdb.Number(k))
		require.EqualValues(t, k, number(t, strict.UpdateRecent, "n"))
	}
	assert.Nil(t, s.poller.page.Load(), "it does not poll")
	_, err := Open(root+"&fresh=sometimes", patient)
	require.ErrorContains(t, err, "fresh")
}

const pollsFor = "SCRIPTER_TEST_POLLS_FOR" // a root and the path of a page

// pollUntilKilled is the process that TestPollerKilled kills. It writes a line when it polls.
func pollUntilKilled(root, path string) {
	s, err := opened("open", root, patient, (*store).firstRead)
	if err != nil {
		panic(err)
	}
	s.poller.path = path
	for {
		if _, ok := s.Newest(0, true); !ok { // nor later, because no session has told it a stamp
			pg := s.poller.page.Load()
			if _, known := pg.read(clock(), objectdb.MaxAge); known {
				fmt.Println("polls")
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// If the process that polls for its host is killed, another one polls.
func TestPollerKilled(t *testing.T) {
	root := newURL(t)
	db, _ := newRoot(t, root, patient)
	put(t, db, "n", objectdb.Number(1))
	path := filepath.Join(t.TempDir(), "newest")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), pollsFor+"="+root+" "+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	kill := sync.OnceFunc(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	defer kill()
	_, err = out.Read(make([]byte, 6))
	require.NoError(t, err)

	other, s := host(t, root, path)
	polls(t, other, s, "n")
	for range 20 { // without polling itself
		time.Sleep(5 * time.Millisecond)
		number(t, other.UpdateRecent, "n")
		_, free := s.poller.page.Load().tryOwn()
		require.False(t, free)
	}
	kill()
	time.Sleep(2 * objectdb.MaxAge)
	polls(t, other, s, "n")
	put(t, db, "n", objectdb.Number(2))
	require.Eventually(t, func() bool { return number(t, other.UpdateRecent, "n") == 2 }, patience, time.Millisecond)
	other2, err := openPage(path)
	require.NoError(t, err)
	_, free := other2.tryOwn()
	require.False(t, free, "it polls now")
}

// While the server is away, the newest generation is not known after MaxAge. When it is back, the poller is, too.
func TestPollerWithoutServer(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	defer server.Remove()
	root := server.URL("host_folder=" + url.QueryEscape(t.TempDir()))
	db, err := Create(root, objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	put(t, db, "n", objectdb.Number(1))
	s, err := opened("open", root, objectdb.Options{BusyTimeout: 100 * time.Millisecond}, (*store).firstRead)
	require.NoError(t, err)
	quick := objectdb.New(s, s.options)
	defer quick.Close()
	polls(t, quick, s, "n")
	server.Stop()
	time.Sleep(objectdb.MaxAge)
	for range 3 {
		err = quick.UpdateRecent(t.Context(), func(tx *objectdb.Tx) error { return nil })
		require.ErrorIs(t, err, objectdb.ErrUnreachable)
	}
	require.NoError(t, server.Start())
	require.Equal(t, 1.0, number(t, db.Update, "n"))
	polls(t, quick, s, "n")
}

// A poller stops when nobody asks, and begins again when somebody does.
func TestPollerRests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "newest")
	db, s := newRoot(t, newURL(t), patient)
	s.poller.path = path
	put(t, db, "n", objectdb.Number(1))
	polls(t, db, s, "n")
	other, err := openPage(path)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		other.guarded(func(w *pageWords) { w.asked.Store(1) })
		give, free := other.tryOwn()
		if free {
			give()
		}
		return free
	}, patience, 10*time.Millisecond)
	polls(t, db, s, "n")
}
