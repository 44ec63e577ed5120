package sqlitestore

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// crowdVariable tells a process of a crowd what to do; it prints a crowdReport.
const crowdVariable = "OBJECTDB_TEST_CROWD"

type crowdOrder struct {
	Path     string
	Times    int
	Counters int // raised in no order
}

type crowdReport struct {
	Waits []time.Duration // of each step, from its call to its return
	Again int             // steps that were run a second time
	Error string
}

// counters returns the addresses of n counters, a hundred in a table.
func counters(n int) []objectdb.Address {
	list := make([]objectdb.Address, n)
	for i := range list {
		list[i] = objectdb.Address{"user", fmt.Sprint("table", i/100), fmt.Sprint("counter", i%100)}
	}
	return list
}

// joinCrowd raises counters as the gateway's workers do: a step that lost a race
// within the last second begins with the lock.
func joinCrowd(order string) {
	var o crowdOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		panic(err)
	}
	db, err := Open(o.Path, objectdb.Options{BusyTimeout: patience, LockTime: patience})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = io.ReadAll(os.Stdin) // until all are ready
	var r crowdReport
	lost := map[int]time.Time{}
	list := counters(o.Counters)
	for range o.Times {
		i := rand.N(o.Counters)
		start := time.Now()
		run := db.Update
		if start.Sub(lost[i]) < time.Second {
			run = db.UpdateLocked
		}
		runs := 0
		err := run(context.Background(), func(tx *objectdb.Tx) error {
			if runs++; runs > 1 {
				lost[i] = start
				r.Again++
			}
			return increment(tx, list[i])
		})
		r.Waits = append(r.Waits, time.Since(start))
		if err != nil {
			r.Error = err.Error()
			break
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
	os.Exit(0)
}

// crowd starts n processes that raise counters, so many times in all, and returns their
// reports as one.
func crowd(t testing.TB, path string, n, times, counters int) (all crowdReport, took time.Duration) {
	t.Helper()
	var ready, done sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range n {
		share := times / n
		if i < times%n {
			share++
		}
		order, err := json.Marshal(crowdOrder{path, share, counters})
		require.NoError(t, err)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crowdVariable+"="+string(order))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		ready.Add(1)
		done.Go(func() {
			lines := bufio.NewReader(out)
			line, err := lines.ReadString('\n')
			ready.Done()
			<-start
			in.Close()
			var r crowdReport
			if err == nil {
				err = json.NewDecoder(lines).Decode(&r)
			}
			if failed := cmd.Wait(); err != nil || failed != nil || r.Error != "" {
				t.Errorf("a process of the crowd: %s %v %v %s", line, err, failed, r.Error)
			}
			mu.Lock()
			defer mu.Unlock()
			all.Waits = append(all.Waits, r.Waits...)
			all.Again += r.Again
		})
	}
	ready.Wait()
	from := time.Now()
	close(start)
	done.Wait()
	took = time.Since(from)
	require.Len(t, all.Waits, times)
	slices.Sort(all.Waits)
	return all, took
}

// sum adds all counters.
func sum(t testing.TB, db *objectdb.DB, n int) (total objectdb.Number) {
	t.Helper()
	view(t, db, func(tx *objectdb.Tx) {
		for _, a := range counters(n) {
			if v, err := tx.Get(a); !errors.Is(err, objectdb.ErrNotFound) {
				require.NoError(t, err)
				total += v.(objectdb.Number)
			}
		}
	})
	return total
}

// Catalogue: C1
func TestManyProcessesWaitForTheLock(t *testing.T) {
	for _, n := range []int{1, 50} {
		t.Run(fmt.Sprint("counters=", n), func(t *testing.T) {
			db := openRootWith(t, objectdb.Options{})
			_, _ = crowd(t, db.Path(), 16, 480, n)
			assert.Equal(t, objectdb.Number(480), sum(t, db, n))
		})
	}
}

// BenchmarkCounterOfProcesses raises counters in several processes; each step is on the disk
// when it returns. The metrics are the rate, the waits, and how many of a hundred steps ran
// twice.
func BenchmarkCounterOfProcesses(b *testing.B) {
	for _, counters := range []int{1, 10_000} {
		for _, n := range []int{1, 4, 8, 16} {
			b.Run(fmt.Sprintf("counters=%d/processes=%d", counters, n), func(b *testing.B) {
				db, err := Create(b.TempDir()+"/bench.root", objectdb.Options{})
				require.NoError(b, err)
				defer db.Close()
				all, took := crowd(b, db.Path(), n, b.N, counters)
				b.ReportMetric(float64(b.N)/took.Seconds(), "steps/s")
				for name, place := range map[string]int{"p50-ms": b.N / 2, "p99-ms": b.N * 99 / 100, "max-ms": b.N - 1} {
					b.ReportMetric(all.Waits[place].Seconds()*1000, name)
				}
				b.ReportMetric(float64(all.Again)/float64(b.N)*100, "%again")
				b.ReportMetric(0, "ns/op")
				require.Equal(b, objectdb.Number(b.N), sum(b, db, counters))
			})
		}
	}
}
