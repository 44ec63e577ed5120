package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReach(t *testing.T) {
	var r Reach
	for _, line := range []string{
		"pages /srv/other", "pages /srv/other/", "cache Proxy:6081", "cache http://proxy:6081/",
		"cache https://[::1]", "cache-folder /var/cache/x/.", "sendfile on",
	} {
		name, value, _ := strings.Cut(line, " ")
		require.NoError(t, r.Add(name, value), line)
	}
	want := Reach{
		Pages: []string{"/srv/other"}, Caches: []string{"proxy:6081", "[::1]:443"},
		CacheFolders: []string{"/var/cache/x"}, Sendfile: true,
	}
	assert.Equal(t, want, r)
	flags := "--pages /srv/other --cache proxy:6081 --cache [::1]:443 --cache-folder /var/cache/x --sendfile on"
	assert.Equal(t, strings.Fields(flags), r.Flags())

	for line, why := range map[string]string{
		"pages www": "not an absolute path", "pages ": "not an absolute path", "pages /": "the whole file system",
		"pages /srv/..": "the whole file system", "cache-folder //": "the whole file system",
		"cache ftp://x": "not a server", "cache ": "not a server", "cache a/b": "not a server",
		"sendfile yes": "not on or off", "door x": "none of pages, cache, cache-folder, mail, sendfile",
	} {
		name, value, _ := strings.Cut(line, " ")
		assert.ErrorContains(t, r.Add(name, value), why, line)
	}
	assert.Equal(t, want, r)

	var v Reach
	require.NoError(t, v.addVariables(map[string]string{
		"SCRIPTER_PAGES": "/srv/a:/srv/b", "REDIRECT_SCRIPTER_CACHE": "proxy:6081, other",
		"SCRIPTER_CACHE_FOLDER": "/var/c", "SCRIPTER_SENDFILE": "on",
		"HTTP_SCRIPTER_PAGES": "/etc",
	}))
	assert.Equal(t, Reach{
		Pages: []string{"/srv/a", "/srv/b"}, Caches: []string{"proxy:6081", "other:80"},
		CacheFolders: []string{"/var/c"}, Sendfile: true,
	}, v)
	assert.ErrorContains(t, v.addVariables(map[string]string{"SCRIPTER_PAGES": "here"}), "SCRIPTER_PAGES: pages")
	v.AddAll(r)
	assert.Len(t, v.Pages, 3)

	for path, listed := range map[string]bool{
		"/srv/other": true, "/srv/other/x": true, "/srv/other/x/../..": false, "/srv/others": false,
		"/srv": false, "/": false, "srv/other": false, "": false,
	} {
		assert.Equal(t, listed, r.Check("pageFolders", KeyPages, path) == nil, path)
	}
}

// TestReachOfConf checks which configuration files and variables list what a root may
// use.
func TestReachOfConf(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "x.root")
	require.NoError(t, os.WriteFile(root, nil, 0o600))
	require.NoError(t, os.Symlink(root, filepath.Join(dir, "link.root")))
	exe, conf := filepath.Join(dir, "scripter-fcgi"), filepath.Join(dir, "scripter.conf")
	write := func(text string) { require.NoError(t, os.WriteFile(conf, []byte(text), 0o600)) }

	write("root: x.root\npages: ../other\npages: /srv/b\ncache: proxy:6081\n")
	pages := []string{filepath.Join(filepath.Dir(dir), "other"), "/srv/b"}
	c, err := FindConf(nil, "", exe)
	require.NoError(t, err)
	assert.Equal(t, Reach{Pages: pages, Caches: []string{"proxy:6081"}}, c.Reach)

	// A root that a flag or a variable names, by whatever path.
	for _, named := range []string{root, filepath.Join(dir, "link.root"), dir + "/./x.root"} {
		c, err = ConfOf(named, map[string]string{"SCRIPTER_PAGES": "/srv/c"}, exe)
		require.NoError(t, err)
		assert.Equal(t, append(pages[:2:2], "/srv/c"), c.Reach.Pages, named)
		assert.Equal(t, named, c.Root)
		c, err = FindConf(map[string]string{"SCRIPTER_ROOT": named}, "", exe)
		require.NoError(t, err)
		assert.Equal(t, pages, c.Reach.Pages, named)
	}
	// The file lists entries for its own root only.
	c, err = ConfOf(filepath.Join(dir, "y.root"), nil, exe)
	require.NoError(t, err)
	assert.Empty(t, c.Reach)
	// A file with an error that is not needed is reported in Passed.
	write("root: x.root\npages: /\n")
	c, err = ConfOf(root, nil, exe)
	require.NoError(t, err)
	assert.Empty(t, c.Reach)
	assert.ErrorContains(t, c.Passed, "line 2: pages: / is the whole file system")
	_, err = FindConf(nil, "", exe)
	assert.ErrorContains(t, err, "scripter.conf, line 2")
}
