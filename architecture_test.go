// Package scripter_test holds what is promised of the whole repository.
package scripter_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// block gives the lines of a fenced block of ARCHITECTURE.md, as a map.
func block(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "```"+name+"\n")
	require.True(t, ok, "ARCHITECTURE.md has no block %q", name)
	rest, _, _ = strings.Cut(rest, "```")
	m := map[string][]string{}
	for line := range strings.Lines(rest) {
		key, values, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			key = strings.TrimSuffix(key, ":")
		}
		m[key] = strings.Fields(values)
	}
	return m
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// packages lists the packages of the module with what they import, tests
// left out.
func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	var list []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		list = append(list, p)
	}
}

// TestImports counts the groups of verbs as one package.
func TestImports(t *testing.T) {
	promised := block(t, "imports")
	found := map[string][]string{}
	for _, p := range packages(t) {
		name := merged(strings.TrimPrefix(p.ImportPath, "scripter/"))
		if name == "scripter" || name == "conf-examples" || name == "docs" || name == "docs/recipes" || name == "admin/web" ||
			strings.HasPrefix(name, "bench") || strings.HasPrefix(name, "internal/") {
			continue
		}
		own := append([]string{}, found[name]...)
		for _, i := range p.Imports {
			if i, ok := strings.CutPrefix(i, "scripter/"); ok && merged(i) != name {
				own = append(own, merged(i))
			}
		}
		slices.Sort(own)
		found[name] = slices.Compact(own)
	}
	assert.Equal(t, promised, found)
}

// merged returns the name under which ARCHITECTURE.md lists a package.
func merged(name string) string {
	if strings.HasPrefix(name, "verbs/") {
		return "verbs"
	}
	return name
}

func TestModuleHomes(t *testing.T) {
	homes := block(t, "homes")
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "scripter/")
		if strings.HasPrefix(name, "internal/") {
			continue // tests only
		}
		for _, i := range p.Imports {
			if !strings.Contains(strings.SplitN(i, "/", 2)[0], ".") {
				continue // the standard library, and ours
			}
			home := false
			for module, where := range homes {
				if (i == module || strings.HasPrefix(i, module+"/")) && slices.Contains(where, name) {
					home = true
				}
			}
			assert.True(t, home, "%s imports %s, whose home is elsewhere", name, i)
		}
	}
}

// TestNoDotImports: a reader sees the package of every name, in tests too.
func TestNoDotImports(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			assert.False(t, i.Name != nil && i.Name.Name == ".", "%s imports %s with a dot", path, i.Path.Value)
		}
		return nil
	}))
}
