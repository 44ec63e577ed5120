package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only their owner can read files with content of the root, whatever the umask is.
func TestExportsAreSecret(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	root := newRoot(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"export", "suites", filepath.Join(dir, "a.zip")}, {"export", "suites", filepath.Join(dir, "a.tar.gz")},
		{"export", "suites", filepath.Join(dir, "a.zip"), "--force"},
		{"export", "suites", filepath.Join(dir, "new", "folder")},
		{"types", filepath.Join(dir, "editor")}, {"import", "testdata", "t"},
		{"import", filepath.Join(dir, "new", "folder"), "copied"},
	} {
		code, _, errs := tooled(t, append([]string{"--root", root}, args...)...)
		if args[1] != "testdata" {
			require.Zero(t, code, errs)
		}
	}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		if path != dir {
			assert.Zero(t, info.Mode().Perm()&0o077, path)
		}
		return nil
	}))
}

// Another user who may write in the folder of the root cannot redirect the files beside
// it by links.
func TestNoLinkIsFollowed(t *testing.T) {
	root := newRoot(t)
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("theirs"), 0o644))
	saving := strings.TrimSuffix(root, ".root") + ".saving"
	require.NoError(t, os.Symlink(victim, saving))
	code, _, _ := tooled(t, "--root", root, "save")
	assert.Equal(t, 1, code)
	require.NoError(t, os.Remove(saving))
	require.NoError(t, os.Link(victim, saving))
	code, _, errs := tooled(t, "--root", root, "save")
	require.Zero(t, code, errs)
	content, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(content))
}
