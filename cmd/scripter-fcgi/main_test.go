package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// TestMain makes the test's own program a worker, too.
func TestMain(m *testing.M) {
	if code, is := runWorker(os.Args[1:]); is {
		os.Exit(code)
	}
	if os.Getenv(programEnvironment) != "" {
		os.Unsetenv(programEnvironment)
		main()
	}
	os.Exit(m.Run())
}

// programEnvironment makes the test's own program scripter-fcgi.
const programEnvironment = "TEST_PROGRAM"

// patience is how long a test waits for something that should happen at once: a
// busy machine may stop for seconds.
const patience = time.Minute

func makeRoot(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.root")
	db, err := sqlitestore.Create(file, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		if _, err := objectfiles.Import(tx, root.FS, nil, nil); err != nil {
			return err
		}
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "slow"},
			objectdb.Script(`webserver.sendPartial ("begun ") `+
				`local t = os.time () while os.time () - t < 2 do end return "slow"`))
	}))
	require.NoError(t, db.Close())
	return file
}

// TestDrain checks that after a signal the program finishes the requests under way, removes its
// socket and ends.
func TestDrain(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "s.sock")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	log := &testlog.Buffer{}
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"--root", makeRoot(t), "--listen", "unix:" + sock, "--mode", "600"}, nil, io.Discard, log)
	}()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "listening") }, patience,
		10*time.Millisecond, log)
	info, err := os.Stat(sock)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	c, err := fcgitest.Dial(ctx, "unix:"+sock)
	require.NoError(t, err)
	defer c.Close()
	out := &testlog.Buffer{}
	answered := make(chan error, 1)
	go func() {
		_, err := c.Do(context.Background(), map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/slow.fcgi",
			"REQUEST_URI": "/slow.fcgi"}, strings.NewReader(""), out, io.Discard)
		answered <- err
	}()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "begun") }, patience,
		10*time.Millisecond, log)
	stop()
	require.NoError(t, <-answered)
	assert.Contains(t, out.String(), "slow")
	assert.Equal(t, 0, <-done)
	_, err = os.Stat(sock)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestUsage checks the message and the exit status for mistakes on the command line and for a root
// that cannot be opened.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--nonsense", 2, "^scripter-fcgi: flag provided but not defined: -nonsense\nscripter-fcgi: hint: .*--help.*\n$"},
		{"--workers -3", 2, "--workers is 0 at least, not -3"},
		{"--mode 999 --root x", 2, "octal"},
		{"--responder other --root x", 2, "own or std"},
		{"extra", 2, `"extra" is no option`},
		{"--root /nowhere/x.root --listen unix:/nowhere/s", 1, "/nowhere/x.root"},
		{"", 1, "SCRIPTER_ROOT"},
		{"-h", 0, "-listen string"},
		{"--version", 0, `^scripter \d+\.\d+`},
	} {
		var log bytes.Buffer
		assert.Equal(t, c.code, run(context.Background(), strings.Fields(c.args), nil, &log, &log), c.args)
		assert.Regexp(t, c.want, log.String(), c.args)
	}
}

// TestNoSocket checks the hint if the program is started by hand without --listen.
func TestNoSocket(t *testing.T) {
	var log bytes.Buffer
	assert.Equal(t, 1, run(context.Background(), []string{"--root", makeRoot(t)}, nil, io.Discard, &log))
	assert.Contains(t, log.String(), "hint")
}
