package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

const programVariable = "SCRIPTER_CGI_TEST_PROGRAM"

// TestMain lets this program be scripter-cgi itself, or a server that only listens.
func TestMain(m *testing.M) {
	if path := os.Getenv(listenVariable); path != "" {
		listen(path)
	}
	if os.Getenv(programVariable) != "" || os.Getenv(saveVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// start returns a run of the program as a web server starts it.
func start(root string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{programVariable + "=1", "SCRIPTER_ROOT=" + root, "GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET",
		"SCRIPT_NAME=/samples.tellTime.fcgi", "REQUEST_URI=/samples.tellTime.fcgi"}
	return cmd
}

func put(t *testing.T, db *objectdb.DB, name string, v objectdb.Value) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"user", "webserver", name}, v)
	}))
}

func copies(t *testing.T, root string) []objectdb.Copy {
	t.Helper()
	list, err := sqlitestore.Copies(root)
	require.NoError(t, err)
	return list
}

// Auto-Save under plain CGI: the first request after the interval has a copy
// saved, by a process of its own, and many requests at once have one saved.
//
// Specification: 2.2.7, 2.2.9, 8.2
func TestAutoSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	db := makeRoot(t, file)
	out, err := start(file).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "Status: 200 OK")
	time.Sleep(100 * time.Millisecond)
	require.Empty(t, copies(t, file), "Auto-Save is off")

	put(t, db, "flAutoSave", objectdb.Boolean(true))
	var visitors sync.WaitGroup
	for range 6 {
		visitors.Go(func() {
			// Output ends when the last holder of stdout has closed it: here
			// that is the program itself, not the process that saves.
			out, err := start(file).Output()
			assert.NoError(t, err)
			assert.Contains(t, string(out), "Status: 200 OK")
		})
	}
	visitors.Wait()
	require.Eventually(t, func() bool { return len(copies(t, file)) > 0 }, patience, 10*time.Millisecond)
	time.Sleep(300 * time.Millisecond)
	list := copies(t, file)
	require.Len(t, list, 1, "one copy for all")
	saved, err := sqlitestore.Open(list[0].Path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer saved.Close()
	problems, err := saved.Check(context.Background())
	require.NoError(t, err)
	assert.Empty(t, problems)

	// An interval later, with the dirty root flag not set, and then set.
	put(t, db, "flUseDirtyRoot", objectdb.Boolean(true))
	old := time.Now().Add(-11 * time.Minute)
	require.NoError(t, os.Chtimes(list[0].Path, old, old))
	require.NoError(t, start(file).Run())
	time.Sleep(200 * time.Millisecond)
	require.Len(t, copies(t, file), 1)
	put(t, db, "flDirtyRoot", objectdb.Boolean(true))
	require.NoError(t, start(file).Run())
	require.Eventually(t, func() bool { return len(copies(t, file)) == 2 }, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		var v objectdb.Value
		require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
			v, err = tx.Get(objectdb.Address{"user", "webserver", "flDirtyRoot"})
			return err
		}))
		return v == objectdb.Boolean(false)
	}, patience, 10*time.Millisecond, "the finished save clears the flag")
}

// TestAutoSaveFails checks that a save that fails does not affect the response, that a later
// request reports it in the web server's log, and that it is not tried again at each request.
func TestAutoSaveFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.root")
	db := makeRoot(t, file)
	put(t, db, "flAutoSave", objectdb.Boolean(true))
	unfinished := filepath.Join(dir, "x.saving")
	require.NoError(t, os.WriteFile(unfinished, []byte("not saved: the disk is full"), 0o600))
	ask := func() string {
		var log strings.Builder
		cmd := start(file)
		cmd.Stderr = &log
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "Status: 200 OK")
		return log.String()
	}
	assert.Empty(t, ask(), "an interval has not passed since the attempt")
	old := time.Now().Add(-11 * time.Minute)
	require.NoError(t, os.Chtimes(unfinished, old, old))
	assert.Contains(t, ask(), `level=WARN msg="the save before this one was not finished"`)
	require.Eventually(t, func() bool { return len(copies(t, file)) == 1 }, patience, 10*time.Millisecond)
	assert.Eventually(t, func() bool { _, err := os.Lstat(unfinished); return os.IsNotExist(err) }, patience,
		10*time.Millisecond)
	assert.Empty(t, ask())
}
