package conf_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// actionExamples are the files with optional actions, by the set-up that the
// tests start them with.
var actionExamples = map[string]string{"apache-cgi": "apache-actions.inc", "nginx-fastcgi": "nginx-actions.inc"}

// setUpWith gives a set-up that includes a file of optional actions.
func setUpWith(t *testing.T, name string) servertest.SetUp {
	t.Helper()
	s := servertest.Named(t, name)
	file := actionExamples[name]
	s.Files = append(s.Files[:len(s.Files):len(s.Files)], file)
	if name == "apache-cgi" {
		command := s.Command
		s.Command = func(p servertest.Place, conf string) []string {
			return append(command(p, conf), "-c", "Include "+filepath.Join(p.Dir, "conf", file))
		}
		return s
	}
	s.Install = func(t *testing.T, p servertest.Place) {
		locations := filepath.Join(p.Dir, "conf", "nginx-locations.inc")
		text, err := os.ReadFile(locations)
		require.NoError(t, err)
		include := "\ninclude " + filepath.Join(p.Dir, "conf", file) + ";\n"
		require.NoError(t, os.WriteFile(locations, append(text, include...), 0o644))
	}
	return s
}

// put stores an object in the root of a site, before its server runs.
func put(t *testing.T, site *corpus.Site, args ...string) {
	t.Helper()
	out, err := exec.Command(site.Program("scripter"), append([]string{"--root", site.Root, "put", "--parents"},
		args...)...).CombinedOutput()
	require.NoError(t, err, "put %s: %s", args, out)
}

func get(t *testing.T, client corpus.Client, path string) *corpus.Response {
	t.Helper()
	conn, err := client.Dial()
	require.NoError(t, err)
	defer conn.Close()
	r, err := conn.Do([]byte("GET " + path + " HTTP/1.1\r\nHost: " + client.Addr + "\r\nConnection: close\r\n\r\n"))
	require.NoError(t, err, path)
	return r
}

// actionScripts are the actions of the test: each says its name, and what it got.
var actionScripts = map[string]string{
	"SHOUT": `local p = ... return webserver.expandPage (p):upper ()`,
	"ERROR": `local p = ... return {status = tonumber (p.scriptName:match ("%d+$")), ` +
		`body = "ERROR for " .. p.cgi.REQUEST_URI}`,
	"NOACCESS": `local p = ... return {status = tonumber (p.scriptName:match ("%d+$")), ` +
		`body = "NOACCESS for " .. p.cgi.REQUEST_URI}`,
	"INDEX": `local p = ... return "INDEX for " .. p.cgi.REQUEST_URI`,
	"PREPROCESSOR": `local p = ... scratchpad.pre = (scratchpad.pre or 0) + 1 ` +
		`if p.searchTable.x then return "PREPROCESSOR " .. p.searchTable.x end return ""`,
	"POSTPROCESSOR": `local p = ... scratchpad.post = p.cgi.REQUEST_URI return "nobody sees this"`,
}

