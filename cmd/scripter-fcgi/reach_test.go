package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// TestReach checks that scripter.conf, flags and the variables of the process list what the root
// may use, also in workers. SIGHUP reads the lists again, and no request adds to them.
func TestReach(t *testing.T) {
	for _, workers := range []string{"0", "2"} {
		t.Run("workers "+workers, func(t *testing.T) { testReach(t, workers) })
	}
}

func testReach(t *testing.T, workers string) {
	dir, root := t.TempDir(), makeRoot(t)
	folder := func(name string) string {
		f := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(f, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(f, "x.mcro"), []byte("page of "+name), 0o644))
		return f
	}
	lined, flagged, named, other := folder("lined"), folder("flagged"), folder("named"), folder("other")
	put := func(value string) {
		db, err := sqlitestore.Open(root, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"user", "webserver", "websiteFolderPath"}, objectdb.String(value))
		}))
	}
	put(other)
	exe, err := os.Executable()
	require.NoError(t, err)
	conf := filepath.Join(filepath.Dir(exe), "scripter.conf")
	configure := func(text string) { require.NoError(t, os.WriteFile(conf, []byte(text), 0o600)) }
	defer os.Remove(conf)
	configure("root: " + root + "\npages: " + lined + "\n")
	sd, sock := newSystemd(t), filepath.Join(dir, "s.sock")
	p := startProcess(t, []string{"NOTIFY_SOCKET=" + sd.path, "SCRIPTER_PAGES=" + named},
		"--listen", "unix:"+sock, "--workers", workers, "--root", root, "--pages", flagged)
	sd.until("READY=1")
	assert.Contains(t, p.log.String(), "user.webserver.websiteFolderPath names "+other+
		", which scripter.conf does not list")
	real, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	answers := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			return strings.Contains(askWith(t, sock, map[string]string{"SCRIPT_NAME": "/x.mcro", "REQUEST_URI": "/x.mcro"}),
				want)
		}, patience, 10*time.Millisecond, p.log)
	}
	for _, f := range []string{lined, flagged, named} {
		put(f)
		answers("page of " + filepath.Base(f))
	}
	put(other)
	answers("Status: 403")
	// Neither a variable of the request nor what scripter-cgi passes on adds to a list.
	for _, at := range []string{sock, residentSocket(t, root)} {
		vars := map[string]string{"SCRIPT_NAME": "/x.mcro", "REQUEST_URI": "/x.mcro", "SCRIPTER_PAGES": other,
			"REDIRECT_SCRIPTER_PAGES": other}
		if at != sock {
			vars["scripter.root"], vars["scripter.pages"] = real, other
		}
		assert.Contains(t, askWith(t, at, vars), "403", at)
	}
	configure("root: " + root + "\npages: " + other + "\n")
	p.signal(syscall.SIGHUP)
	sd.until("RELOADING=1")
	sd.until("READY=1")
	answers("page of other")
	put(lined)
	answers("Status: 403")
	p.signal(syscall.SIGTERM)
	assert.Zero(t, p.end(), p.log)
}
