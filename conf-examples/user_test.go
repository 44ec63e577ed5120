package conf_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// TestCheckedUser: behind nginx a name is the web server's user where auth_basic
// has asked for the password, and nowhere else: $remote_user holds what the
// visitor says.
//
// Specification: 5.1
func TestCheckedUser(t *testing.T) {
	for _, name := range []string{"nginx-fastcgi", "nginx-fcgiwrap"} {
		t.Run(name, func(t *testing.T) {
			s := servertest.Named(t, name)
			site := corpus.NewSite(t)
			members := filepath.Join(site.Dir, "members")
			require.NoError(t, os.WriteFile(members, []byte("ada:{PLAIN}sesame\n"), 0o644))
			s.Edit = edits(t, name+".conf", "server_name second.example;",
				"server_name second.example;\nauth_basic Members;\nauth_basic_user_file "+members+
					";\nset $scripter_user $remote_user;")
			client := s.Start(t, site)
			for _, c := range []struct {
				host, says string
				status     int
				want       string
			}{
				{"scripter.example", "ada:sesame", 200, "user []"},
				{"second.example", "ada:sesame", 200, "user [ada]"},
				{"second.example", "ada:wrong", 401, ""},
			} {
				r := getAs(t, client, c.host, c.says, "/params-user.fcgi")
				assert.Equal(t, c.status, r.Status, "%+v: %s", c, r.Body)
				if c.want != "" {
					assert.Equal(t, c.want, string(r.Body), "%+v", c)
				}
			}
		})
	}
}

// TestFailedLogin checks that the name of a failed login is not a user. Apache passes
// it to the ErrorDocument, though nobody has checked it.
//
// Specification: 5.1
func TestFailedLogin(t *testing.T) {
	for _, s := range servertest.SetUps {
		if s.Resident || !strings.HasPrefix(s.Name(), "apache-") {
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			site := corpus.NewSite(t)
			members := filepath.Join(site.Dir, "conf/members")
			require.NoError(t, os.MkdirAll(filepath.Dir(members), 0o755))
			require.NoError(t, os.WriteFile(members, []byte("ada:{SHA}CEo1Ae3vaEXy8eQZjsOiuBz1xrw=\n"), 0o644)) // sesame
			put(t, site, "suites.webserverScripts.forUsers", "--kind", "script", `return "for " .. (...).username`)
			rule := protect(t, s.Files[0], "")
			s.Edit = func(file, text string) string {
				if text = rule(file, text); file == "apache-base.conf" {
					text += authModules
				}
				if file == s.Files[0] {
					text += "ErrorDocument 401 /params-user.fcgi\n"
				}
				return text
			}
			client := s.Start(t, site)
			scripter(t, site, "requires", "suites.webserverScripts.forUsers", "user")
			scripter(t, site, "settings", "scriptFolders", "*")
			for says, want := range map[string]string{"ada:sesame": "user [ada]", "ada:wrong": "user []", "eve:x": "user []"} {
				r := getAs(t, client, "scripter.example", says, "/members/params-user.fcgi")
				assert.Equal(t, want, string(r.Body), says)
			}
			r := getAs(t, client, "scripter.example", "ada:sesame", "/members/forUsers.fcgi")
			assert.Equal(t, "for ada", string(r.Body))
		})
	}
}

// getAs asks a host for a path with a name and a password, "name:password".
func getAs(t *testing.T, client corpus.Client, host, user, path string) *corpus.Response {
	t.Helper()
	conn, err := client.Dial()
	require.NoError(t, err)
	defer conn.Close()
	r, err := conn.Do([]byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" +
		"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user)) + "\r\n\r\n"))
	require.NoError(t, err)
	return r
}
