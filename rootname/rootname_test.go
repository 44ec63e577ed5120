package rootname

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for name, want := range map[string][2]string{
		"scripter.root":                         {"scripter.root", ""},
		"/a:b@c/x.root":                         {"/a:b@c/x.root", ""},
		"postgres://h/db":                       {"postgres://h/db", ""},
		"postgres://u@h/db?schema=a":            {"postgres://u@h/db?schema=a", ""},
		"postgres://u:p%40w@h:5432/db?schema=a": {"postgres://u@h:5432/db?schema=a", "p@w"},
		"postgresql://u:p@w@h1:1,h2:2/db":       {"postgresql://u@h1:1,h2:2/db", "p@w"},
		"postgres:///db?password=x%20y&host=/s": {"postgres:///db?host=/s", "x y"},
		"postgres://u:p@h":                      {"postgres://u@h", "p"},
		"postgres://u:p@h?password=q&schema=s":  {"postgres://u@h/?schema=s", "p"},
		"postgres://h/db?sslpassword=s":         {"postgres://h/db", ""},
	} {
		without, passwords, err := Split(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, [2]string{without, passwords["PGPASSWORD"]}, name)
		if len(passwords) > 0 {
			assert.ErrorContains(t, CheckPublic(name), "PGPASSFILE")
		} else {
			assert.NoError(t, CheckPublic(name))
		}
	}
	_, _, err := Split("postgres://u:geheim%zz@h/db")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "geheim")
}

func TestHidePasswords(t *testing.T) {
	t.Setenv("SCRIPTER_ROOT", "postgres://u:p@h/db")
	t.Setenv("REDIRECT_SCRIPTER_ROOT", "/a/file.root")
	t.Setenv("PGPASSWORD", "")
	require.NoError(t, HidePasswords())
	for variable, want := range map[string]string{
		"SCRIPTER_ROOT": "postgres://u@h/db", "REDIRECT_SCRIPTER_ROOT": "/a/file.root", "PGPASSWORD": "p",
	} {
		assert.Equal(t, want, os.Getenv(variable))
	}
}

func TestLocalPath(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "/home/ada")
	if mayWrite(sharedFolder) {
		t.Log("the shared folder is there")
		t.Setenv("HOME", "")
	}
	state := sharedFolder
	if !mayWrite(sharedFolder) {
		state = "/home/ada/.local/state/scripter"
	}
	for name, want := range map[string]string{
		"x/y.root":                                 "x/y.root",
		"postgres://u@db.example/site":             state + "/db.example-site-scripter.root",
		"postgres://u@db:5433/site?schema=a%22b":   state + "/db_5433-site-a_22b.root",
		"postgres://h1:1,h2:2/site":                state + "/h1_1_h2_2-site-scripter.root",
		"postgres:///site?host=/run/postgresql":    state + "/_run_postgresql-site-scripter.root",
		"postgres://h/site?host_folder=/srv/a%20b": "/srv/a b/h-site-scripter.root",
		"postgres://a.very.long.host.of.a.provider.example.com/site": state +
			"/a.very.long.host.of.a.provider.-b35ec1db.root",
		"postgres://u@h": state + "/h-scripter.root",
	} {
		path, err := LocalPath(name)
		require.NoError(t, err, name)
		assert.Equal(t, want, path, name)
	}
	_, err := LocalPath("postgres://h/site?host_folder=srv")
	assert.ErrorContains(t, err, "not an absolute path")
	assert.Equal(t, Place("postgres://ada@h/site?schema=s"), Place("postgres://bob@h/site?application_name=x&schema=s"))
}

// FuzzSplit checks that no part of a password stays in the name.
func FuzzSplit(f *testing.F) {
	f.Add("ada", "geheim", "h/db?schema=s")
	f.Add("", "a@b:c", "h1:1,h2:2/db?password=geheim")
	f.Fuzz(func(t *testing.T, user, password, rest string) {
		if strings.ContainsAny(user+password, "/?:@") || strings.Contains(rest, "@") {
			return
		}
		const secret = "QpasswordQ"
		without, found, err := Split("postgres://" + user + ":" + secret + password + "@" + rest)
		if err == nil && (len(found) == 0 || strings.Contains(without, secret)) {
			t.Fatalf("%q has the password still", without)
		}
	})
}
