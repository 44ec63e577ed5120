package sqlitestore

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Processes write two numbers in one transaction, and are killed: readers never see two that
// differ, nor numbers older than an acknowledged commit.
func TestReadersWhileWritersAreKilled(t *testing.T) {
	db, err := Create(filepath.Join(t.TempDir(), "a.root"), patient)
	require.NoError(t, err)
	defer db.Close()
	put(t, db, "a.n", objectdb.Number(0), "b.n", objectdb.Number(0))
	for i := range 3 {
		put(t, db, "a.n", objectdb.Number(0), "b.n", objectdb.Number(0))
		var said atomic.Int64 // the number that was acknowledged last
		ended := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
					}
					least := said.Load()
					var a, b objectdb.Value
					assert.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) (err error) {
						if a, err = tx.Get(objectdb.Address{"a", "n"}); err != nil {
							return err
						}
						time.Sleep(rand.N(300 * time.Microsecond))
						b, err = tx.Get(objectdb.Address{"b", "n"})
						return err
					}))
					assert.Equal(t, a, b)
					assert.GreaterOrEqual(t, float64(a.(objectdb.Number)), float64(least))
				}
			})
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashVariable+"="+db.Path())
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		killed := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var n int64
			_, err := fmt.Sscan(lines.Text(), &n)
			require.NoError(t, err, lines.Text())
			said.Store(n)
			if !killed {
				killed = true
				time.AfterFunc(time.Duration(50+37*i)*time.Millisecond, func() { cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		assert.True(t, killed)
		close(ended)
		readers.Wait()
	}
	requireSound(t, db)
}
