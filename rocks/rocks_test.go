package rocks_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/rocks"
)

const spec = `package = "thing" version = "2.0-1"
description = {summary = "Does it", license = "MIT"}
dependencies = {"lua >= 5.1, < 5.5", "penlight ~> 1.5", "say"}
build = {type = "builtin", modules = {thing = "src/thing.lua", ["thing.core"] = "src/core.c", ["thing.c"] = {"a.c"},
	["thing.new"] = "src/new.lua", ["thing.gone"] = "src/gone.lua"}, install = {lua = {["thing.more"] = "more.lua"}}}`

// sources is a release of a rock.
var sources = map[string]string{
	"thing-2.0/thing-2.0-1.rockspec": spec, "thing-2.0/src/thing.lua": "return 1", "thing-2.0/more.lua": "return 2",
	"thing-2.0/src/new.lua": "return 7 // 2", "thing-2.0/README.md": "read me", "thing-2.0/spec/thing_spec.lua": "error ()",
}

// plain is a rock without a rockspec.
var plain = map[string]string{
	"lua/a.lua": "#!/usr/bin/lua\nreturn 1", "lua/a/init.lua": "return 2", "lua/a/b-c.lua": "return 3", "lua/tests/t.lua": "x",
	"test/x.lua": "x",
}

// tree is what "luarocks install --tree" fills.
var tree = map[string]string{
	"share/lua/5.1/one.lua": "return 1", "share/lua/5.1/two/init.lua": "return 2", "share/lua/5.1/two/x.lua": "return 3",
	"lib/luarocks/rocks-5.1/one/1.0-1/one-1.0-1.rockspec":   `package = "one" version = "1.0-1" dependencies = {"two"}`,
	"lib/luarocks/rocks-5.1/one/1.0-1/rock_manifest":        `rock_manifest = {lua = {["one.lua"] = "00"}}`,
	"lib/luarocks/rocks-5.1/two/3.0-2/two-3.0-2.rockspec":   `package = "two" version = "3.0-2"`,
	"lib/luarocks/rocks-5.1/two/3.0-2/rock_manifest":        `rock_manifest = {lua = {two = {["init.lua"] = "00", ["x.lua"] = "00"}}}`,
	"lib/luarocks/rocks-5.1/prog/1.0-1/prog-1.0-1.rockspec": `package = "prog" version = "1.0-1"`,
	"lib/luarocks/rocks-5.1/prog/1.0-1/rock_manifest":       `rock_manifest = {bin = {prog = "00"}}`,
}

func folder(t *testing.T, name string, files map[string]string) string {
	top := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.MkdirAll(top, 0o700))
	for p, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(top, filepath.Dir(p)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, p), []byte(text), 0o600))
	}
	return top
}

func zipped(files map[string]string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		w, _ := z.Create(p)
		_, _ = w.Write([]byte(files[p]))
	}
	_ = z.Close()
	return b.String()
}

func tarred(files map[string]string) string {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		_ = w.WriteHeader(&tar.Header{Name: p, Size: int64(len(files[p])), Mode: 0o600, Typeflag: tar.TypeReg})
		_, _ = w.Write([]byte(files[p]))
	}
	_ = w.Close()
	_ = g.Close()
	return b.String()
}

func file(t *testing.T, name, text string) string {
	p := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
	return p
}

// TestOpen reads the same rock in each form that it may have.
func TestOpen(t *testing.T) {
	flat := map[string]string{}
	for p, text := range sources {
		flat[strings.TrimPrefix(p, "thing-2.0/")] = text
	}
	for form, at := range map[string]string{
		"folder":   folder(t, "anything", flat),
		"zip":      file(t, "x.zip", zipped(sources)),
		"tar":      file(t, "x.tar.gz", tarred(sources)),
		"src.rock": file(t, "thing-2.0-1.src.rock", zipped(map[string]string{"thing-2.0-1.rockspec": spec, "thing-2.0.tar.gz": tarred(sources)})),
		"all.rock": file(t, "thing-2.0-1.all.rock", zipped(map[string]string{
			"thing-2.0-1.rockspec": spec, "lua/thing.lua": "return 1", "lua/thing/more.lua": "return 2", "lua/thing/new.lua": "return 7 // 2",
			"rock_manifest": "rock_manifest = {}",
		})),
	} {
		list, err := rocks.Open(at, "")
		require.NoError(t, err, form)
		require.Len(t, list, 1, form)
		r := list[0]
		assert.Equal(t, "thing 2.0-1 MIT Does it", r.Name+" "+r.Version+" "+r.Licence+" "+r.Summary, form)
		assert.Equal(t, []string{"penlight", "say"}, r.Needs, form)
		assert.Equal(t, map[string]string{"thing": "return 1", "thing.more": "return 2"}, r.Modules, form)
		assert.Equal(t, []string{"thing.c", "thing.core", "thing.gone", "thing.new"}, slices.Sorted(maps.Keys(r.Left)), form)
	}
}

