package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/site"
)

// TestRelayFindsTheRoot checks that the relay and site.FindConf find the same root. The relay
// leaves an invalid or unusual configuration to Go, which reports its errors.
func TestRelayFindsTheRoot(t *testing.T) {
	file, db := makeRelayRoot(t)
	used := resident(t, file, db, nil)
	dir := t.TempDir()
	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	install := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o755))
		return path
	}
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	plain := install("bin/scripter-cgi")
	with := install("beside/scripter-cgi")
	conf := filepath.Join(dir, "beside/scripter.conf")
	link := filepath.Join(dir, "cgi-bin/Scripter.acgi")
	write("cgi-bin/scripter.conf", "root: ./near.root\n", 0o644)
	require.NoError(t, os.Symlink(file, filepath.Join(dir, "cgi-bin/near.root")))
	require.NoError(t, os.Symlink(plain, link))
	script := write("two.acgi", "#!"+plain+"\nroot: "+file+"\n", 0o755)
	page := write("page.fcgi", "#!"+plain+"\nroot: "+file+"\n", 0o755)

	tests := []struct {
		name    string
		path    string
		args    []string
		conf    string // of the program in the folder "beside"
		env     []string
		relayed bool
		wrong   bool // Go answers 503
	}{
		{name: "variable", path: plain, env: []string{"SCRIPTER_ROOT=" + file}, relayed: true},
		{name: "variable behind a redirect", path: plain, env: []string{"REDIRECT_SCRIPTER_ROOT=" + file}, relayed: true},
		{name: "empty variable", path: plain, env: []string{"SCRIPTER_ROOT=", "REDIRECT_SCRIPTER_ROOT=" + file},
			relayed: true},
		{name: "variable before file", path: with, conf: "root: /nowhere\n", env: []string{"SCRIPTER_ROOT=" + file},
			relayed: true},
		{name: "beside", path: with, conf: "# a site\n\n  root :  " + file + "  \r\nnph: off", relayed: true},
		{name: "the last line counts", path: with, conf: "root: /nowhere\nroot: " + file + "\n", relayed: true},
		{name: "beside the link", path: link, args: []string{link}, relayed: true},
		{name: "two-line file", path: script, relayed: true},
		{name: "two-line file with a page's ending", path: page, relayed: true},
		{name: "switched on", path: with, conf: "root: " + file + "\nresident: auto\n", relayed: true},
		{name: "switched off", path: with, conf: "root: " + file + "\nresident: off\n"},
		{name: "switched off by variable", path: plain, env: []string{"SCRIPTER_ROOT=" + file, "SCRIPTER_RESIDENT=off"}},
		{name: "variable before line", path: with, conf: "resident: off\nroot: " + file,
			env: []string{"REDIRECT_SCRIPTER_RESIDENT=auto"}, relayed: true},
		{name: "what the root may use", path: with, conf: "root: " + file +
			"\npages: /srv/other\npages: near\ncache: proxy:6081\n" +
			"cache: http://proxy\ncache-folder: /var/cache/x\nsendfile: off\n", relayed: true},
		{name: "hosts to fetch from", path: with, conf: "root: " + file + "\nfetch: api.example.com, *.Example.org:8443\n" +
			"fetch-private: 10.0.0.5:8080 localhost\n", relayed: true},
		{name: "hosts that are left to Go", path: with, conf: "root: " + file + "\nfetch: https://a.example 1.1.1.1 *\n" +
			"fetch-private: [::1]:80\n"},
		{name: "databases", path: with, conf: "root: " + file + "\ndatabase: shop /srv/shop.db write\n" +
			"database: orders postgres://reader@db:5433/orders?sslmode=disable write\n", relayed: true},
		{name: "databases that are left to Go", path: with, conf: "root: " + file + "\ndatabase: shop shop.db\n"},
		{name: "a database with a password", path: with,
			conf: "root: " + file + "\ndatabase: shop postgres://a:hush@h/db\n", wrong: true},
		{name: "a database without a name", path: with, conf: "root: " + file + "\ndatabase: /srv/shop.db\n", wrong: true},
		{name: "a database without a place", path: with, conf: "root: " + file + "\ndatabase: shop\n", wrong: true},
		{name: "a private host", path: with, conf: "root: " + file + "\nfetch: 10.0.0.5\n", wrong: true},
		{name: "a local host", path: with, conf: "root: " + file + "\nfetch: a.LocalHost\n", wrong: true},
		{name: "no host", path: with, conf: "root: " + file + "\nfetch: a..b\n", wrong: true},
		{name: "no host at all", path: with, conf: "root: " + file + "\nfetch-private: ,\n", wrong: true},
		{name: "no port", path: with, conf: "root: " + file + "\nfetch: a.example:65536\n", wrong: true},
		{name: "a number", path: with, conf: "root: " + file + "\nfetch-private: 2130706433\n", wrong: true},
		{name: "mail servers", path: with, conf: "root: " + file +
			"\nmail: smtp://localhost from=*@example.com\nmail: smtp://a.b+c@mail.example.com:587  from=a@b.c,*@d.e " +
			"password-file=/etc/p ca-file=/etc/ca tls=off\n", relayed: true},
		{name: "a mail server with an address in brackets", path: with, conf: "root: " + file +
			"\nmail: smtp://[::1] from=*@example.com\n"},
		{name: "no mail server", path: with, conf: "root: " + file + "\nmail: localhost from=*@example.com\n", wrong: true},
		{name: "a mail server without senders", path: with, conf: "root: " + file + "\nmail: smtp://localhost\n", wrong: true},
		{name: "wrong senders", path: with, conf: "root: " + file + "\nmail: smtp://localhost from=a@b.c,x\n", wrong: true},
		{name: "a mail server with its password", path: with, conf: "root: " + file +
			"\nmail: smtp://u:p@localhost from=*@example.com\n", wrong: true},
		{name: "what is left to Go", path: with, conf: "root: " + file + "\npages: ../other\ncache: [::1]:6081\n"},
		{name: "the whole machine", path: with, conf: "root: " + file + "\npages: /./\n", wrong: true},
		{name: "a relative dot", path: with, conf: "root: " + file + "\npages: .\n"},
		{name: "no cache server", path: with, conf: "root: " + file + "\ncache: proxy:port\n", wrong: true},
		{name: "wrong sendfile", path: with, conf: "root: " + file + "\nsendfile: yes\n", wrong: true},
		{name: "with dots", path: plain, env: []string{"SCRIPTER_ROOT=" + filepath.Dir(file) + "/../" +
			filepath.Base(filepath.Dir(file)) + "/x.root"}},

		{name: "nothing", path: plain, wrong: true},
		{name: "an argument", path: plain, args: []string{plain, script}, wrong: true},
		{name: "a file that a visitor names", path: plain, args: []string{plain, script},
			env: []string{"SCRIPT_FILENAME=" + script}, wrong: true},
		{name: "missing root", path: plain, env: []string{"SCRIPTER_ROOT=/nowhere/x.root"}, wrong: true},
		{name: "unknown line", path: with, conf: "root: " + file + "\nport: 80\n", wrong: true},
		{name: "no colon", path: with, conf: "root " + file, wrong: true},
		{name: "no root", path: with, conf: "nph: auto\n", wrong: true},
		{name: "wrong nph", path: with, conf: "root: " + file + "\nnph: maybe\n", wrong: true},
		{name: "wrong resident", path: with, conf: "root: " + file + "\nresident: yes\n", wrong: true},
		{name: "wrong variable", path: plain, env: []string{"SCRIPTER_ROOT=" + file, "SCRIPTER_RESIDENT=yes"}, wrong: true},
		{name: "wrong nph variable", path: plain, env: []string{"SCRIPTER_ROOT=" + file, "SCRIPTER_NPH=yes"}, wrong: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.conf != "" {
				write("beside/scripter.conf", test.conf, 0o644)
				defer os.Remove(conf)
			}
			args := test.args
			if args == nil {
				args = []string{test.path}
			}
			got, taken := program{path: test.path, args: args, name: "echo", env: test.env}.runThrough(t, used)
			assert.Equal(t, test.relayed, taken > 0, "%s%s", got.out, got.log)
			assert.Equal(t, test.wrong, strings.HasPrefix(got.out, "Status: 503 "), got.out)

			vars, _ := gateway.Variables(test.env)
			executable, err := filepath.EvalSymlinks(test.path)
			require.NoError(t, err)
			if test.path == script || test.path == page {
				executable = plain
			}
			script, _ := site.ScriptFile(test.path, executable)
			found, err := site.FindConf(vars, script, beside(args[0], executable))
			if test.relayed {
				require.NoError(t, err)
				want, err := gateway.ResidentSocket(found.Root)
				require.NoError(t, err)
				sock, err := gateway.ResidentSocket(file)
				require.NoError(t, err)
				assert.Equal(t, want, sock, "FindConf finds the same root")
			}
		})
	}
}
