package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// failing is an output that takes nothing, such as a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// A command whose output is lost has failed.
func TestLostOutput(t *testing.T) {
	root := filepath.Join(t.TempDir(), "x.root")
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"--root", root, "init"}, nil, &out, &errs), &errs)
	for _, command := range []string{"ls", "ls -l", "ls --json", "get user.webserver.serverId", "eval 1", "version",
		"settings", "explain /x.fcgi", "help"} {
		errs.Reset()
		args := append([]string{"--root", root}, strings.Fields(command)...)
		assert.Equal(t, 1, run(t.Context(), args, nil, failing{}, &errs), command)
		assert.Contains(t, errs.String(), "the disk is full", command)
	}
}

// Names and values of the root, and text from visitors, cannot control the terminal of
// the user who looks at them.
func TestTerminalSafety(t *testing.T) {
	const evil = "a\x1b[2Jb\u009b1mc\u202ed\x9be\af"
	root := filepath.Join(t.TempDir(), "x.root")
	call := func(args ...string) (string, string) {
		var out, errs bytes.Buffer
		run(t.Context(), append([]string{"--root", root}, args...), nil, &out, &errs)
		return out.String(), errs.String()
	}
	call("init")
	for _, a := range []string{
		"user.webserver.serverName", "user.webserver.serverPath", `user.webserver.actionTable.["` + evil + `"]`,
		"user.webserver.actionTable.SCRIPTER",
		`user.webserver.overrides.["` + evil + `"].["/x"]`, `user.webserver.overrides.["*"].["` + evil + `"]`,
		`user.webserver.mimeTable.[".` + evil + `"].type`,
		`user.webserver.directoryIndex.["*"].["` + evil + `"]`, `user.webserver.requires.["suites.webserverScripts.` +
			evil + `"]`, "user.webserver.errorStatus",
		`user.webserver.roles.["` + evil + `"]`, `user.webserver.users.default.["` + evil + `"]`,
		`user.webserver.limits.["suites.` + evil + `"].maxTime`, "workspace." + evil, `suites.webserverScripts.["` + evil +
			`"]`,
	} {
		_, errs := call("put", "--parents", "--force", "--", a, evil)
		assert.NotContains(t, errs, "\x1b", a)
	}
	call("put", "suites.webserverScripts.echo", "--kind", "script", `return "`+"\x1b[31m"+`" .. userAgent`)
	call("settings", "flDebug", "true")
	call("call", "/echo.fcgi?x="+evil, "--header", "User-Agent: "+evil, "--header", evil+": x")
	call("call", "/"+evil+".fcgi")
	for _, args := range []string{
		"settings", "settings serverName", "actions", "mimetypes", "overrides", "index", "limits", "requires", "users",
		"users add " + evil, "users role " + evil + " reader " + evil, "users remove " + evil + "x",
		"ls workspace", "ls -l user.webserver", "ls -l workspace",
		"requests", "requests 1", "requests 2", "replay 1 --diff", "lint", "log", "log -n 0", "diff workspace 2", "undo --dry-run", "explain /" + evil + ".fcgi",
		"get nothing." + evil, "settings " + evil, "rm workspace." + evil, evil,
	} {
		out, errs := call(strings.Fields(args)...)
		for _, bad := range []string{"\x1b", "\u009b", "\u202e", "\a"} {
			assert.NotContains(t, out+errs, bad, args)
		}
		assert.True(t, utf8.ValidString(out+errs), args) // no single byte 9b
	}

	// A file or a pipe gets the exact bytes, a terminal visible characters.
	out, _ := call("replay", "1")
	assert.Contains(t, out, "\x1b[31m"+evil)
	out, _ = call("get", "user.webserver.serverName")
	assert.Equal(t, evil+"\n", out)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	shown, exact := &bytes.Buffer{}, &bytes.Buffer{}
	assert.Equal(t, io.Writer(shown), (&tool{screen: terminal, out: shown, exact: exact}).raw())
	assert.Equal(t, io.Writer(exact), (&tool{out: shown, exact: exact}).raw())
}

// A character or a line end that is written in two pieces is printed as one.
func TestVisibleWriter(t *testing.T) {
	var b bytes.Buffer
	v := &visibleWriter{w: &b}
	text := "Hällo €\U0001f600\r\n\x1b[1m\tx\ry\xe2\x82"
	for i := range len(text) {
		n, err := v.Write([]byte(text[i : i+1]))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.NoError(t, v.flush())
	assert.Equal(t, "Hällo €\U0001f600\n\\x1b[1m\tx\\ry\ufffd\ufffd", b.String())
}
