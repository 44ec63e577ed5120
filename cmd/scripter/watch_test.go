package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/internal/testlog"
)

// TestWatchTests checks that "scripter test --watch" runs again after a change of the root, of a
// folder or of a page, and ends with its context.
func TestWatchTests(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "scripter.root")
	site := filepath.Join(dir, "site")
	folder := filepath.Join(dir, "folder", "suites", "tests")
	require.NoError(t, os.MkdirAll(site, 0o755))
	require.NoError(t, os.MkdirAll(folder, 0o755))
	tool := func(args ...string) {
		t.Helper()
		var log testlog.Buffer
		require.Zero(t, run(t.Context(), append([]string{"--root", file}, args...), strings.NewReader(""), &log, &log), "%s", &log)
	}
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	tool("init")
	tool("put", "--parents", "suites.tests.testPage", "--kind", "script",
		`expect.equal (request {path = "/page.mcro"}.body, user.wanted)`)
	tool("put", "user.wanted", "before")
	write(filepath.Join(site, "page.mcro"), "before")
	write(filepath.Join(folder, "testOne.lua"), "expect.equal (1, 1)")

	for _, c := range []struct {
		args    []string
		changes []func()
		want    []string
	}{
		{nil, []func(){
			func() { tool("put", "user.wanted", "after") },
			func() { write(filepath.Join(site, "page.mcro"), "after") },
		}, []string{"1 test passed", `got "before", wanted "after"`, "1 test passed"}},
		{[]string{filepath.Join(dir, "folder")}, []func(){
			func() { write(filepath.Join(folder, "testTwo.lua"), "error ('two')") },
			func() { require.NoError(t, os.RemoveAll(folder)) },
		}, []string{"1 test passed", "1 of 2 tests failed", "there is no test"}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var log testlog.Buffer
		ended := make(chan int)
		go func() {
			ended <- run(ctx, append([]string{"--root", file, "test", "--watch", "--site", site}, c.args...),
				strings.NewReader(""), &log, &log)
		}()
		seen := 0
		for i, want := range c.want {
			require.Eventually(t, func() bool {
				at := strings.Index(log.String()[seen:], want)
				if at >= 0 {
					seen += at + len(want)
				}
				return at >= 0
			}, patience, 10*time.Millisecond, "%s is not in %s", want, &log)
			if i < len(c.changes) {
				c.changes[i]()
			}
		}
		cancel()
		require.Zero(t, <-ended)
	}
}
