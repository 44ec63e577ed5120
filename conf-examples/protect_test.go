package conf_test

import (
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

// places maps the places that web-servers.md names for the lines of its rules to the
// text of an example after which they belong; "" is the end of the file.
var places = map[string]string{
	"at the end of the file":    "",
	"in the map $scripter_user": "map $uri $scripter_user {\n",
	"above the servers":         "# --- the hosts ------------------------------------------------------------------\n",
	"in each server":            "    listen 127.0.0.1:808", // and a digit
	"in (scripter)":             "(scripter) {\n",
	"first in server.modules":   "server.modules = (",
}

// protect returns the edit that puts the rule of web-servers.md for an example into it.
func protect(t *testing.T, example, hash string) func(file, text string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/web-servers.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## A folder that needs a password\n")
	require.True(t, ok)
	name := strings.TrimSuffix(example, ".conf")
	for part := range strings.SplitSeq(section, "\n### ") {
		title, rest, _ := strings.Cut(part, "\n")
		if !strings.Contains(", "+title+",", ", "+name+",") {
			continue
		}
		_, block, ok := strings.Cut(rest, "```\n")
		require.True(t, ok, title)
		block, _, _ = strings.Cut(block, "```\n")
		block = strings.ReplaceAll(block, "HASH", hash)
		return func(file, text string) string {
			if file != example {
				return text
			}
			for _, piece := range strings.Split("\n"+block, "\n# ")[1:] {
				where, lines, _ := strings.Cut(piece, "\n")
				anchor, known := places[where]
				if !assert.True(t, known, where) {
					continue
				}
				if anchor == "" {
					text += lines + "\n"
					continue
				}
				assert.Contains(t, text, anchor)
				parts := strings.SplitAfter(text, anchor)
				for i := 1; i < len(parts); i++ {
					if where == "in each server" { // after the line that has it
						end := strings.IndexByte(parts[i], '\n') + 1
						parts[i] = parts[i][:end] + lines + "\n" + parts[i][end:]
						continue
					}
					parts[i] = lines + "\n" + parts[i]
				}
				text = strings.Join(parts, "")
			}
			return text
		}
	}
	t.Fatalf("web-servers.md has no rule for %s", example)
	return nil
}

// authModules loads the modules for passwords that Debian's Apache has loaded.
const authModules = `LoadModule authn_core_module /usr/lib/apache2/modules/mod_authn_core.so
LoadModule authn_file_module /usr/lib/apache2/modules/mod_authn_file.so
LoadModule auth_basic_module /usr/lib/apache2/modules/mod_auth_basic.so
LoadModule authz_user_module /usr/lib/apache2/modules/mod_authz_user.so
`

// TestProtectedFolder checks that the rules of web-servers.md protect the pages, files
// and scripts of a folder behind each web server, and that a script has no URL in
// another folder or requires a user there too.
func TestProtectedFolder(t *testing.T) {
	for _, s := range servertest.SetUps {
		if s.Resident {
			continue // the web server's rules are the same
		}
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			site := corpus.NewSite(t)
			hash := ""
			if s.Name() == "caddy" {
				out, err := exec.Command("caddy", "hash-password", "--plaintext", "sesame").Output()
				require.NoError(t, err)
				hash = strings.TrimSpace(string(out))
			}
			rule := protect(t, s.Files[0], hash)
			s.Edit = func(file, text string) string {
				text = rule(file, text)
				if file == "apache-base.conf" {
					text += authModules
				}
				return text
			}
			write := func(path, text string) {
				t.Helper()
				path = filepath.Join(site.Dir, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			write("conf/members", "ada:{SHA}CEo1Ae3vaEXy8eQZjsOiuBz1xrw=\n") // htpasswd -s: sesame
			write("www/members/page.mcro", "<p>secret page</p>")
			write("www/members/plain.html", "secret file")
			put(t, site, "suites.webserverScripts.protected", "--kind", "script",
				`local p = ... return "secret script of " .. (p.cgi.REMOTE_USER or p.cgi.REDIRECT_REMOTE_USER or "nobody")`)
			client := s.Start(t, site)
			scripter(t, site, "settings", "scriptFolders", "/members")
			const host, says = "scripter.example", "ada:sesame"

			for path, want := range map[string]string{
				"/members/page.mcro": "secret page", "/members/plain.html": "secret file",
				"/members/protected.fcgi":       "secret script of ada",
				"/members/protected.fcgi/extra": "secret script of ada", "/members/PROTECTED.FCGI$x": "secret script of ada",
			} {
				assert.Equal(t, 401, get(t, client, path).Status, path)
				r := getAs(t, client, host, says, path)
				assert.Equal(t, 200, r.Status, path)
				assert.Contains(t, string(r.Body), want, path)
			}
			assert.Equal(t, 401, getAs(t, client, host, "ada:wrong", "/members/protected.fcgi").Status)
			protected := func(list []found) (states []string) {
				for _, f := range list {
					if f.Check == "protected" {
						states = append(states, f.State)
					}
				}
				return states
			}
			assert.Equal(t, []string{"ok", "ok"}, protected(doctor(t, site, client, "--protected", "/members/")))
			assert.Contains(t, protected(doctor(t, site, client, "--protected", "/open")), "fault")
			// Without the password no spelling of a URL leads into the folder, and the
			// script has no other URL.
			urls := []string{
				"/protected.fcgi", "/PROTECTED.fcgi", "/protected.fcgi/members/", "/any/protected.fcgi", "//members/protected.fcgi",
				"/members//protected.fcgi", "/./members/protected.fcgi", "/x/../members/protected.fcgi",
				"/members%2Fprotected.fcgi",
				"/%6Dembers/protected.fcgi", "/MEMBERS/protected.fcgi", "/members/protected.fcgi/%E9",
				"/members/%E9/protected.fcgi",
				"/members/page.mcro/%E9", "/members/page.mcro/extra", "//members/page.mcro", "//members/plain.html",
				"/x/../members/plain.html",
			}
			for _, path := range urls {
				r := get(t, client, path)
				assert.NotEqual(t, 200, r.Status, "%s: %s", path, r.Body)
				assert.NotContains(t, string(r.Body), "secret", path)
			}

			// An old root has scripts in every folder: then the script's row requires a user.
			scripter(t, site, "settings", "scriptFolders", "*")
			assert.Equal(t, 200, get(t, client, "/protected.fcgi").Status, "the script is not protected here")
			assert.Equal(t, []string{"ok", "fault"}, protected(doctor(t, site, client, "--protected", "/members")))
			scripter(t, site, "settings", "scriptFolders", "/ /members")
			assert.Equal(t, []string{"ok", "warning"}, protected(doctor(t, site, client, "--protected", "/members")))
			scripter(t, site, "settings", "scriptFolders", "*")
			scripter(t, site, "requires", "suites.webserverScripts.protected", "user", "ada")
			for _, path := range urls {
				r := get(t, client, path)
				assert.NotEqual(t, 200, r.Status, "%s: %s", path, r.Body)
			}
			r := getAs(t, client, host, says, "/members/protected.fcgi")
			assert.Equal(t, "secret script of ada", string(r.Body))
			field, _ := r.Field("Cache-Control")
			assert.Equal(t, "private, no-cache", field)
		})
	}
}
