// Package docs_test holds the manual against the program: what the manual
// lists is compared with the code, and what it shows is run.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/site"
)

// bin is the folder of the three programs, built once for all tests.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "scripter-docs-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = filepath.Join(dir, "bin")
		build := exec.Command("go", "build", "-o", bin+"/", "./cmd/...")
		build.Dir = ".."
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// rows gives the rows of all tables of a page whose first cell is code, by
// that code: `name` → the other cells.
func rows(text string) map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		name := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "| `") || len(name) < 3 || !strings.HasSuffix(name, "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		m[strings.Trim(name, "`")] = cells[1:]
	}
	return m
}

// section gives the part of a page below a heading, down to the next one of
// any level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+heading+"\n")
	require.True(t, ok, "no heading %q", heading)
	if i := strings.Index(rest, "\n#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func keys[V any](m map[string]V) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func TestSettings(t *testing.T) {
	table := rows(section(t, read(t, "settings.md"), "## All settings"))
	var names []string
	for _, s := range site.Settings {
		names = append(names, s.Name)
		cells := table[s.Name]
		if !assert.Len(t, cells, 4, "%s has no row in settings.md: name, title, default, range, meaning", s.Name) {
			continue
		}
		assert.Equal(t, s.Title, cells[0], s.Name)
		assert.Equal(t, shown(s.Default), cells[1], s.Name)
	}
	slices.Sort(names)
	assert.Equal(t, names, keys(table), "rows of settings.md")
}

// shown is how the manual shows a value.
func shown(v objectdb.Value) string {
	switch v := v.(type) {
	case objectdb.Boolean:
		return fmt.Sprint(bool(v))
	case objectdb.Number:
		return fmt.Sprint(float64(v))
	case objectdb.String:
		return fmt.Sprintf("`%q`", string(v))
	case objectdb.List:
		return fmt.Sprintf("`%v`", v)
	}
	return fmt.Sprintf("a default of kind %s, which the manual cannot show", v.Kind())
}

func TestSubcommands(t *testing.T) {
	page := read(t, "tool.md")
	for _, name := range subcommands(t) {
		assert.Regexp(t, `(?m)^## (.*, )?`+name+`(,|$)`, page, "a section of tool.md")
		assert.Regexp(t, `(?m)^    \$ scripter `+name+`\b`, page, "an example in tool.md")
	}
}

// subcommands asks the program for them.
func subcommands(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command(filepath.Join(bin, "scripter"), "help").Output()
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(out), "Available Commands:\n")
	require.True(t, ok, "help lists no commands:\n%s", out)
	list, _, _ := strings.Cut(rest, "\n\n")
	var names []string
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	require.Greater(t, len(names), 10)
	return names
}

func TestDaemonOptions(t *testing.T) {
	out, err := exec.Command(filepath.Join(bin, "scripter-fcgi"), "--help").CombinedOutput()
	require.NoError(t, err)
	var options []string
	for _, m := range regexp.MustCompile(`(?m)^  -([\w-]+)`).FindAllStringSubmatch(string(out), -1) {
		options = append(options, "--"+m[1])
	}
	require.NotEmpty(t, options)
	table := rows(section(t, read(t, "web-servers.md"), "## The options of scripter-fcgi"))
	assert.ElementsMatch(t, options, firstWords(keys(table)))
}

func firstWords(list []string) []string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = strings.Fields(s)[0]
	}
	return words
}

