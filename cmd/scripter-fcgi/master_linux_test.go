package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// program is scripter-fcgi in a process of its own.
type program struct {
	daemon
	cmd *exec.Cmd
}

func startProgram(t *testing.T, exe, root string, args ...string) *program {
	t.Helper()
	p := &program{daemon: daemon{t: t, sock: filepath.Join(t.TempDir(), "s.sock"), log: &testlog.Buffer{}}}
	p.cmd = exec.Command(exe, append([]string{"--root", root, "--listen", "unix:" + p.sock}, args...)...)
	p.cmd.Env = append(os.Environ(), programEnvironment+"=1")
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		p.cmd.Process.Signal(syscall.SIGTERM)
		slow := time.AfterFunc(patience, func() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
		defer slow.Stop()
		p.cmd.Wait()
		assert.Equal(t, 0, p.cmd.ProcessState.ExitCode(), p.log)
	})
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "listening") }, patience,
		5*time.Millisecond, p.log)
	return p
}

// scripts puts scripts into the suite that the net can call.
func scripts(t *testing.T, root string, all map[string]string) {
	t.Helper()
	db, err := sqlitestore.Open(root, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		for name, text := range all {
			if err := tx.Put(objectdb.Address{"suites", "webserverScripts", name}, objectdb.Script(text)); err != nil {
				return err
			}
		}
		return nil
	}))
}

// setting gives a setting, by the rest of its address, a number.
func setting(t *testing.T, root, name string, n float64) {
	t.Helper()
	db, err := sqlitestore.Open(root, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	defer db.Close()
	a, err := objectdb.ParseAddress("user.webserver." + name)
	require.NoError(t, err)
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(a, objectdb.Number(n)) }))
}

// children returns the processes whose parent is pid.
func children(pid int) (pids []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(b), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(pid) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// TestProgramReplaced checks that workers are still started from the old program if an upgrade
// removes or replaces its file while it runs.
func TestProgramReplaced(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(self)
	require.NoError(t, err)
	exe := filepath.Join(t.TempDir(), "scripter-fcgi")
	require.NoError(t, os.WriteFile(exe, b, 0o700))
	root := makeRoot(t)
	scripts(t, root, map[string]string{"hello": `return "hello"`})
	sock := filepath.Join(t.TempDir(), "status.sock")
	p := startProgram(t, exe, root, "--status", "unix:"+sock)
	require.Contains(t, p.ask("/hello.fcgi"), "hello")
	// A busy machine makes the pool grow: none is killed that has only been started.
	require.Eventually(t, func() bool {
		var r report
		_, text, _ := look(t, sock, "/-/status?format=json", "")
		return json.Unmarshal([]byte(text), &r) == nil && len(r.Workers) > 0 && r.quiet()
	}, patience, 10*time.Millisecond, p.log)
	require.NoError(t, os.Remove(exe))
	require.NoError(t, os.WriteFile(exe, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	old := children(p.cmd.Process.Pid)
	for _, pid := range old {
		n, err := strconv.Atoi(pid)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
	}
	assert.Contains(t, p.ask("/hello.fcgi"), "hello")
	assert.NotContains(t, p.log.String(), "before it was ready")
}

// TestMaxRunningRemoved checks that SIGHUP reads how many scripts may run at a time, even if the
// root no longer sets it.
func TestMaxRunningRemoved(t *testing.T) {
	root := makeRoot(t)
	scripts(t, root, map[string]string{"stay": `webserver.sendPartial ("begun") while true do end`})
	setting(t, root, "maxTime", 600)
	setting(t, root, "maxInstructions", 1e6)
	setting(t, root, "maxRunning", 1)
	exe, err := os.Executable()
	require.NoError(t, err)
	p := startProgram(t, exe, root)
	require.Contains(t, p.log.String(), "workers=1")
	setting(t, root, "maxRunning", 0)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "SIGHUP: ") }, patience,
		5*time.Millisecond, p.log)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var answers [2]testlog.Buffer
	for i := range answers {
		c, err := fcgitest.Dial(ctx, "unix:"+p.sock)
		require.NoError(t, err)
		defer c.Close()
		go c.Do(ctx, map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/stay.fcgi", "REQUEST_URI": "/stay.fcgi"},
			strings.NewReader(""), &answers[i], io.Discard)
	}
	both := func() bool {
		return strings.Contains(answers[0].String(), "begun") && strings.Contains(answers[1].String(), "begun")
	}
	require.Eventually(t, both, patience, 5*time.Millisecond, p.log)
}

// TestHistoryRules checks that workers follow the rules of the root for what is kept, and a
// changed rule from the next request on.
func TestHistoryRules(t *testing.T) {
	root := makeRoot(t)
	scripts(t, root, map[string]string{"raise": `own.each, own.thinned = own.each + 1, own.thinned + 1 return "raised"`})
	db, err := sqlitestore.Open(root, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	defer db.Close()
	put := func(address string, v objectdb.Value) {
		a, err := objectdb.ParseAddress(address)
		require.NoError(t, err)
		require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(a, v) }))
	}
	changes := func(name string) (n int) {
		require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
			ids, err := tx.IDsAt(objectdb.Address{"own", name})
			if err != nil {
				return err
			}
			list, err := tx.ChangesOf(ids)
			n = len(list)
			return err
		}))
		return n
	}
	put("own.each", objectdb.Number(0))
	put("own.thinned", objectdb.Number(0))
	put(`user.webserver.history.["own.each"]`, objectdb.String("everything"))
	exe, err := os.Executable()
	require.NoError(t, err)
	p := startProgram(t, exe, root, "--workers", "2")
	for range 4 {
		require.Contains(t, p.ask("/raise.fcgi"), "raised")
	}
	assert.Equal(t, 5, changes("each"), "with the one that has made it")
	assert.Equal(t, 2, changes("thinned"))
	put(`user.webserver.history.["own.thinned"]`, objectdb.String("everything"))
	put(`user.webserver.history.["own.each"]`, objectdb.String("nothing"))
	for range 4 {
		require.Contains(t, p.ask("/raise.fcgi"), "raised")
	}
	assert.Equal(t, 5, changes("each"))
	assert.Equal(t, 6, changes("thinned"))
}
