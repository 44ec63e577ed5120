package conf_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
)

// TestTablesAgree: three examples for Apache have the same action tables, so
// that each can be copied alone. What is mended in one is mended in all.
func TestTablesAgree(t *testing.T) {
	block := regexp.MustCompile(`(?s)# --- the action tables .*# --- end of the action tables ---`)
	want := ""
	for _, name := range []string{"apache-cgi.conf", "apache-fcgid.conf", "apache-proxy-fcgi.conf"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		got := block.FindString(string(text))
		require.NotEmpty(t, got, name)
		if want == "" {
			want = got
		}
		assert.Equal(t, want, got, name)
	}
}

// TestExamplesAreListed: a file that the README does not name, nobody copies;
// one that no set-up starts, nobody has tried.
func TestExamplesAreListed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	started := map[string]bool{}
	for _, s := range servertest.SetUps {
		for _, f := range s.Files {
			started[f] = true
		}
	}
	for _, s := range cacheSetUps {
		for _, f := range s.files {
			started[f] = true
		}
	}
	for _, f := range actionExamples {
		started[f] = true
	}
	files, err := filepath.Glob("*")
	require.NoError(t, err)
	for _, f := range files {
		if strings.HasSuffix(f, ".conf") || strings.HasSuffix(f, ".inc") || strings.HasSuffix(f, ".vcl") || f == "Caddyfile" {
			assert.Contains(t, string(readme), f)
			assert.True(t, started[f], "%s belongs to no set-up", f)
		}
	}
	assert.Len(t, servertest.SetUps, 13, "nine examples, and the four with CGI with a resident server, too")
}

var (
	comment = regexp.MustCompile(`(?m)^\s*#.*$`)
	folders = regexp.MustCompile(`/(srv|run)/[a-z]+`)
)

// TestExamplesSubstitute: the tests put ports and folders in by their names, so
// every example must have them.
func TestExamplesSubstitute(t *testing.T) {
	ports := map[string]string{}
	for _, s := range servertest.SetUps {
		if s.Resident {
			continue // the example of another one
		}
		text, err := os.ReadFile(s.Files[0])
		require.NoError(t, err)
		found := servertest.ExamplePort.FindAllString(string(text), -1)
		require.NotEmpty(t, found, "%s has no port", s.Files[0])
		for _, port := range found {
			assert.Equal(t, found[0], port, "%s has two ports", s.Files[0])
		}
		assert.Empty(t, ports[found[0]], "%s has the port of another example", s.Files[0])
		ports[found[0]] = s.Files[0]
		substitutesFolders(t, s.Files[0], string(text))
	}
	for _, s := range cacheSetUps {
		text, err := os.ReadFile(s.files[0])
		require.NoError(t, err)
		assert.Contains(t, string(text), ":"+s.port, s.files[0])
		found := slices.Compact(servertest.ExamplePort.FindAllString(string(text), -1))
		assert.Equal(t, backendPort, strings.Join(found, " "), s.files[0])
		substitutesFolders(t, s.files[0], string(text))
	}
}

func substitutesFolders(t *testing.T, name, text string) {
	t.Helper()
	for _, folder := range folders.FindAllString(comment.ReplaceAllString(text, ""), -1) {
		assert.Contains(t, []string{"/srv/scripter", "/run/scripter"}, folder, name)
	}
}
