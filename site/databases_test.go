package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDatabases(t *testing.T) {
	for value, want := range map[string]string{
		"shop /srv/shop.db":               "shop /srv/shop.db",
		" shop   /srv/a b/../shop.db  ":   "shop /srv/shop.db",
		"a-b_2 /srv/shop.db write":        "a-b_2 /srv/shop.db write",
		"shop /srv/overwrite":             "shop /srv/overwrite",
		"pg postgres://u@h/db":            "pg postgres://u@h/db",
		"pg postgresql://h:1,i:2/d write": "pg postgresql://h:1,i:2/d write",

		"":                              "error: \"\" is no name",
		"shop":                          "error: shop: \"\" is neither",
		"shop shop.db":                  "error: shop: \"shop.db\" is neither",
		"a.b /srv/x":                    "error: \"a.b\" is no name",
		"sh\u00f6p /srv/x":              "error: \"sh\u00f6p\" is no name",
		"pg postgres://u:hush@h/db":     "error: pg: the URL must not have the password",
		"pg postgres://h/db?password=x": "error: pg: the URL must not have the password",
		"pg postgres://h/db writes":     "error: pg: blanks in the URL",
	} {
		var r Reach
		err := r.Add(KeyDatabase, value)
		if message, wrong := strings.CutPrefix(want, "error: "); wrong {
			if assert.Error(t, err, value) {
				assert.Contains(t, err.Error(), "database: "+message)
				assert.NotContains(t, err.Error(), "hush")
			}
			continue
		}
		require.NoError(t, err, value)
		require.Len(t, r.Databases, 1)
		assert.Equal(t, want, r.Databases[0].String())
		assert.Equal(t, []string{"--database", want}, r.Flags())
	}
	var r Reach
	require.NoError(t, r.Add(KeyDatabase, "shop /a"))
	require.NoError(t, r.Add(KeyDatabase, "shop /a"))
	assert.ErrorContains(t, r.Add(KeyDatabase, "shop /b"), "shop is listed twice")
	require.NoError(t, r.addVariables(map[string]string{"SCRIPTER_DATABASE": "x /x; y /y write"}))
	r.AddAll(Reach{Databases: []Database{{Name: "x", Source: "/z"}}})
	var all []string
	for _, d := range r.Databases {
		all = append(all, d.String())
	}
	assert.Equal(t, []string{"shop /a", "y /y write", "x /z"}, all)
	assert.ErrorContains(t, r.NoDatabase("none"), `scripter.conf lists no database "none": add a line such as`)
}

// TestDatabasesOfConf: a relative path lies in the folder of the file.
func TestDatabasesOfConf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scripter.conf")
	require.NoError(t, os.WriteFile(file, []byte("root: x.root\ndatabase: shop data/shop.db write\nfetch: a.example\n"), 0o600))
	c, err := readConf(file)
	require.NoError(t, err)
	assert.Equal(t, []Database{{"shop", filepath.Join(filepath.Dir(file), "data/shop.db"), true}}, c.Reach.Databases)
	assert.Equal(t, []string{"a.example"}, c.Reach.Fetch)

	t.Chdir(filepath.Dir(file))
	again, err := readConf("./scripter.conf")
	require.NoError(t, err)
	assert.Equal(t, c.Reach, again.Reach)
}
