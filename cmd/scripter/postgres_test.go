package main

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/roots"
)

// fileScripts are the scripts about files: damaged roots, saved copies, roots of other versions.
var fileScripts = []string{"autosave", "badroots", "completion", "copies", "copy", "firstsite", "mistakes",
	"recordscopy", "rootfiles", "saves", "test", "versions"}

// TestScriptsInPostgreSQL runs the scripts of TestScripts with a root in PostgreSQL, and those in testdata/postgres.
func TestScriptsInPostgreSQL(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(file string) bool {
		return slices.Contains(fileScripts, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	})
	require.Greater(t, len(files), len(fileScripts))
	own, err := filepath.Glob("testdata/postgres/*.txtar")
	require.NoError(t, err)
	files = append(files, own...)
	runScripts(t, testscript.Params{Files: files}, func(e *testscript.Env) {
		schema := filepath.Base(e.WorkDir)
		folder := "&host_folder=" + url.QueryEscape(filepath.Join(e.WorkDir, "host"))
		root := server.URL("schema=" + url.QueryEscape(schema) + folder)
		e.Setenv("SCRIPTER_ROOT", root)
		e.Setenv("OTHER_ROOT", server.URL("schema="+url.QueryEscape(schema+" other")+folder))
		e.Setenv("FROM_BELOW", root)
	})
}

// Every command refuses a root whose tables have a newer form, and so does a program that has had it open.
func TestNewerFormInPostgreSQL(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	root := server.URL("schema=newer&host_folder=" + url.QueryEscape(t.TempDir()))
	scripter := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"--root", root}, args...), strings.NewReader(""), &out, &errs)
		return code, out.String() + errs.String()
	}
	code, out := scripter("init")
	require.Zero(t, code, out)
	db, err := roots.Open(root, objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	c, err := pgx.Connect(t.Context(), server.URL(""))
	require.NoError(t, err)
	defer c.Close(t.Context())
	_, err = c.Exec(t.Context(), `UPDATE newer.info SET form = 99`)
	require.NoError(t, err)
	const says = "root was made by a newer version: its tables have the form 99, and this program knows forms up to 2"
	for _, args := range [][]string{
		{"get", "user"}, {"put", "n", "1"}, {"check"}, {"save"}, {"export", "user", t.TempDir()}, {"undo"}, {"run", "suites.x"},
		{"copy", root, filepath.Join(t.TempDir(), "a.root")}, {"copy", "--unmark", root},
	} {
		code, out := scripter(args...)
		assert.Equal(t, 1, code, "%s: %s", args, out)
		assert.Contains(t, out, says, args)
	}
	err = db.Update(t.Context(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(1))
	})
	require.ErrorIs(t, err, objectdb.ErrNewer)
}

// scripter copy --move is ended while it makes the new root. If it was stopped, it takes the mark back; if it was killed,
// the mark says where the root was to go, and --unmark takes it back. There is no new root, and the next move succeeds.
func TestEndedMove(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	exe, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	program := filepath.Join(folder, "scripter") // testscript.Main chooses the command by the name of the program
	require.NoError(t, os.Symlink(exe, program))
	from := filepath.Join(folder, "from.root")
	to := server.URL("schema=target")
	scripter := func(ctx context.Context, args ...string) (int, string) {
		var out bytes.Buffer
		code := run(ctx, args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	code, out := scripter(t.Context(), "init", "--root", from)
	require.Zero(t, code, out)
	for _, killed := range []bool{false, true} {
		// The copy waits for another program that makes the same schema.
		other, err := pgx.Connect(t.Context(), server.URL(""))
		require.NoError(t, err)
		_, err = other.Exec(t.Context(), `BEGIN; CREATE SCHEMA target`)
		require.NoError(t, err)
		waiting := func() {
			require.Eventually(t, func() bool {
				info, err := roots.Inspect(from)
				return err == nil && info.Moved == to
			}, patience, time.Millisecond)
		}
		if killed {
			c := exec.Command(program, "copy", from, to, "--move")
			require.NoError(t, c.Start())
			waiting()
			require.NoError(t, c.Process.Kill())
			require.Error(t, c.Wait())
		} else {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan int)
			go func() {
				code, _ := scripter(ctx, "copy", from, to, "--move")
				ended <- code
			}()
			waiting()
			stop()
			require.Equal(t, 1, <-ended)
		}
		require.NoError(t, other.Close(t.Context()))
		there, err := roots.Exists(to)
		require.NoError(t, err)
		require.False(t, there)
		if killed {
			code, out = scripter(t.Context(), "put", "--root", from, "n", "2")
			require.Equal(t, 1, code)
			require.Contains(t, out, "it was moved to "+to)
			code, out = scripter(t.Context(), "copy", "--unmark", from)
			require.Zero(t, code, out)
		}
		code, out = scripter(t.Context(), "put", "--root", from, "n", "1")
		require.Zero(t, code, out)
	}
	code, out = scripter(t.Context(), "copy", from, to, "--move")
	require.Zero(t, code, out)
	code, out = scripter(t.Context(), "get", "--root", to, "n")
	require.Zero(t, code, out)
}
