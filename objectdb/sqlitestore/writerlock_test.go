package sqlitestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const holdVariable = "OBJECTDB_TEST_HOLD"

// holdTheLock holds the writer's lock until it is killed.
func holdTheLock(path string) {
	db, err := Open(path, objectdb.Options{LockTime: -1})
	if err == nil {
		err = db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
			if err := tx.Put(objectdb.Address{"half"}, objectdb.Number(1)); err != nil {
				return err
			}
			fmt.Println("held")
			select {}
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

func startHolder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held\n", line)
	return cmd
}

// Catalogue: P8
func TestLockOfKilledWriterIsReleased(t *testing.T) {
	db := openRootWith(t, objectdb.Options{Relaxed: true, BusyTimeout: time.Minute})
	holder := startHolder(t, db.Path())
	done := make(chan error)
	go func() {
		done <- db.Update(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"x"}, objectdb.Number(1))
		})
	}()
	select {
	case err := <-done:
		t.Fatal("it did not wait: ", err)
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, holder.Process.Kill())
	require.NoError(t, <-done)
	view(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "x", names(t, tx, "")) })
}

// Catalogue: P8
func TestWaitForLockIsBounded(t *testing.T) {
	db := openRootWith(t, objectdb.Options{Relaxed: true, BusyTimeout: 50 * time.Millisecond})
	patient, err := Open(db.Path(), objectdb.Options{Relaxed: true, BusyTimeout: time.Minute})
	require.NoError(t, err)
	defer patient.Close()
	holder := startHolder(t, db.Path())
	write := func(tx *objectdb.Tx) error { return increment(tx, objectdb.Address{"x"}) }
	for range 3 { // the second and third find the wait of the first
		assert.ErrorIs(t, db.Update(context.Background(), write), objectdb.ErrBusy)
	}
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, patient.Update(short, write), context.DeadlineExceeded)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	// A writer that stopped waiting does not hold the lock.
	require.NoError(t, patient.Update(context.Background(), write))
	require.NoError(t, patient.Update(context.Background(), write))
	require.Eventually(t, func() bool {
		return db.Update(context.Background(), write) == nil
	}, 30*time.Second, time.Millisecond)
	requireEqual(t, objectdb.Number(3), get(t, db, "x"))
}

// inPlaceOf calls create after it has removed a file, which writers may make again meanwhile.
func inPlaceOf(path string, create func() error) error {
	for {
		_ = os.Remove(path)
		if err := create(); !errors.Is(err, os.ErrExist) {
			return err
		}
	}
}

// Commits are right even if the lock file is removed or replaced.
func TestLockFileRemoved(t *testing.T) {
	tests := []struct {
		name string
		do   func(path string) error
	}{
		{"removed", os.Remove},
		{"another", func(path string) error { return os.Rename(path, path+".old") }},
		{"a link", func(path string) error {
			return inPlaceOf(path, func() error { return os.Symlink("nowhere", path) })
		}},
		{"a folder", func(path string) error {
			return inPlaceOf(path, func() error { return os.Mkdir(path, 0o700) })
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := openRoot(t)
			other, err := Open(db.Path(), patient)
			require.NoError(t, err)
			defer other.Close()
			done := make(chan error)
			for _, db := range []*objectdb.DB{db, other} {
				go func() {
					var err error
					for i := 0; i < 100 && err == nil; i++ {
						err = db.Update(context.Background(), func(tx *objectdb.Tx) error { return increment(tx, objectdb.Address{"n"}) })
						if i == 20 && db == other && err == nil {
							err = test.do(db.Path() + "-lock")
						}
					}
					done <- err
				}()
			}
			require.NoError(t, <-done)
			require.NoError(t, <-done)
			requireEqual(t, objectdb.Number(200), get(t, db, "n"))
		})
	}
}

func TestLockFileHasModeOfRoot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, patient)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o604))
	put(t, db, "x", objectdb.Number(1))
	info, err := os.Stat(path + "-lock")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o604), info.Mode())
	assert.Zero(t, info.Size())

	again, err := Open(path, patient)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	assert.FileExists(t, path+"-lock", "somebody has the root open")
	require.NoError(t, again.Close())
	assert.NoFileExists(t, path+"-lock")
}
