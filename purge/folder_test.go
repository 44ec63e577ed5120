package purge

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only the files of a cache are removed.
func TestEmptyFolder(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	const (
		nginx = "\x05\x00\x00\x00\x00\x00\x00\x00…\nKEY: http://h/\nHTTP/1.0 200 OK\r\n\r\nx"
		page  = "\x06\x00\x00\x00…"
		forms = "\x05\x00\x00\x00…"
	)
	gone := map[string]string{
		"c/29/b7f54b2df7773722d382f4809d65029c":                                nginx,
		"b7f54b2df7773722d382f4809d65029c":                                     nginx, // no levels
		"29c/../9c/b7f54b2df7773722d382f4809d65029c":                           nginx,
		"Q/w/WFxhOjg1kZVJNMJVRPkA.header":                                      page,
		"Q/w/WFxhOjg1kZVJNMJVRPkA.data":                                        "the page",
		"Q/w/WFxhOjg1kZVJNMJVRPkB.header":                                      forms,
		"Q/w/WFxhOjg1kZVJNMJVRPkB.header.vary/a/b/cdefghijklmnopqrst_@.header": page,
		"Q/w/WFxhOjg1kZVJNMJVRPkB.header.vary/a/b/cdefghijklmnopqrst_@.data":   "a form",
	}
	kept := map[string]string{
		"c/30/b7f54b2df7773722d382f4809d65029c":             nginx, // folder of another digest
		"a/9c/b7f54b2df7773722d382f4809d65029c":             nginx,
		"0/00/00000000000000000000000000000000":             "no key in it",
		"B7F54B2DF7773722D382F4809D65029C":                  nginx,
		"index.html":                                        nginx,
		"Q/w/short.header":                                  page,
		"Q/w/WFxhOjg1kZVJNMJVRPkC.header":                   "a text that somebody put here",
		"Q/w/WFxhOjg1kZVJNMJVRPkC.data":                     "its body",
		"Q/w/WFxhOjg1kZVJNMJVRPkD.data":                     "without a header",
		"Q/w/WFxhOjg1kZVJNMJVRPk!.header":                   page,
		"Q/w/x.header.vary/a/b/cdefghijklmnopqrst_@.header": page,
		"Q/w/WFxhOjg1kZVJNMJVRPkE.header":                   "\x06",
	}
	for name, text := range gone {
		write(name, text)
	}
	for name, text := range kept {
		write(name, text)
	}
	target := filepath.Join(outside, "b7f54b2df7773722d382f4809d65029c")
	require.NoError(t, os.WriteFile(target, []byte(nginx), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "9c")+"x"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "f"), 0o755))
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "f", "0000000000000000000000000000000f")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "2c")))

	require.NoError(t, folder{dir, dir}.empty(context.Background()))
	for name := range gone {
		assert.NoFileExists(t, filepath.Join(dir, name))
	}
	for name := range kept {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.FileExists(t, target, "links are not followed")

	done, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorContains(t, folder{dir, dir}.empty(done), "stopped after 0 files")
	assert.ErrorContains(t, folder{filepath.Join(dir, "gone"), dir}.empty(context.Background()), "empty the cache folder")
	err := folder{filepath.Join(dir, "2c"), dir}.empty(context.Background())
	assert.ErrorContains(t, err, "escapes", "a link out of the listed folder")
	assert.FileExists(t, target)
}
