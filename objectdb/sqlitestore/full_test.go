package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// fill writes until the disk is full, then calls free and writes again. It returns an error
// if the root is not as it must be.
func fill(db *objectdb.DB, free func() error) error {
	ctx := context.Background()
	step := func(n int) error {
		return db.Update(ctx, func(tx *objectdb.Tx) error {
			bulk := objectdb.Text(strings.Repeat(fmt.Sprint(n, " "), 5000))
			return errors.Join(
				tx.Put(objectdb.Address{"a", "n"}, objectdb.Number(n)), tx.Put(objectdb.Address{"bulk", fmt.Sprint(n)}, bulk),
				tx.Put(objectdb.Address{"b", "n"}, objectdb.Number(n)))
		})
	}
	look := func(want int) error {
		problems, err := db.Check(ctx)
		if err != nil || len(problems) > 0 {
			return fmt.Errorf("check: %v %v", problems, err)
		}
		return db.View(ctx, func(tx *objectdb.Tx) error {
			a, err := tx.Get(objectdb.Address{"a", "n"})
			b, err2 := tx.Get(objectdb.Address{"b", "n"})
			if err != nil || err2 != nil || a != objectdb.Number(want) || b != a {
				return fmt.Errorf("want %d, there are %v %v %v %v", want, a, b, err, err2)
			}
			return nil
		})
	}
	// After a failure there may be room again: the last connection folds the WAL when it closes.
	n := 0
	for failures := 0; failures < 3; {
		err := step(n + 1)
		if err == nil {
			n, failures = n+1, 0
			continue
		}
		failures++
		if !errors.Is(err, objectdb.ErrDisk) {
			return fmt.Errorf("after %d steps: %w", n, err)
		}
		if err := look(n); err != nil {
			return fmt.Errorf("on the full disk, after %d steps: %w", n, err)
		}
	}
	if n == 0 {
		return errors.New("it was full before the first step")
	}
	if err := free(); err != nil {
		return err
	}
	if err := step(n + 1); err != nil {
		return fmt.Errorf("when there is room again: %w", err)
	}
	return look(n + 1)
}

const limitVariable = "OBJECTDB_TEST_LIMIT"

// fillLimited calls fill in a process whose files may not grow beyond 1 MB (EFBIG).
func fillLimited(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := func(size uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: 1 << 40})
	}
	err := limit(1 << 20)
	if err == nil {
		var db *objectdb.DB
		if db, err = Open(path, objectdb.Options{}); err == nil {
			err = fill(db, func() error { return limit(1 << 40) })
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Catalogue: P4
func TestFileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), limitVariable+"="+path)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Empty(t, string(out))
	_, err = readAll(path)
	require.NoError(t, err)
}

// Catalogue: P4
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Log("this user may not mount a file system: see TestFileSizeLimit")
		return
	}
	require.NoError(t, err)
	defer func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) }()
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 500_000), 0o600))
	db, err := Create(filepath.Join(dir, "a.root"), objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, fill(db, func() error { return os.Remove(ballast) }))
	requireSound(t, db)
	require.NoError(t, db.Close())
}