// TestParameters asks a script for the names of what it gets, and for the
// libraries it sees.
//
// Specification: 2.3.13, 6.3
func TestParameters(t *testing.T) {
	dir := t.TempDir()
	tool := func(args ...string) string {
		t.Helper()
		c := exec.Command(filepath.Join(bin, "scripter"), append([]string{"--root", filepath.Join(dir, "scripter.root")}, args...)...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	tool("init")
	tool("put", "suites.webserverScripts.names", "--kind", "script", `
		local names = {}
		for name in pairs (...) do names [#names + 1] = name end
		table.sort (names)
		return table.concat (names, " ")`)
	tool("put", "--parents", "workspace.library", "--kind", "script", `
		local names = {}
		for name in pairs (_G [...]) do names [#names + 1] = name end
		table.sort (names)
		return table.concat (names, " ")`)
	page := read(t, "scripts.md")
	language := read(t, "lua.md")

	_, names, ok := strings.Cut(tool("call", "/names.fcgi"), "\r\n\r\n")
	require.True(t, ok)
	// pairs passes over json, which is decoded when it is read.
	assert.Equal(t, sortedBytes(append(strings.Fields(names), "json")), sortedBytes(keys(rows(section(t, page, "## Parameters")))), "rows of the parameters")

	for _, library := range []string{"coroutine", "math", "os", "string", "table"} {
		functions := strings.Join(strings.Fields(tool("run", "workspace.library", library)), ", ")
		text := strings.Join(strings.Fields(section(t, language, "## The language")), " ")
		assert.Contains(t, text, "`"+library+"`: "+functions+".", "lua.md lists the library")
	}
}

// TestLimits compares the fixed limits with what scripts.md says.
//
// Specification: 8.3
func TestLimits(t *testing.T) {
	table := section(t, read(t, "scripts.md"), "## Limits")
	limits := lua.DefaultLimits()
	for what, limit := range map[string]string{
		"time of all scripts of a request":       fmt.Sprintf("%v s", limits.Time.Seconds()),
		"instructions":                           grouped(limits.Instructions),
		"memory":                                 fmt.Sprintf("%d MB", limits.MemoryBytes>>20),
		"a string":                               fmt.Sprintf("%d MB", limits.StringBytes>>20),
		"calls within calls":                     fmt.Sprint(limits.CallDepth),
		"one call of a pattern function":         grouped(limits.PatternSteps),
		"source of one script, or text for load": fmt.Sprintf("%d KB", limits.SourceBytes>>10),
		"coroutines":                             fmt.Sprint(limits.Coroutines),
	} {
		assert.Regexp(t, `(?m)^\| `+regexp.QuoteMeta(what+" | "+limit)+`\b`, table)
	}
}

// grouped shows a large number as the manual does.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// sortedBytes sorts as table.sort of Lua does.
func sortedBytes(list []string) []string {
	slices.Sort(list)
	return list
}

// pages lists all pages of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || path == filepath.Join("..", "bin")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			list = append(list, path)
		}
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, list, filepath.Join("..", "README.md"))
	return list
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
)

func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); !assert.NoError(t, err, "%s links to %s", page, m[1]) || anchor == "" {
				continue
			}
			assert.Contains(t, anchors(read(t, target)), anchor, "%s links to %s", page, m[1])
		}
	}
}

// anchors gives the names that web pages of repositories make of headings.
func anchors(text string) []string {
	var list []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r >= 'A' && r <= 'Z':
				return r - 'A' + 'a'
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
				return r
			}
			return -1
		}, m[1]))
	}
	return list
}

// TestExamplesCompile compiles the Lua examples of all pages.
func TestExamplesCompile(t *testing.T) {
	count := 0
	for _, page := range pages(t) {
		for i, source := range fences(read(t, page), "lua") {
			count++
			assert.NoError(t, lua.Check(fmt.Sprintf("%s, example %d", page, i+1), source, 0))
		}
	}
	assert.Greater(t, count, 1)
}

// fences gives the contents of the fenced blocks of a language.
func fences(text, language string) []string {
	var list []string
	for {
		_, rest, ok := strings.Cut(text, "\n```"+language+"\n")
		if !ok {
			return list
		}
		block, after, _ := strings.Cut(rest, "\n```")
		list = append(list, block+"\n")
		text = after
	}
}

func TestMakeTest(t *testing.T) {
	require.Contains(t, read(t, "../README.md"), "make test")
	assert.Regexp(t, `(?m)^test:`, read(t, "../Makefile"))
}
