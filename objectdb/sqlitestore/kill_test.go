package sqlitestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const stepVariable = "OBJECTDB_TEST_STEP"

// stepForever raises the common counter and its own, and prints its own after each commit.
func stepForever(path string) {
	own := objectdb.Address{"by", os.Getenv(stepVariable + "_NAME")}
	db, err := Open(path, objectdb.Options{BusyTimeout: patience, LockTime: patience})
	for i := 0; err == nil; i++ {
		run := db.Update
		if i%3 == 0 {
			run = db.UpdateLocked
		}
		var now objectdb.Value
		err = run(context.Background(), func(tx *objectdb.Tx) error {
			err := errors.Join(increment(tx, objectdb.Address{"all"}), increment(tx, own))
			if err == nil {
				now, err = tx.Get(own)
			}
			return err
		})
		if err == nil {
			fmt.Println(float64(now.(objectdb.Number)))
		}
	}
	fmt.Println(err)
	if errors.Is(err, objectdb.ErrDamaged) { // it reads on, until it is killed
		time.Sleep(time.Hour)
	}
	os.Exit(1)
}

// Sixteen processes write and one saves copies; all are killed at random, again and again.
// Each acknowledged step is found whole, and each copy is sound.
//
// Catalogue: P1, P2
func TestKilledAtRandom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, objectdb.Options{})
	require.NoError(t, err)
	put(t, db, "all", objectdb.Number(0))
	require.NoError(t, db.Close())

	const writers = 16
	said := make([]float64, writers) // the greatest number that each has acknowledged
	var mu sync.Mutex
	deadline := time.Now().Add(3 * time.Second * time.Duration(torture()))
	var all sync.WaitGroup
	live := func(i int, variable string) {
		for life := 0; life == 0 || time.Now().Before(deadline); life++ {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), variable+"="+path, stepVariable+"_NAME="+strconv.Itoa(i))
			out, err := cmd.StdoutPipe()
			if !assert.NoError(t, err) || !assert.NoError(t, cmd.Start()) {
				return
			}
			time.AfterFunc(time.Duration(100+rand.N(900))*time.Millisecond, func() { cmd.Process.Kill() })
			lines := bufio.NewReader(out)
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					assert.Equal(t, io.EOF, err)
					break // a truncated line acknowledges nothing
				}
				n, err := strconv.ParseFloat(line[:len(line)-1], 64)
				if !assert.NoError(t, err, line) {
					break
				}
				mu.Lock()
				assert.GreaterOrEqual(t, n, said[i])
				said[i] = n
				mu.Unlock()
			}
			_ = cmd.Wait()
		}
	}
	for i := range writers {
		all.Go(func() { live(i, stepVariable) })
	}
	all.Go(func() { live(0, saveVariable) })
	all.Wait()

	db, err = Open(path, objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	requireSound(t, db)
	var total objectdb.Number
	for i, n := range said {
		if n > 0 {
			v := get(t, db, fmt.Sprint("by.", i)).(objectdb.Number)
			assert.GreaterOrEqual(t, float64(v), n, "writer %d", i)
			total += v
		} else {
			view(t, db, func(tx *objectdb.Tx) {
				if v, err := tx.Get(objectdb.Address{"by", strconv.Itoa(i)}); err == nil {
					total += v.(objectdb.Number)
				}
			})
		}
	}
	assert.Positive(t, total)
	assert.Equal(t, total, get(t, db, "all"))
	t.Logf("%v steps of %d writers, killed again and again", total, writers)
	copies, err := Copies(path)
	require.NoError(t, err)
	for _, c := range copies {
		_, err := readAll(c.Path)
		require.NoError(t, err, c.Path)
	}
}
