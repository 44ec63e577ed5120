package conf_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// found is one finding of "scripter doctor".
type found struct {
	State, Check, Reason string
	Change               []string
}

// doctor runs "scripter doctor" on a server. It checks that the exit status
// is 1 exactly when there is a fault.
func doctor(t *testing.T, s *corpus.Site, client corpus.Client, args ...string) []found {
	t.Helper()
	args = append([]string{"--root", s.Root, "doctor", "--json", "--url", "http://" + client.Addr + "/"}, args...)
	c := exec.Command(s.Program("scripter"), args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	var report struct {
		Faults int
		Checks []found
	}
	require.NoError(t, json.Unmarshal(out, &report), "%s%s", out, &stderr)
	if report.Faults == 0 {
		assert.NoError(t, err, "%s", &stderr)
	} else {
		assert.Equal(t, 1, c.ProcessState.ExitCode(), "%s", &stderr)
	}
	return report.Checks
}

// bad are the findings that are not ok, as "state check".
func bad(list []found) []string {
	names := []string{}
	for _, f := range list {
		if name := f.State + " " + f.Check; f.State != "ok" && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names
}

// reset takes away what the server before has left in the site.
func reset(t *testing.T, s *corpus.Site) {
	t.Helper()
	for _, dir := range []string{"conf", "cgi-bin", "fcgi-bin", "www/cgi-bin", "second/cgi-bin"} {
		require.NoError(t, os.RemoveAll(filepath.Join(s.Dir, dir)))
	}
	corpus.GiveToServer(t, s.Dir)
}

// TestDoctorHealthy: the examples have no fault, nor cause for a warning.
//
// Specification: 2.1.7, 2.2.4
func TestDoctorHealthy(t *testing.T) {
	t.Parallel()
	site := corpus.NewSite(t)
	for _, s := range servertest.SetUps {
		t.Run(s.Name(), func(t *testing.T) {
			reset(t, site)
			setUp := servertest.Named(t, s.Name())
			setUp.Routes = true
			list := doctor(t, site, setUp.Start(t, site))
			want := []string{}
			if strings.HasPrefix(s.Name(), "lighttpd") || strings.HasPrefix(s.Name(), "nginx") {
				want = append(want, "warning routes") // for a folder without an index
			}
			assert.Equal(t, want, bad(list), "%+v", list)
			for _, check := range []string{"SCRIPTER", "MACRO", "index", "routes", "extra path", "arguments", "letters", "variables",
				"proxy", "authorization", "user",
				"body", "buffering", "HEAD", "error pages", "redirect", "header", "root", "rights", "direct call", "public", "name",
				"source", "not UTF-8", "other host", "underscore"} {
				assert.Contains(t, checks(list), check)
			}
			leavesNothing(t, site)
		})
	}
}

func checks(list []found) []string {
	var names []string
	for _, f := range list {
		names = append(names, f.Check)
	}
	return names
}

// leavesNothing: the token is out of the root when the doctor is.
func leavesNothing(t *testing.T, s *corpus.Site) {
	t.Helper()
	out, err := exec.Command(s.Program("scripter"), "--root", s.Root, "ls", "system").Output()
	require.NoError(t, err)
	assert.NotContains(t, string(out), "temp")
}

// edits gives a function that makes changes old → new in one of the example's
// files. Every old text must be there.
func edits(t *testing.T, file string, pairs ...string) func(string, string) string {
	return func(name, text string) string {
		if name != file {
			return text
		}
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(text, pairs[i]) {
				t.Errorf("%s has no %q", file, pairs[i])
			}
			text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
		}
		return text
	}
}

const locationMatch = "<LocationMatch \"(?i)^/(?!cgi-bin/).*\\.fcgi([/$]|$)\">\n" +
	"    SetHandler SCRIPTER\n</LocationMatch>"

// faulty are configurations with faults, and what the doctor finds.
var faulty = []struct {
	name   string
	setUp  string
	file   string   // that is edited
	edits  []string // old, new, old, new …
	also   []string // another file, and its edits
	broken bool     // scripts do not answer
	args   []string // of doctor
	// superuser: to another user the root and the web server belong alike, and
	// what one may not write the other may not.
	superuser bool
	change    func(*servertest.SetUp)
	after     func(t *testing.T, s *corpus.Site) // when the server runs
	want      []string                           // all that is not ok
	lines     []string                           // to change
}{
	{
		name: "what Apache keeps from scripts", setUp: "apache-cgi", file: "apache-cgi.conf",
		edits: []string{
			"    CGIPassAuth On\n", "",
			`<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)">`, `<LocationMatch "^/(?!cgi-bin/).*\.fcgi$">`,
			"<FilesMatch \"(?i)\\.mcro$\">\n    SetHandler MACRO\n</FilesMatch>", "ServerTokens Prod",
		},
		want: []string{"warning software", "fault extra path", "fault arguments", "warning letters", "fault source",
			"fault authorization"},
		lines: []string{
			`<LocationMatch "(?i)^/(?!cgi-bin/).*\.fcgi([/$]|$)">`, `<FilesMatch "(?i)\.mcro$"> SetHandler MACRO </FilesMatch>`,
			"ServerTokens Full", "CGIPassAuth On",
		},
	},
	{
		name: "a root that Apache may not write, and another name", setUp: "apache-cgi",
		superuser: true,
		after: func(t *testing.T, s *corpus.Site) {
			scripter(t, s, "put", "user.webserver.serverName", "Apache/1.3.0")
			lock(t, s)
		},
		want:  []string{"fault name", "fault rights", "warning MACRO"},
		lines: []string{"scripter settings serverName 'Apache/2", "chown -R "},
	},
	{
		name: "an Action that wants a file", setUp: "apache-cgi", file: "apache-cgi.conf", broken: true,
		edits: []string{"Scripter.acgi virtual", "Scripter.acgi"},
		want:  []string{"fault SCRIPTER", "warning MACRO"},
		lines: []string{"Action SCRIPTER /cgi-bin/Scripter.acgi virtual"},
	},
	{
		name: "an nph- program behind an Action", setUp: "apache-nph", file: "apache-nph.conf", broken: true,
		edits: []string{
			`ScriptAliasMatch "(?is)^/(?!cgi-bin/|(?-i:override/)).*\.fcgi([/$].*)?$" "/srv/scripter/cgi-bin/nph-Scripter.acgi"`,
			"LoadModule actions_module /usr/lib/apache2/modules/mod_actions.so\n" +
				"Action SCRIPTER /cgi-bin/nph-Scripter.acgi virtual\n" + locationMatch,
		},
		want:  []string{"fault second answer"},
		lines: []string{"ScriptAliasMatch"},
	},
	{
		name: "mod_fcgid as it is supplied", setUp: "apache-fcgid", file: "apache-fcgid.conf",
		edits: []string{"FcgidOutputBufferSize 0\n", "", "FcgidMaxRequestLen 16777216\n", ""},
		want:  []string{"fault body", "fault buffering"},
		lines: []string{"FcgidMaxRequestLen 16777216", "FcgidOutputBufferSize 0"},
	},
	{
		name: "mod_fcgid claims .fcgi", setUp: "apache-fcgid", file: "apache-fcgid.conf", broken: true,
		edits: []string{"RemoveHandler .fcgi", "AddHandler fcgid-script .fcgi", locationMatch, ""},
		want:  []string{"fault fcgid", "warning MACRO"},
		lines: []string{"RemoveHandler .fcgi"},
	},
	{
		name: "mod_proxy_fcgi buffers, mod_headers writes", setUp: "apache-proxy-fcgi", file: "apache-proxy-fcgi.conf",
		edits: []string{
			" flushpackets=on", "",
			"TraceEnable Off", "LoadModule headers_module /usr/lib/apache2/modules/mod_headers.so\n" +
				"Header edit Location ^http: https:\nHeader set Cache-Control max-age=60",
		},
		want:  []string{"fault buffering", "fault redirect", "fault twice"},
		lines: []string{"flushpackets=on", "Header edit Location", "let the web server set that field"},
	},
	{
		name: "nginx with half of its lines", setUp: "nginx-fastcgi", file: "nginx-fastcgi.conf",
		edits: []string{
			"fastcgi_param HTTP_PROXY        \"\";\n", "", "REMOTE_USER       $scripter_user;",
			"REMOTE_USER       $remote_user;", "fastcgi_param REQUEST_URI       $request_uri;\n", "",
			"fastcgi_param QUERY_STRING      $query_string;\n", "", "fastcgi_param REDIRECT_HANDLER  $scripter_action;\n", "",
			"client_max_body_size 16m;", "client_max_body_size 100k;\nfastcgi_intercept_errors on; error_page 404 /none.html;",
			"fastcgi_buffering off;", "fastcgi_ignore_headers X-Accel-Buffering;", "fastcgi_keep_conn on;\n", "",
			// on a kept connection nginx holds no record back
			"fastcgi_param SCRIPT_FILENAME   $document_root$fastcgi_script_name;\n", "",
			"fastcgi_param DOCUMENT_ROOT     $document_root;\n", "",
			"    include /srv", "location /cgi-bin/ { fastcgi_split_path_info ^(/cgi-bin/Scripter.acgi)(/.*)$; " +
				"fastcgi_pass scripter; }\n    include /srv",
		},
		also: []string{"nginx-locations.inc", `"^/cgi-bin(/|$)"`, `"^/none$"`},
		args: []string{"--page", "/page-case/PAGE.MCRO"},
		want: []string{"fault page file", "fault variable", "warning override", "fault proxy", "fault user", "fault body",
			"fault buffering", "fault error pages", "fault direct call"},
		lines: []string{
			"fastcgi_param REQUEST_URI $request_uri;", "fastcgi_param QUERY_STRING $query_string;",
			`fastcgi_param HTTP_PROXY "";`, "fastcgi_param REMOTE_USER $scripter_user;",
			"client_max_body_size 16m;", "fastcgi_buffering off;", "fastcgi_intercept_errors off;",
		},
	},
	{
		name: "nginx with locations of its own", setUp: "nginx-fastcgi", file: "nginx-locations.inc",
		edits: []string{
			`location ~* (?s)^/(?!cgi-bin/).*\.fcgi([/$]|$) {`,
			"location ~ \\.fcgi$ {\nexpires 1h;\nif ($request_method = HEAD) { return 405; }",
			`location ~* (?s)^/(?!cgi-bin/).*\.mcro(/|$) {`, `location ~* \.none$ {`,
		},
		want: []string{"fault extra path", "fault arguments", "warning letters", "fault source", "fault HEAD",
			"fault cache"},
		lines: []string{`location ~* ^/(?!cgi-bin/).*\.fcgi([/$]|$)`,
			`location ~* ^/(?!cgi-bin/).*\.mcro(/|$) { fastcgi_pass scripter; }`},
	},
	{
		name: "nginx and no daemon", setUp: "nginx-fastcgi", broken: true,
		change: func(s *servertest.SetUp) { s.Daemon = false },
		want:   []string{"fault handler", "warning MACRO"},
		lines:  []string{"start scripter-fcgi"},
	},
	{
		name: "fcgiwrap without the path", setUp: "nginx-fcgiwrap", file: "nginx-fcgiwrap.conf", broken: true,
		edits: []string{"fastcgi_param PATH_INFO         $uri;\n", "", "fastcgi_param CONTENT_LENGTH    $content_length;\n",
			""},
		want:  []string{"fault path", "fault variable"},
		lines: []string{"fastcgi_param PATH_INFO $uri;", "fastcgi_param CONTENT_LENGTH $content_length;"},
	},
	{
		name: "lighttpd with an open cgi-bin", setUp: "lighttpd-cgi", file: "lighttpd-cgi.conf",
		edits: []string{
			"server.stream-response-body = 1\n", "", `url.access-deny = ( "" )`, "",
		},
		after: func(t *testing.T, s *corpus.Site) {
			require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "cgi-bin", "scripter.conf"), []byte("root: "+s.Root+"\n"),
				0o644))
		},
		want:  []string{"fault buffering", "fault public", "fault source"}, // backup copies of editors
		lines: []string{"server.stream-response-body = 1", `url.access-deny = ( "" )`},
	},
	{
		name: "lighttpd sends sources, and the root", setUp: "lighttpd-fastcgi", file: "lighttpd-fastcgi.conf",
		edits: []string{
			`server.document-root = "/srv/scripter/www"`, `server.document-root = "/srv/scripter"`,
			`static-file.exclude-extensions = ( ".fcgi", ".mcro", ".acgi" )`, "",
			`"(?i)\.mcro(/|$)"`, `"\.none$"`, `( ".mcro" => ((`, `( ".none" => ((`, `    url.access-deny = ( "" )`, "",
		},
		want:  []string{"fault source", "fault public"},
		lines: []string{`static-file.exclude-extensions = ( ".fcgi", ".mcro", ".acgi" )`},
	},
	{
		name: "lighttpd as CGI, of an older example", setUp: "lighttpd-cgi", file: "lighttpd-cgi.conf",
		edits: []string{`$HTTP["url"] !~ "^/"`, `$HTTP["url"] == "/none"`},
		want:  []string{"fault not UTF-8"},
		lines: []string{`$HTTP["url"] !~ "^/"`, "url.rewrite-once"},
	},
	{
		name: "lighttpd, of an older example", setUp: "lighttpd-fastcgi", file: "lighttpd-fastcgi.conf",
		edits: []string{`$HTTP["url"] !~ "^/"`, `$HTTP["url"] == "/none"`, `"(?is)^/cgi-bin(?:/|$)|^(?!`,
			`"(?is)^/none|^(?!`, `|/scripter\.conf(?:[^a-z/][^/]*)?(?:/|$)`, ""},
		after: leaveConf,
		want:  []string{"fault public", "fault source", "fault not UTF-8"},
		lines: []string{`$HTTP["url"] !~ "^/"`},
	},
	{
		name: "nginx, of an older example", setUp: "nginx-fastcgi", file: "nginx-locations.inc",
		edits: []string{`"^/cgi-bin(/|$)"`, `"^/none$"`, `|/scripter\.conf([^a-z/][^/]*)?(/|$)`, "",
			`|\.mcro[^/$]|[~#](/|$)`, ""},
		after: func(t *testing.T, s *corpus.Site) {
			leaveConf(t, s)
			require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "old.mcro~"), []byte("<!--#method-->"), 0o644))
			t.Cleanup(func() { os.Remove(filepath.Join(s.WWW, "old.mcro~")) })
		},
		want:  []string{"fault public", "fault source"},
		lines: []string{`if ($uri ~* "^/cgi-bin(/|$)") { return 404; }`, `if ($uri ~* "\.mcro[^/$]") { return 404; }`},
	},
	{
		name: "Apache with Debian's compression", setUp: "apache-cgi", file: "apache-cgi.conf",
		edits: []string{"TraceEnable Off", "LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so\n" +
			"LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so\n" +
			"AddOutputFilterByType DEFLATE text/html text/plain"},
		want:  []string{"note compression"},
		lines: []string{`no-gzip (only for a script that calls webserver.sendPartial`},
	},
	{
		name: "Caddy, of an older example", setUp: "caddy", file: "Caddyfile",
		edits: []string{"header_up -*_*\n", "\n", "redir @folder {re.folder.1}/ 308", "redir @folder {path}/ 308"},
		want:  []string{"fault underscore", "fault other host"},
		lines: []string{"header_up -*_*", "redir @folder {re.folder.1}/ 308"},
	},
	{
		name: "Caddy as it is supplied", setUp: "caddy", file: "Caddyfile",
		edits: []string{
			"header_up -Proxy\n", "", "header_down -Status\n", "header_down Location ^http: https:\n", "header_down -Server\n",
			"", "flush_interval -1\n", "",
			"root * /srv/scripter/www\n", "root * /srv/scripter/www\n\trequest_body {\n\t\tmax_size 100KB\n\t}\n",
		},
		want: []string{"fault proxy", "fault body", "fault buffering", "fault redirect", "fault twice",
			"fault status field"},
		lines: []string{"header_up -Proxy", "max_size 16MB", "flush_interval -1", "header_down -Status",
			"header_down -Server"},
	},
}

