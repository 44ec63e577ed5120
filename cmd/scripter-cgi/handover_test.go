package main

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectfiles"
	rootfiles "scripter/root"
)

// handed counts the requests that the relay in C and the Go program have handed over.
type handed struct{ relay, program atomic.Int64 }

func (h *handed) count(next fcgi.Handler) fcgi.Handler {
	return func(ctx context.Context, f *fcgi.Request) {
		if _, ok := f.Params[gateway.ResidentVariable+"repeated"]; ok {
			h.program.Add(1)
		} else {
			h.relay.Add(1)
		}
		next(ctx, f)
	}
}

// TestHandoverAnswersAlike checks that a request for a root that has a URL gets the answer that it gets for a root in
// a file. The resident server of this test answers from a file, because that makes no difference to the program.
func TestHandoverAnswersAlike(t *testing.T) {
	file, db := makeRelayRoot(t)
	alone := map[string]result{}
	for name, p := range alike(file) {
		alone[name] = p().run(t)
	}
	root := "postgres://nobody@nowhere.invalid/db?host_folder=" + filepath.Dir(file)
	var h handed
	used := resident(t, root, db, h.count)
	byProgram := map[string]bool{"bad length": true, "longer post": true, "longer, no length": true,
		"post over the limit": true}
	for name, p := range alike(root) {
		t.Run(name, func(t *testing.T) {
			before := h.program.Load()
			got, taken := p().runThrough(t, used)
			assert.Equal(t, withoutIncident(alone[name].out), withoutIncident(got.out), got.log)
			assert.Equal(t, alone[name].code, got.code)
			assert.EqualValues(t, 1, taken, "the resident server answered it")
			assert.Equal(t, byProgram[name], h.program.Load() > before)
		})
	}
}

// TestRelayFindsAURL checks that the relay and rootname.LocalPath find the same socket.
func TestRelayFindsAURL(t *testing.T) {
	file, db := makeRelayRoot(t)
	dir := filepath.Dir(file)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", dir)
	with := "host_folder=" + dir
	for name, test := range map[string]struct {
		root    string
		env     []string
		program bool // the Go program hands it over
	}{
		"host, port, user":      {root: "postgres://u:x@db.example.com:5433/site?" + with},
		"schema":                {root: "postgresql://db/site?schema=a%22b&" + with},
		"several hosts":         {root: "postgres://h1:1,h2:2/site?target_session_attrs=read-write&" + with},
		"a socket":              {root: "postgres:///site?host=%2Frun%2Fpostgresql&" + with},
		"no database":           {root: "postgres://db?" + with},
		"database in the query": {root: "postgres://db/other?dbname=site&" + with},
		"a long host":           {root: "postgres://" + strings.Repeat("long.", 20) + "example.com/site?" + with},
		"no value":              {root: "postgres://db/site?schema&" + with},
		"letters":               {root: "postgres://db/s\u00edte?" + with},
		"the last one counts":   {root: "postgres://db/site?schema=a&schema=b&" + with},
		"state folder":          {root: "postgres://db/site", env: []string{"XDG_STATE_HOME=" + dir}},
		"an escaped folder":     {root: "postgres://db/site?host_folder=" + strings.ReplaceAll(dir, "/", "%2F"), program: true},
	} {
		t.Run(name, func(t *testing.T) {
			if len(test.env) > 0 {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, "scripter"), 0o700))
			}
			var h handed
			used := resident(t, test.root, db, h.count)
			got, taken := program{name: "echo", env: append(test.env, "SCRIPTER_ROOT="+test.root)}.runThrough(t, used)
			assert.EqualValues(t, 1, taken, "%s%s", got.out, got.log)
			assert.Equal(t, test.program, h.program.Load() > 0)
		})
	}
}

// TestHandoverFromAFile checks the day of an owner: a file of two lines names a root in PostgreSQL, the first request
// starts a resident server, and nothing shows the password.
func TestHandoverFromAFile(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	dir, err := os.MkdirTemp("", "handover")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	build := exec.Command("go", "build", "-o", dir, "scripter/cmd/scripter-cgi", "scripter/cmd/scripter-fcgi")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	host := filepath.Join(dir, "host")
	root := server.URL("host_folder=" + url.QueryEscape(host))
	require.NoError(t, roots.Create(t.Context(), root, objectdb.Options{}, func(tx *objectdb.Tx) error {
		if _, err := objectfiles.Import(tx, rootfiles.FS, nil, nil); err != nil {
			return err
		}
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "see"}, objectdb.Script(
			"local p, t = ..., {}\nfor k, v in pairs (p.cgi) do t [#t + 1] = k .. \"=\" .. tostring (v) end\n"+
				"return table.concat (t, \"\\n\")"))
	}))
	script := filepath.Join(dir, "site.acgi")
	require.NoError(t, os.WriteFile(script, []byte("#!"+dir+"/scripter-cgi\nroot: "+root+"\n"), 0o755))
	t.Cleanup(func() { stopResidents(t, "--root "+root) })
	for _, env := range [][]string{nil, {"SCRIPTER_ROOT=" + strings.Replace(root, "scripter@", "scripter:geheim@", 1)}} {
		p := program{path: script, args: []string{script}, name: "see", env: append(env, "PGPASSWORD=geheim", "HOME="+dir)}
		for range 2 {
			got := p.run(t)
			require.True(t, strings.HasPrefix(got.out, "Status: 200 OK\r\n"), "%s%s", got.out, got.log)
			assert.Contains(t, got.out, "SCRIPT_NAME=/see.fcgi")
			assert.NotContains(t, got.out+got.log, "geheim")
		}
	}
	list, err := exec.Command("ps", "-eo", "args").Output()
	require.NoError(t, err)
	assert.Contains(t, string(list), "--root "+root)
	assert.NotContains(t, string(list), "geheim")
	logs, err := filepath.Glob(filepath.Join(host, "*.resident.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), "listening")
	assert.NotContains(t, string(text), "geheim")
}

// stopResidents ends the resident servers whose command line has this text.
func stopResidents(t *testing.T, text string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		line, _ := os.ReadFile(file)
		args := strings.ReplaceAll(string(line), "\x00", " ")
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && strings.Contains(args, text) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