// TestActions: an action of one's own, and those that the web server raises
// (specification, 2.1 and 4.3.6), through a real Apache and nginx.
//
// Specification: 2.1.1, 2.3.3, 4.3.6, 6.4
func TestActions(t *testing.T) {
	for name := range actionExamples {
		t.Run(name, func(t *testing.T) {
			s := setUpWith(t, name)
			site := corpus.NewSite(t)
			for action, source := range actionScripts {
				put(t, site, "user.webserver.actions."+action, "--kind", "script", source)
			}
			put(t, site, "suites.webserverScripts.seen", "--kind", "script",
				`return tostring (rawget (_G, "x")) .. tostring (scratchpad.post) .. " " .. tostring (scratchpad.pre)`)
			put(t, site, "suites.webserverScripts.own404", "--kind", "script", `return {status = 404, body = "my own"}`)
			if name == "nginx-fastcgi" {
				rowsOfTheExample(t, site)
			}
			for file, text := range map[string]string{
				"a.shout": "loud <!--#method-->", "closed/x.txt": "secret", "bare/x.txt": "x", "pre/x.txt": "from the disk",
				"post/x.txt": "posted", "index.none": "", "whole/index.html": "an index",
			} {
				path := filepath.Join(site.WWW, filepath.FromSlash(file))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			client := s.Start(t, site)
			closed := filepath.Join(site.WWW, "closed", "x.txt")
			require.NoError(t, os.Chmod(closed, 0o000))
			for _, c := range []struct {
				path   string
				status int
				body   string
			}{
				{"/a.shout", 200, "LOUD GET"},
				{"/none.shout?q=1", 404, "ERROR for /none.shout?q=1"},
				{"/no/such/file.gif", 404, "ERROR for /no/such/file.gif"},
				{"/none.mcro", 404, "ERROR for /none.mcro"},
				{"/own404.fcgi", 404, "my own"},
				{"/closed/x.txt", 403, "NOACCESS for /closed/x.txt"},
				{"/bare/", 200, "INDEX for /bare/"},
				{"/whole/", 200, "an index"},
				{"/pre/x.txt", 200, "from the disk"},
				{"/pre/x.txt?x=1", 200, "PREPROCESSOR 1"},
				{"/post/x.txt", 200, "posted"},
			} {
				r := get(t, client, c.path)
				assert.Equal(t, c.status, r.Status, c.path)
				assert.Equal(t, c.body, r.Body, c.path)
			}
			want := "nilnil 2"
			if name == "nginx-fastcgi" {
				want = "nil/post/x.txt 2"
			}
			assert.Eventually(t, func() bool { return get(t, client, "/seen.fcgi").Body == want }, time.Minute,
				50*time.Millisecond, want)
		})
	}
}

// rowsOfTheExample does the commands that the head of nginx-actions.inc shows.
func rowsOfTheExample(t *testing.T, site *corpus.Site) {
	t.Helper()
	text, err := os.ReadFile("nginx-actions.inc")
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(text)) {
		if _, args, ok := strings.Cut(line, "scripter put -p '"); ok {
			address, value, _ := strings.Cut(args, "' ")
			put(t, site, address, strings.TrimSpace(value))
			count++
		}
	}
	require.Equal(t, 6, count)
}

// TestTwoServers: an Apache and an nginx on one root, answering at once. They
// share one server id; each reply goes to the server that asked and bears its
// name (specification, 6.2).
//
// Specification: 2.3.10, 6.2, 6.2.1, 6.2.3
func TestTwoServers(t *testing.T) {
	servers := map[string]servertest.SetUp{
		"Apache": servertest.Named(t, "apache-cgi"),
		"nginx":  servertest.Named(t, "nginx-fastcgi"),
	}
	site := corpus.NewSite(t)
	put(t, site, "suites.webserverScripts.who", "--kind", "script", `
		scratchpad.asked = (scratchpad.asked or 0) + 1
		return httpd.appInfo.name .. " " .. httpd.appInfo.id .. " " .. (...).searchTable.n`)
	put(t, site, "suites.webserverScripts.parts", "--kind", "script", `
		local n = (...).searchTable.n
		webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
		for i = 1, 5 do
			httpd.sendPartial (httpd.appInfo.name .. n .. " ", connectionID)
		end
		return ""`)
	clients := map[string]corpus.Client{}
	for name, s := range servers {
		clients[name] = s.Start(t, site)
	}
	var wg sync.WaitGroup
	const each, times = 3, 8
	for name, client := range clients {
		for g := range each {
			wg.Go(func() {
				for i := range times {
					n := fmt.Sprintf("%d-%d", g, i)
					r := get(t, client, "/who.fcgi?n="+n)
					assert.Equal(t, name+" httpd "+n, r.Body)
					server, _ := r.Field("Server")
					assert.True(t, strings.HasPrefix(server, name), server)
					assert.Equal(t, strings.Repeat(name+n+" ", 5), get(t, client, "/parts.fcgi?n="+n).Body)
				}
			})
		}
	}
	wg.Wait()
	out, err := exec.Command(site.Program("scripter"), "--root", site.Root, "get", "scratchpad.asked").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, fmt.Sprint(2*each*times), strings.TrimSpace(string(out)), "one root for both")
}
