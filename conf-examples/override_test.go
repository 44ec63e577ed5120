package conf_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// forced has for each example the lines that make its Action Override force SCRIPTER
// instead of MACRO.
var forced = []struct {
	setUp, file, macro, scripter string
}{
	{"apache-cgi", "apache-cgi.conf", "        SetHandler MACRO\n", "        SetHandler SCRIPTER\n"},
	{"apache-fcgid", "apache-fcgid.conf", "        SetHandler MACRO\n", "        SetHandler SCRIPTER\n"},
	{"apache-proxy-fcgi", "apache-proxy-fcgi.conf", "        SetHandler MACRO\n", "        SetHandler SCRIPTER\n"},
	{"apache-nph", "apache-nph.conf", "E=SCRIPTER_ACTION:MACRO", "E=SCRIPTER_ACTION:SCRIPTER"},
	{"nginx-fastcgi", "nginx-fastcgi.conf", "~^/override/             MACRO;", "~^/override/ SCRIPTER;"},
	{"nginx-fcgiwrap", "nginx-fcgiwrap.conf", "~^/override/             MACRO;", "~^/override/ SCRIPTER;"},
	{"lighttpd-cgi", "lighttpd-cgi.conf", `"SCRIPTER_ACTION" => "MACRO"`, `"SCRIPTER_ACTION" => "SCRIPTER"`},
	{"lighttpd-fastcgi", "lighttpd-fastcgi.conf", `"SCRIPTER_ACTION" => "MACRO"`, `"SCRIPTER_ACTION" => "SCRIPTER"`},
	{"caddy", "Caddyfile", "split .html .mcro .txt\n\t\t\tenv REDIRECT_HANDLER MACRO",
		"split .html .mcro .hello\n\t\t\tenv REDIRECT_HANDLER SCRIPTER"},
}

// TestForcedScripter forces SCRIPTER on a folder, behind each web server. The part of
// a file's name after the last dot may be a name or an extension.
//
// Specification: 2.1.8
func TestForcedScripter(t *testing.T) {
	for _, f := range forced {
		t.Run(f.setUp, func(t *testing.T) {
			t.Parallel()
			s := servertest.Named(t, f.setUp)
			s.Edit = edits(t, f.file, f.macro, f.scripter)
			site := corpus.NewSite(t)
			put(t, site, "suites.webserverScripts.p.hello", "--kind", "script",
				`return "the script p.hello by " .. (...).action`)
			put(t, site, "suites.webserverScripts.report", "--kind", "script", `return "the script report by " .. (...).action`)
			for _, name := range []string{"p.hello", "report.html", "nothing.html"} {
				require.NoError(t, os.WriteFile(filepath.Join(site.WWW, "override", name), nil, 0o644))
			}
			client := s.Start(t, site)
			assert.Equal(t, "the script p.hello by SCRIPTER", get(t, client, "/override/p.hello").Body)
			assert.Equal(t, "the script report by SCRIPTER", get(t, client, "/override/report.html").Body)
			assert.Equal(t, 404, get(t, client, "/override/nothing.html").Status)
		})
	}
}

// TestPrivateFiles checks what the corpus cannot express of files that visitors may
// not request: names that are not UTF-8 or have a line end, the
// well-known folder, and a folder's page.
func TestPrivateFiles(t *testing.T) {
	for _, s := range servertest.SetUps {
		if s.Resident {
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			s := servertest.Named(t, s.Name())
			site := corpus.NewSite(t)
			for name, text := range map[string]string{
				"override/o\xe9.html": "<!--#method-->", "\xe9.mcro": "<!--#method-->", ".well-known/acme": "challenge",
				"site.root.mcro": "page <!--#method-->", "both/index.html": "", "two\nlines.mcro": "page <!--#method-->",
			} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(site.WWW, name)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(site.WWW, name), []byte(text), 0o644))
			}
			client := s.Start(t, site)
			for _, path := range []string{"/override/o%E9.html", "/override/o\xe9.html", "/%E9.mcro", "/two%0Alines.mcro"} {
				assert.NotContains(t, get(t, client, path).Body, "<!--#", path)
			}
			assert.Equal(t, "challenge", get(t, client, "/.well-known/acme").Body)
			assert.Equal(t, "page GET", get(t, client, "/site.root.mcro").Body)
			// The redirect of a folder stays on the host.
			for _, path := range []string{"//evil.example%2f..%2fboth", "//evil.example/%2e%2e/both",
				"/%2fevil.example/..%2fboth", `/%5cevil.example/..%2fboth`} {
				to, _ := get(t, client, path).Field("Location")
				assert.Contains(t, []string{"", "/both/", "http://" + client.Addr + "/both/"}, to, path)
			}
		})
	}
}