// leaveConf puts a scripter.conf into the cgi-bin below the document root.
func leaveConf(t *testing.T, s *corpus.Site) {
	require.NoError(t, os.MkdirAll(filepath.Join(s.WWW, "cgi-bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "cgi-bin", "scripter.conf"), []byte("root: "+s.Root+"\n"), 0o644))
}

// TestDoctorFaults: what is wrong with a web server is found, named, and the
// line to change is said; and nothing else is.
//
// Specification: 2.2.4
func TestDoctorFaults(t *testing.T) {
	t.Parallel()
	site := corpus.NewSite(t)
	scripter(t, site, "eval", "user.webserver.routes = nil") // see TestDoctorRoutes
	kinds, ran := map[string]bool{}, 0
	_, _, superuser := corpus.ServerUser(t)
	for i, f := range faulty {
		if f.superuser && !superuser {
			ran++
			continue
		}
		// A long name would make the path of a socket too long.
		t.Run(fmt.Sprintf("%s-%d", f.setUp, i+1), func(t *testing.T) {
			t.Log(f.name)
			ran++
			s := servertest.Named(t, f.setUp)
			reset(t, site)
			if s.Broken = f.broken; f.change != nil {
				f.change(&s)
			}
			if f.file != "" {
				s.Edit = edits(t, f.file, f.edits...)
			}
			if f.also != nil {
				first, second := s.Edit, edits(t, f.also[0], f.also[1:]...)
				s.Edit = func(file, text string) string { return second(file, first(file, text)) }
			}
			client := s.Start(t, site)
			if f.after != nil {
				f.after(t, site)
			}
			list := doctor(t, site, client, f.args...)
			assert.Equal(t, f.want, bad(list), "%+v", list)
			var lines []string
			for _, found := range list {
				if found.State == "fault" {
					kinds[found.Check] = true
				}
				lines = append(lines, found.Change...)
			}
			for _, line := range f.lines {
				assert.Contains(t, strings.Join(lines, "\n"), line)
			}
		})
	}
	if ran == len(faulty) { // not when -run picked some
		assert.Greater(t, len(kinds), 20, "kinds of fault: %v", kinds)
	}
}

// TestDoctorRoutes: a web server that does not pass on URLs without extensions is found if there are routes.
func TestDoctorRoutes(t *testing.T) {
	t.Parallel()
	site := corpus.NewSite(t)
	for name, line := range map[string]string{
		"apache-cgi": "SetHandler ROUTE", "apache-nph": "RewriteRule", "nginx-fastcgi": "try_files $uri $uri/ @routes",
		"lighttpd-cgi": "url.rewrite-if-not-file", "lighttpd-fastcgi": "url.rewrite-if-not-file", "caddy": "@route not file",
	} {
		t.Run(name, func(t *testing.T) {
			reset(t, site)
			list := doctor(t, site, servertest.Named(t, name).Start(t, site))
			assert.Equal(t, []string{"fault routes"}, bad(list), "%+v", list)
			for _, f := range list {
				if f.Check == "routes" {
					assert.Contains(t, strings.Join(f.Change, "\n"), line)
				}
			}
		})
	}
}

// TestDoctorAnotherRoot: the web server has another root than the doctor.
func TestDoctorAnotherRoot(t *testing.T) {
	t.Parallel()
	site := corpus.NewSite(t)
	client := servertest.Named(t, "lighttpd-fastcgi").Start(t, site)
	other := *site
	other.Root = filepath.Join(t.TempDir(), "other.root")
	scripter(t, &other, "init")
	assert.Equal(t, []string{"fault root", "warning MACRO"}, bad(doctor(t, &other, client)))

	client.Addr = "127.0.0.1:" + corpus.FreePort(t)
	assert.Equal(t, []string{"fault reach"}, bad(doctor(t, site, client)))
}

func scripter(t *testing.T, s *corpus.Site, args ...string) {
	t.Helper()
	out, err := exec.Command(s.Program("scripter"), append([]string{"--root", s.Root}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// lock takes the right to write the root from the web server's user, until
// the test ends.
func lock(t *testing.T, s *corpus.Site) {
	t.Helper()
	folder := filepath.Dir(s.Root)
	for _, p := range []string{folder, s.Root} {
		require.NoError(t, os.Chown(p, 0, 0))
	}
	t.Cleanup(func() {
		corpus.GiveToServer(t, folder)
		scripter(t, s, "put", "user.webserver.serverName", "")
	})
}