func TestOpenWithoutRockspec(t *testing.T) {
	for at, want := range map[string]string{
		folder(t, "thing-1.2", plain):                      "thing 1.2",
		folder(t, "thing", plain):                          "thing ",
		file(t, "thing-v1.2.3.tar.gz", tarred(plain)):      "thing 1.2.3",
		file(t, "lua-thing-0.1-2.all.rock", zipped(plain)): "lua-thing 0.1-2",
	} {
		list, err := rocks.Open(at, "")
		require.NoError(t, err, at)
		r := list[0]
		assert.Equal(t, want, r.Name+" "+r.Version)
		assert.Equal(t, []string{"a", "a.b-c", "a.init"}, r.Names(), at)
		assert.Equal(t, "--#!/usr/bin/lua\nreturn 1", r.Modules["a"])
	}
	list, err := rocks.Open(file(t, "single.lua", "return 1"), "other")
	require.NoError(t, err)
	assert.Equal(t, "other", list[0].Name)
	assert.Equal(t, []string{"single"}, list[0].Names())
}

func TestOpenTree(t *testing.T) {
	list, err := rocks.Open(folder(t, "tree", tree), "")
	require.NoError(t, err)
	require.Len(t, list, 2, "programs have no modules")
	assert.Equal(t, []string{"one"}, list[0].Names())
	assert.Equal(t, []string{"two"}, list[0].Needs)
	assert.Equal(t, []string{"two.init", "two.x"}, list[1].Names())
}

func TestOpenRefuses(t *testing.T) {
	many := map[string]string{}
	for i := range 10_001 {
		many["x"+strings.Repeat("y", i%200)+string(rune('a'+i/200%26))+string(rune('a'+i/5200))+".lua"] = ""
	}
	for want, at := range map[string]string{
		"no such file":                       filepath.Join(t.TempDir(), "none"),
		"it is no zip, tar.gz":               file(t, "x.txt", "text"),
		"there are no files with Lua":        folder(t, "empty", nil),
		"x: x:1: unexpected symbol near ')'": folder(t, "bad", map[string]string{"x.lua": ")"}),
		"is no rockspec: it has no package":  folder(t, "spec", map[string]string{"x.rockspec": "version = 1"}),
		"is no rockspec: ":                   folder(t, "loop", map[string]string{"x.rockspec": "while true do end"}),
		"not a valid zip file":               file(t, "x.zip", "PK\x03\x04broken"),
		"unexpected EOF":                     file(t, "x.tar.gz", tarred(sources)[:100]),
		"there is more than 32 MB":           file(t, "y.tar.gz", tarred(map[string]string{"x.lua": strings.Repeat("x", 33<<20)})),
		"there are more than 10000 files":    file(t, "z.tar.gz", tarred(many)),
	} {
		_, err := rocks.Open(at, "")
		assert.ErrorContains(t, err, want)
	}
	outside := file(t, "secret.lua", "return 1")
	in := folder(t, "links", map[string]string{"x.lua": "return 1"})
	require.NoError(t, os.Symlink(outside, filepath.Join(in, "secret.lua")))
	list, err := rocks.Open(in, "")
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, list[0].Names(), "no link leads out of the folder")
}

func TestAdd(t *testing.T) {
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	one := &rocks.Rock{Name: "one", Version: "1", Licence: "MIT", Needs: []string{"two"}, Modules: map[string]string{"one": "", "one.x": ""}}
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, rocks.Add(tx, one))
		newer := &rocks.Rock{Name: "ONE", Version: "2", Modules: map[string]string{"one": ""}}
		require.NoError(t, rocks.Add(tx, newer), "it replaces the other one")
		list, err := rocks.List(tx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		assert.Equal(t, "ONE 2 []", list[0].Name+" "+list[0].Version+" "+strings.Join([]string{"[]"}, ""))
		assert.Equal(t, []string{"one"}, list[0].Names())
		missing, err := rocks.Missing(tx, one)
		require.NoError(t, err)
		assert.Equal(t, []string{"two"}, missing)
		assert.EqualError(t, rocks.Add(tx, &rocks.Rock{Name: "two", Modules: map[string]string{"One": ""}}),
			"add the rock two: its module one is in the rock ONE already")
		assert.EqualError(t, rocks.Add(tx, &rocks.Rock{Name: "two", Modules: map[string]string{"A": "", "a": ""}}),
			"add the rock two: its modules A and a differ only in case")
		require.NoError(t, rocks.Remove(tx, "one"))
		assert.ErrorIs(t, rocks.Remove(tx, "one"), rocks.ErrNone)
		return nil
	}))
}

// FuzzRock reads any archive.
func FuzzRock(f *testing.F) {
	f.Add([]byte(zipped(sources)))
	f.Add([]byte(tarred(plain)))
	f.Add([]byte(zipped(map[string]string{"a.rockspec": spec, "b.tar.gz": tarred(sources), "c.zip": zipped(tree)})))
	at := filepath.Join(f.TempDir(), "x.rock")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(at, data, 0o600))
		list, err := rocks.Open(at, "")
		for _, r := range list {
			assert.NoError(t, err)
			assert.NotEmpty(t, r.Modules)
		}
	})
}
