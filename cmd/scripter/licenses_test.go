package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the files that the test compares")

// fixedLicenses are the parts of the programs that no module of go.mod names.
var fixedLicenses = []string{"scripter.txt", "go.txt", "sqlite.txt", "glibc.txt"}

// licenseName matches the files of a module that state its licence.
var licenseName = regexp.MustCompile(`^(?i)(licen[sc]e|copying|notice|patents)`)

// TestLicenses compares the files below licenses with the modules that the three programs contain.
func TestLicenses(t *testing.T) {
	want := map[string]string{}
	own, err := os.ReadFile("../../LICENSE")
	require.NoError(t, err)
	want["scripter.txt"] = string(own)
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}",
		"../../cmd/...")
	out, err := list.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || want[path+".txt"] != "" {
			continue
		}
		want[path+".txt"] = moduleLicense(t, dir)
		if path == "golang.org/x/sys" { // the same text as Go's own, which each distribution puts elsewhere
			license, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
			require.NoError(t, err)
			want["go.txt"] = string(license)
		}
	}
	require.NotEmpty(t, want["go.txt"])
	for name, text := range want {
		file := filepath.Join("licenses", name)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err, "make licenses writes it")
		assert.Equal(t, text, string(got), "%s: make licenses updates it", name)
	}
	for _, name := range fixedLicenses {
		want[name] += " "
	}
	err = fs.WalkDir(os.DirFS("licenses"), ".", func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || want[name] != "" || strings.HasPrefix(name, "npm/") { // admin/web compares those
			return err
		}
		if *update {
			return os.Remove(filepath.Join("licenses", name))
		}
		t.Errorf("%s: no program contains this module", name)
		return nil
	})
	require.NoError(t, err)
}

// moduleLicense returns the text of the files in a module's folder that state its licence.
func moduleLicense(t *testing.T, dir string) string {
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	var text strings.Builder
	for _, f := range files {
		if f.IsDir() || !licenseName.MatchString(f.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		if text.Len() > 0 {
			text.WriteString("\n")
		}
		text.WriteString(strings.TrimRight(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n") + "\n")
	}
	require.NotZero(t, text.Len(), "%s states no licence", dir)
	return text.String()
}
