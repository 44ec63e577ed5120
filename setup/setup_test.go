package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/setup"
)

// Where Debian has the configuration of each server.
var mains = map[string]string{
	"nginx": "etc/nginx/nginx.conf", "apache": "etc/apache2/apache2.conf", "lighttpd": "etc/lighttpd/lighttpd.conf",
	"caddy": "etc/caddy/Caddyfile",
}

// options returns options for a folder that stands for the machine, with the main file of each server.
func options(t *testing.T, server string) setup.Options {
	t.Helper()
	o := setup.Options{Server: server, Folder: "/var/www/html", Socket: "/run/scripter/scripter.sock", Prefix: t.TempDir()}
	if server == "nginx" || server == "caddy" {
		o.Name = "www.example.com"
	}
	file := filepath.Join(o.Prefix, mains[server])
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("# mine\n"), 0o644))
	return o
}

// TestPlan checks for each server that the examples have all that setup replaces, that nothing is written before
// Apply, that Undo leaves nothing behind, and that a second setup has nothing to do. packaging/test does the same with the
// real servers.
func TestPlan(t *testing.T) {
	for _, server := range setup.Servers {
		t.Run(server, func(t *testing.T) {
			o := options(t, server)
			before := snapshot(t, o.Prefix)
			p, err := setup.New(o)
			require.NoError(t, err)
			assert.Equal(t, before, snapshot(t, o.Prefix))
			require.NotEmpty(t, p.Changes)
			for _, c := range p.Changes {
				assert.NotContains(t, c.Text, "/srv/scripter", c.Path)
				assert.NotContains(t, c.Text, "127.0.0.1:808", c.Path)
				assert.NotContains(t, c.Text, "second.example", c.Path)
			}
			require.NoError(t, p.Apply(time.Now()))
			after := snapshot(t, o.Prefix)
			assert.NotEqual(t, before, after)
			again, err := setup.New(o)
			require.NoError(t, err)
			assert.Empty(t, again.Changes)
			require.NoError(t, p.Undo())
			assert.Equal(t, before, snapshot(t, o.Prefix))
		})
	}
}

// TestEdited checks that a file that somebody has edited stays, unless Force is set, and that it is then kept.
func TestEdited(t *testing.T) {
	o := options(t, "nginx")
	p, err := setup.New(o)
	require.NoError(t, err)
	require.NoError(t, p.Apply(time.Now()))
	file := filepath.Join(o.Prefix, "etc/nginx/conf.d/scripter.conf")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	edited := strings.Replace(string(text), "16m", "32m", 1)
	require.NoError(t, os.WriteFile(file, []byte(edited), 0o644))
	_, err = setup.New(o)
	assert.ErrorIs(t, err, setup.ErrEdited)
	o.Force = true
	p, err = setup.New(o)
	require.NoError(t, err)
	require.Len(t, p.Changes, 1)
	require.NoError(t, p.Apply(time.Now()))
	kept, err := os.ReadFile(p.Changes[0].Backup())
	require.NoError(t, err)
	assert.Equal(t, edited, string(kept))
}

// TestNotThere checks what is said of a server that is not installed, and of one that nobody knows.
func TestNotThere(t *testing.T) {
	for _, server := range setup.Servers {
		_, err := setup.New(setup.Options{Server: server, Prefix: t.TempDir()})
		assert.ErrorContains(t, err, "it is not installed, or not as Debian does it")
	}
	_, err := setup.New(setup.Options{Server: "iis"})
	assert.ErrorIs(t, err, setup.ErrServer)
}

// TestOtherSite checks that a site of the owner, which answers for every name, stays.
func TestOtherSite(t *testing.T) {
	o := options(t, "nginx")
	o.Name = ""
	enabled := filepath.Join(o.Prefix, "etc/nginx/sites-enabled")
	require.NoError(t, os.MkdirAll(enabled, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(enabled, "default"), []byte("server {}\n"), 0o644))
	_, err := setup.New(o)
	assert.ErrorContains(t, err, "say --name HOST")
}

// snapshot returns the files below a folder and their texts.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}
