package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
)

// fileScripts are the scripts about files: damaged roots, saved copies, roots of other versions.
var fileScripts = []string{"autosave", "badroots", "completion", "copies", "firstsite", "mistakes", "saves",
	"test", "versions"}

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
		root := server.URL("schema=" + url.QueryEscape(filepath.Base(e.WorkDir)) +
			"&host_folder=" + url.QueryEscape(filepath.Join(e.WorkDir, "host")))
		e.Setenv("SCRIPTER_ROOT", root)
		e.Setenv("FROM_BELOW", root)
	})
}
