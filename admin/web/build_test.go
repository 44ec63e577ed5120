// Package web_test compares what is made of the script of the web page with its source.
package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the licences of the packages that the script contains")

// mostZipped is what the script and the style sheet may take, compressed, in bytes.
const mostZipped = 250_000

// packageName finds the npm package that a file belongs to.
var packageName = regexp.MustCompile(`^node_modules/((?:@[^/]+/)?[^/]+)/`)

// run runs a program in this folder.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), out)
}

// sources returns the source of the script by the names of the files. To read it also tells go test
// on which files a result depends that it keeps.
func sources(t *testing.T) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, pattern := range []string{"*.js", "test/*.js", "*.json"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			m[name] = string(b)
		}
	}
	return m
}

// TestBuild builds the script anew. The committed one must be the same, and what it contains must
// be among the licences that the programs print.
func TestBuild(t *testing.T) {
	sources(t)
	run(t, "bash", "install")
	dir := t.TempDir()
	meta := filepath.Join(dir, "meta.json")
	built := filepath.Join(dir, "admin.js")
	run(t, "npm", "run", "--silent", "build", "--", "--log-level=warning", "--metafile="+meta, "--outfile="+built)
	fresh, err := os.ReadFile(built)
	require.NoError(t, err)
	committed, err := os.ReadFile("../static/admin.js")
	require.NoError(t, err)
	require.True(t, bytes.Equal(fresh, committed), "static/admin.js is not what the source makes: make web builds it")

	compareLicenses(t, bundled(t, meta))
}

// bundled returns the npm packages that the script contains.
func bundled(t *testing.T, meta string) []string {
	t.Helper()
	var m struct {
		Outputs map[string]struct {
			Inputs map[string]struct{ BytesInOutput int }
		}
	}
	b, err := os.ReadFile(meta)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &m))
	names := map[string]bool{}
	for _, output := range m.Outputs {
		for file, in := range output.Inputs {
			if found := packageName.FindStringSubmatch(file); found != nil && in.BytesInOutput > 0 {
				names[found[1]] = true
			}
		}
	}
	require.NotEmpty(t, names)
	return slices.Sorted(maps.Keys(names))
}

// compareLicenses compares the licences of npm packages with those that the programs print.
func compareLicenses(t *testing.T, names []string) {
	t.Helper()
	const folder = "../../cmd/scripter/licenses/npm"
	want := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("node_modules", name, "LICENSE"))
		require.NoError(t, err)
		want[name+".txt"] = strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") + "\n"
	}
	if *update {
		require.NoError(t, os.RemoveAll(folder))
		for name, text := range want {
			file := filepath.Join(folder, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	got := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		got[name] = string(text)
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, want, got, "make licenses writes them")
}

// TestUnits runs the tests of the parts of the script that need no browser.
func TestUnits(t *testing.T) {
	sources(t)
	run(t, "npm", "test", "--silent")
}

// TestTexts compares the texts for the script in texts.json, whose keys begin with "js.", with those
// that it shows. The keys of CodeMirror's own texts, "js.cm.", end with what CodeMirror has.
func TestTexts(t *testing.T) {
	b, err := os.ReadFile("../texts.json")
	require.NoError(t, err)
	var texts map[string]string
	require.NoError(t, json.Unmarshal(b, &texts))
	built, err := os.ReadFile("../static/admin.js")
	require.NoError(t, err)
	var source strings.Builder
	for name, text := range sources(t) {
		if filepath.Ext(name) == ".js" && filepath.Dir(name) == "." {
			source.WriteString(text)
		}
	}
	shown := map[string]bool{}
	for _, found := range regexp.MustCompile(`\bt\("([a-zA-Z.]+)"`).FindAllStringSubmatch(source.String(), -1) {
		shown[found[1]] = true
		assert.NotEmpty(t, texts["js."+found[1]], "texts.json lacks js.%s", found[1])
	}
	require.NotEmpty(t, shown)
	for key := range texts {
		if phrase, ok := strings.CutPrefix(key, "js.cm."); ok {
			assert.True(t, bytes.Contains(built, []byte(`"`+phrase+`"`)), "CodeMirror does not show %s", key)
		} else if own, ok := strings.CutPrefix(key, "js."); ok {
			assert.True(t, shown[own], "the script does not show %s", key)
		}
	}
}

// TestSize keeps the script and the style sheet small.
func TestSize(t *testing.T) {
	files, err := filepath.Glob("../static/*")
	require.NoError(t, err)
	var zipped bytes.Buffer
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		z := gzip.NewWriter(&zipped)
		_, err = z.Write(content)
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	assert.Greater(t, zipped.Len(), mostZipped/2, "the script is there")
	assert.Less(t, zipped.Len(), mostZipped)
}

// TestLock keeps to exact versions, and to the public registry of npm.
func TestLock(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Resolved, Integrity, License string }
	}
	all := sources(t)
	require.NoError(t, json.Unmarshal([]byte(all["package-lock.json"]), &lock))
	require.Greater(t, len(lock.Packages), 10)
	for name, p := range lock.Packages {
		if name == "" {
			continue
		}
		assert.NotEmpty(t, p.Integrity, name)
		if p.Resolved != "" {
			assert.True(t, strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/"), "%s comes from %s", name, p.Resolved)
		}
	}
	var own struct{ Dependencies, DevDependencies map[string]string }
	require.NoError(t, json.Unmarshal([]byte(all["package.json"]), &own))
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for _, list := range []map[string]string{own.Dependencies, own.DevDependencies} {
		require.NotEmpty(t, list)
		for name, version := range list {
			assert.Regexp(t, exact, version, name)
		}
	}
}
