package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadConf(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "cgi")
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	write("#!/usr/bin/scripter-cgi\nroot: data/root\n\n# a comment\nnph: off\nresident: start\n")
	c, err := readConf(file)
	require.NoError(t, err)
	assert.Equal(t, Conf{Root: filepath.Join(dir, "data/root"), NPH: "off", Resident: "start", File: file}, c)
	for text, want := range map[string]string{
		"":                       "names no root",
		"root: /x\nnph: maybe\n": "line 2",
		"root: /x\nresident: 1":  "line 2",
		"rot: /x\n":              "line 1",
		"root /x\n":              "line 1",
	} {
		write(text)
		_, err := readConf(file)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestFindConf(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "scripter-cgi")
	conf := filepath.Join(dir, "scripter.conf")
	_, err := FindConf(nil, "", exe)
	require.ErrorIs(t, err, errNoRoot)
	require.NoError(t, os.WriteFile(conf, []byte("root: /beside\nnph: on\nresident: off\n"), 0o644))
	script := filepath.Join(dir, "cgi")
	require.NoError(t, os.WriteFile(script, []byte("#!/x\nroot: /script\n"), 0o755))
	for _, c := range []struct {
		env          map[string]string
		script, root string
		nph          string
	}{
		{map[string]string{"SCRIPTER_ROOT": "/env", "REDIRECT_SCRIPTER_ROOT": "/redirect"}, script, "/env", ""},
		{map[string]string{"REDIRECT_SCRIPTER_ROOT": "/redirect"}, script, "/redirect", ""},
		{nil, script, "/script", ""},
		{nil, "", "/beside", "on"},
		{map[string]string{"SCRIPTER_NPH": "off"}, "", "/beside", "off"},
		{map[string]string{"HTTP_SCRIPTER_ROOT": "/evil"}, "", "/beside", "on"},
	} {
		got, err := FindConf(c.env, c.script, exe)
		require.NoError(t, err)
		assert.Equal(t, c.root, got.Root, c.env)
		assert.Equal(t, c.nph, got.NPH, c.env)
	}
	_, err = FindConf(map[string]string{"SCRIPTER_NPH": "perhaps"}, "", exe)
	assert.ErrorContains(t, err, "SCRIPTER_NPH")
	_, err = FindConf(map[string]string{"REDIRECT_SCRIPTER_RESIDENT": "perhaps"}, "", exe)
	assert.ErrorContains(t, err, "SCRIPTER_RESIDENT")
	for want, env := range map[string]map[string]string{
		"off": nil, "start": {"REDIRECT_SCRIPTER_RESIDENT": "start"}, "auto": {"SCRIPTER_RESIDENT": "auto"},
	} {
		got, err := FindConf(env, "", exe)
		require.NoError(t, err)
		assert.Equal(t, want, got.Resident)
	}
}

// TestScriptFile checks which file counts as the one that the system has started.
func TestScriptFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		f := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(f, []byte(text), 0o755))
		return f
	}
	program := write("program", "ELF")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(program, link))
	for started, want := range map[string]bool{
		write("cgi", "#!/usr/bin/scripter-cgi\nroot: x\n"): true,
		program:                        false,
		link:                           false,
		write("b.cgi", "root: x"):      false,
		write("empty.cgi", ""):         false,
		dir:                            false,
		filepath.Join(dir, "not-here"): false,
		"":                             false,
	} {
		got, ok := ScriptFile(started, program)
		assert.Equal(t, want, ok, started)
		if ok {
			assert.Equal(t, started, got)
		}
	}
	_, ok := ScriptFile(filepath.Join(dir, "cgi"), filepath.Join(dir, "not-here"))
	assert.False(t, ok, "an unknown program")
}

// FuzzConf gives any text to the reader of configuration files. What it reads
// names a root by an absolute path.
func FuzzConf(f *testing.F) {
	f.Add("#!/usr/bin/scripter-cgi\nroot: data/root\n\n# a comment\nnph: off\n")
	f.Add("root: /x\nnph: maybe\n")
	f.Add("root\x00: x")
	f.Add("root: x\npages: ../y\ncache: http://[::1]:81\ncache-folder: /c\nsendfile: on\n")
	file := filepath.Join(f.TempDir(), "cgi")
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
		if c, err := readConf(file); err == nil {
			require.True(t, filepath.IsAbs(c.Root), "%q", c.Root)
			require.True(t, c.NPH == "" || validNPH(c.NPH))
			for _, folder := range append(c.Reach.Pages, c.Reach.CacheFolders...) {
				require.True(t, filepath.IsAbs(folder) && folder != "/", "%q", folder)
			}
		}
		_, ok := ScriptFile(file, os.Args[0])
		require.Equal(t, strings.HasPrefix(text, "#!"), ok)
	})
}
