package foldersync

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// fill puts one object of each kind into the root.
func (p *pair) fill() {
	p.t.Helper()
	p.put("hello", objectdb.Script("return 1\n"))
	p.put("title", objectdb.String("Home"))
	p.put("pages/home", objectdb.Text("a\nb\nc\n"))
	p.put("pages/plan", objectdb.Outline("one\n\ttwo"))
	p.put("pages/odd plan", objectdb.Outline("one\n\t\t\ttwo"))
	p.put("data/count", objectdb.Number(12))
	p.put("data/flags", objectdb.List{objectdb.Boolean(true), objectdb.Null{}})
	p.put("data/logo", objectdb.Binary{Type: "image/png", Data: "\x89PNG"})
	p.put("data/odd", objectdb.Binary{Type: "application/x-odd", Data: "odd"})
	p.put("data/"+strings.Repeat("long ", 50), objectdb.String("name"))
	p.put("odd/a:b", objectdb.Address{"user", "x"})
	p.update(func(tx *objectdb.Tx) error { return tx.NewTable(p.address("empty")) })
}

func TestFirstSync(t *testing.T) {
	t.Run("of a full root and an empty folder", func(t *testing.T) {
		p := newPair(t)
		p.fill()
		assert.Len(t, p.sync(), 15)
		p.same()
		assert.Equal(t, "return 1\n", p.read("hello.lua"))
		assert.Equal(t, "{}\n", p.read("empty/_index.json"))
		settle()
		assert.Empty(t, p.sync())
		assert.Empty(t, p.sync())
	})
	t.Run("of a full folder and an empty root", func(t *testing.T) {
		p := newPair(t)
		p.fill()
		p.sync()
		files := p.dir
		q := newPair(t)
		require.NoError(t, os.RemoveAll(filepath.Join(files, stateFolder)))
		q.dir = files
		settle()
		assert.Len(t, q.sync(), 15)
		q.same()
		assert.Equal(t, objectdb.Outline("one\n\t\t\ttwo"), q.get("pages/odd plan"))
		assert.Equal(t, objectdb.Binary{Type: "application/x-odd", Data: "odd"}, q.get("data/odd"))
	})
	t.Run("of a folder and a root that have different content", func(t *testing.T) {
		p := newPair(t)
		p.put("same", objectdb.String("s"))
		p.put("differs", objectdb.String("root"))
		p.put("mine", objectdb.String("m"))
		p.write("same.str", "s")
		p.write("differs.str", "file")
		p.write("yours.str", "y")
		settle()
		assert.ElementsMatch(t, []string{"root added mine.str", "files added yours.str", "conflict differs.str"}, p.sync())
		assert.Equal(t, "file", p.read("differs.str"))
		assert.Equal(t, objectdb.String("root"), p.get("differs"))
		assert.Equal(t, "root", p.read(".scripter/conflicts/differs.str"))
		assert.Equal(t, []string{"conflict differs.str"}, p.sync(), "it stays")
		assert.Equal(t, []string{"files changed differs.str"}, p.sync(Round{Take: FromFiles, Paths: []string{"differs.str"}}))
		assert.Equal(t, objectdb.String("file"), p.get("differs"))
		p.same()
		assert.NoFileExists(t, p.path(".scripter/conflicts/differs.str"))
	})
	t.Run("of a table that does not exist yet", func(t *testing.T) {
		p := newPair(t)
		p.at = objectdb.Address{"user", "new"}
		p.write("x.str", "x")
		settle()
		assert.Equal(t, []string{"files added x.str"}, p.sync())
		p.same()
		p.at, p.dir = objectdb.Address{"none", "new"}, filepath.Join(t.TempDir(), "f")
		_, err := p.round(Round{})
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *pair)
		want   []string
		check  func(p *pair)
	}{
		{"a file is changed", func(p *pair) { p.write("hello.lua", "return 2\n") }, []string{"files changed hello.lua"},
			func(p *pair) { assert.Equal(p.t, objectdb.Script("return 2\n"), p.get("hello")) }},
		{"an object is changed", func(p *pair) { p.put("hello", objectdb.Script("return 2\n")) },
			[]string{"root changed hello.lua"}, func(p *pair) { assert.Equal(p.t, "return 2\n", p.read("hello.lua")) }},
		{"both are changed in the same way", func(p *pair) {
			p.put("hello", objectdb.Script("return 2\n"))
			p.write("hello.lua", "return 2\n")
		}, nil, nil},
		{"a file is removed", func(p *pair) { p.remove("hello.lua") }, []string{"files removed hello.lua"},
			func(p *pair) { assert.Nil(p.t, p.get("hello")) }},
		{"an object is deleted", func(p *pair) { p.delete("hello") }, []string{"root removed hello.lua"}, nil},
		{"both delete it", func(p *pair) { p.delete("hello"); p.remove("hello.lua") }, nil, nil},
		{"a folder is removed", func(p *pair) { require.NoError(p.t, os.RemoveAll(p.path("odd"))) },
			[]string{"files removed odd", "files removed odd/a%3Ab.json"},
			func(p *pair) { assert.Nil(p.t, p.get("odd/a:b")) }},
		{"a table is deleted", func(p *pair) { p.delete("odd") }, []string{"root removed odd", "root removed odd/a%3Ab.json"},
			func(p *pair) { assert.NoDirExists(p.t, p.path("odd")) }},
		{"a new file in a new folder", func(p *pair) { p.write("new/sub/x.txt", "x") },
			[]string{"files added new", "files added new/sub", "files added new/sub/x.txt"},
			func(p *pair) { assert.Equal(p.t, objectdb.Text("x"), p.get("new/sub/x")) }},
		{"an empty folder", func(p *pair) { require.NoError(p.t, os.Mkdir(p.path("void"), 0o700)) }, []string{"files added void"},
			func(p *pair) { assert.Equal(p.t, "{}\n", p.read("void/_index.json")) }},
		{"a folder gets empty", func(p *pair) { p.remove("odd/a%3Ab.json") }, []string{"files removed odd/a%3Ab.json"},
			func(p *pair) { assert.Equal(p.t, "{}\n", p.read("odd/_index.json")) }},
		{"the case of a file's name", func(p *pair) {
			require.NoError(p.t, os.Rename(p.path("hello.lua"), p.path("Hello.lua")))
		}, []string{"files renamed Hello.lua"}, nil},
		{"the case of an object's name", func(p *pair) {
			p.update(func(tx *objectdb.Tx) error { return tx.Move(p.address("hello"), p.address("HELLO")) })
		}, []string{"root renamed HELLO.lua"}, func(p *pair) { assert.NoFileExists(p.t, p.path("hello.lua")) }},
		{"the case of a name, and the content", func(p *pair) {
			p.update(func(tx *objectdb.Tx) error { return tx.Move(p.address("hello"), p.address("HELLO")) })
			p.put("HELLO", objectdb.Script("return 3\n"))
		}, []string{"root changed HELLO.lua"}, func(p *pair) { assert.Equal(p.t, "return 3\n", p.read("HELLO.lua")) }},
		{"the case of a table's name", func(p *pair) {
			p.update(func(tx *objectdb.Tx) error { return tx.Move(p.address("pages"), p.address("Pages")) })
			p.put("pages/home", objectdb.Text("new\n"))
			p.delete("pages/plan")
		}, []string{"root renamed Pages", "root changed Pages/home.txt", "root removed Pages/plan.opml"},
			func(p *pair) { assert.NoDirExists(p.t, p.path("pages")) }},
		{"the case of a folder's name", func(p *pair) {
			require.NoError(p.t, os.Rename(p.path("pages"), p.path("Pages")))
			p.write("Pages/home.txt", "new\n")
		}, []string{"files renamed Pages", "files changed Pages/home.txt"}, nil},
		{"case on one side, content on the other", func(p *pair) {
			require.NoError(p.t, os.Rename(p.path("hello.lua"), p.path("Hello.lua")))
			p.put("hello", objectdb.Script("return 4\n"))
		}, []string{"both changed Hello.lua"}, func(p *pair) { assert.Equal(p.t, "return 4\n", p.read("Hello.lua")) }},
		{"another kind in the root", func(p *pair) { p.put("hello", objectdb.Text("text\n")) }, []string{"root changed hello.txt"},
			func(p *pair) { assert.NoFileExists(p.t, p.path("hello.lua")) }},
		{"another kind in the folder", func(p *pair) {
			require.NoError(p.t, os.Rename(p.path("hello.lua"), p.path("hello.txt")))
		}, []string{"files changed hello.txt"}, func(p *pair) { assert.Equal(p.t, objectdb.Text("return 1\n"), p.get("hello")) }},
		{"a value becomes a table", func(p *pair) { p.delete("hello"); p.put("hello/x", objectdb.String("x")) },
			[]string{"root changed hello", "root added hello/x.str"}, nil},
		{"a table becomes a value", func(p *pair) { p.delete("odd"); p.put("odd", objectdb.String("x")) },
			[]string{"root changed odd.str", "root removed odd/a%3Ab.json"}, func(p *pair) { assert.NoDirExists(p.t, p.path("odd")) }},
		{"a file becomes a folder", func(p *pair) { p.remove("hello.lua"); p.write("hello/x.str", "x") },
			[]string{"files changed hello", "files added hello/x.str"},
			func(p *pair) { assert.Equal(p.t, objectdb.String("x"), p.get("hello/x")) }},
		{"a folder becomes a file", func(p *pair) { require.NoError(p.t, os.RemoveAll(p.path("odd"))); p.write("odd.str", "x") },
			[]string{"files changed odd.str", "files removed odd/a%3Ab.json"}, nil},
		{"different lines", func(p *pair) {
			p.put("pages/home", objectdb.Text("A\nb\nc\n"))
			p.write("pages/home.txt", "a\nb\nC\n")
		}, []string{"both merged pages/home.txt"}, func(p *pair) {
			assert.Equal(p.t, "A\nb\nC\n", p.read("pages/home.txt"))
			assert.Equal(p.t, objectdb.Text("A\nb\nC\n"), p.get("pages/home"))
		}},
		{"an outline that OPML cannot say", func(p *pair) { p.put("pages/plan", objectdb.Outline("\t\tdeep")) },
			[]string{"root changed pages/plan.txt"}, func(p *pair) { assert.NoFileExists(p.t, p.path("pages/plan.opml")) }},
		{"a type that a suffix cannot say", func(p *pair) { p.put("data/logo", objectdb.Binary{Type: "x/y", Data: "z"}) },
			[]string{"root changed data/logo.bin"}, nil},
		{"a file by hand that says the same", func(p *pair) { p.write("data/flags.json", "[true,null]") }, nil,
			func(p *pair) {
				assert.Equal(p.t, "[true,null]", p.read("data/flags.json"))
				p.put("data/flags", objectdb.List{})
				p.sync()
			}},
		{"an index entry is removed", func(p *pair) {
			p.write("pages/_index.json", "{}\n")
		}, []string{"files changed pages/odd plan.txt"},
			func(p *pair) { assert.Equal(p.t, objectdb.Text("one\n\t\t\ttwo"), p.get("pages/odd plan")) }},
		{"a long name", func(p *pair) { p.put("data/"+strings.Repeat("long ", 50), objectdb.String("new")) },
			[]string{"root changed data/long%20long%20longlonglonglonglonglonglonglonglonglonglonglonglong%_"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.fill()
			p.sync()
			settle()
			c.change(p)
			got := p.sync()
			if strings.HasPrefix(c.name, "a long name") {
				require.Len(t, got, 1)
				got, c.want = nil, nil
			}
			assert.ElementsMatch(t, c.want, got)
			if c.check != nil {
				c.check(p)
			}
			p.same()
			settle()
			assert.Empty(t, p.sync(), "once more")
		})
	}
}

func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *pair)
		want   []string
		other  string // the text in the folder of conflicts
	}{
		{"the same line", func(p *pair) {
			p.put("pages/home", objectdb.Text("root\nb\nc\n"))
			p.write("pages/home.txt", "file\nb\nc\n")
		}, []string{"conflict pages/home.txt"}, "root\nb\nc\n"},
		{"merged, it does not compile", func(p *pair) {
			p.put("hello", objectdb.Script("if x then\n\n\n\nend\n"))
			p.sync()
			settle()
			p.put("hello", objectdb.Script("-- if x then\n\n\n\nend\n"))
			p.write("hello.lua", "if x then\n\n\n\nend --\n")
		}, []string{"conflict hello.lua"}, "-- if x then\n\n\n\nend\n"},
		{"changed in the root, removed in the folder", func(p *pair) {
			p.put("hello", objectdb.Script("return 2\n"))
			p.remove("hello.lua")
		}, []string{"conflict hello.lua"}, "return 2\n"},
		{"changed in the folder, deleted in the root", func(p *pair) {
			p.delete("hello")
			p.write("hello.lua", "return 2\n")
		}, []string{"conflict hello.lua"}, ""},
		{"another kind on each side", func(p *pair) {
			p.put("hello", objectdb.Text("return 2\n"))
			p.write("hello.lua", "return 3\n")
		}, []string{"conflict hello.lua"}, "return 2\n"},
		{"a binary", func(p *pair) {
			p.put("data/logo", objectdb.Binary{Type: "image/png", Data: "r"})
			p.write("data/logo.png", "f")
		}, []string{"conflict data/logo.png"}, "r"},
		{"something new in a folder that is removed", func(p *pair) {
			p.put("odd/new", objectdb.String("n"))
			require.NoError(p.t, os.RemoveAll(p.path("odd")))
		}, nil, ""},
		{"something changed in a folder that is removed", func(p *pair) {
			p.put("odd/a:b", objectdb.Address{"user", "y"})
			require.NoError(p.t, os.RemoveAll(p.path("odd")))
		}, []string{"conflict odd/a%3Ab.json"}, "{\n\t\"address\": \"user.y\"\n}\n"},
		{"a file in the place of a table that has got something", func(p *pair) {
			p.put("odd/new", objectdb.String("n"))
			require.NoError(p.t, os.RemoveAll(p.path("odd")))
			p.write("odd.str", "file")
		}, []string{"conflict odd.str"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.fill()
			p.sync()
			settle()
			c.change(p)
			files, root := p.state()
			got := p.sync()
			if c.want == nil { // the folder comes back with what is new
				assert.ElementsMatch(t, []string{"files removed odd/a%3Ab.json", "root added odd/new.str", "root added odd"}, got)
				p.same()
				return
			}
			assert.Equal(t, c.want, got)
			filesNow, rootNow := p.state()
			assert.Equal(t, files, filesNow, "neither side is written")
			assert.Equal(t, root, rootNow)
			if c.other != "" {
				list := p.conflicts()
				require.Len(t, list, 1)
				assert.Equal(t, c.other, p.read(list[0]))
			}
			settle()
			assert.Equal(t, c.want, p.sync(), "it stays in conflict")
			for _, side := range []Side{FromFiles, FromRoot} {
				q := p.copy()
				q.sync(Round{Take: side, Paths: []string{strings.TrimPrefix(c.want[0], "conflict ")}})
				q.same()
				assert.Empty(t, q.conflicts())
				settle()
				assert.Empty(t, q.sync())
			}
		})
	}
}

// state returns the files, and the objects as an export writes them.
func (p *pair) state() (files, root map[string]string) {
	p.t.Helper()
	files = readAll(p.t, p.dir)
	out := filepath.Join(p.t.TempDir(), "export")
	require.NoError(p.t, p.export(out))
	return files, readAll(p.t, out)
}

func readAll(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == stateFolder {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			content, err := os.ReadFile(name)
			rel, _ := filepath.Rel(dir, name)
			all[rel] = string(content)
			return err
		}
		return nil
	}))
	return all
}

// conflicts lists the texts of conflicts.
func (p *pair) conflicts() []string {
	var list []string
	filepath.WalkDir(p.path(conflictFolder), func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(p.dir, name)
			list = append(list, rel)
		}
		return nil
	})
	return list
}

func TestDeletions(t *testing.T) {
	p := newPair(t)
	for i := range 100 {
		p.put(fmt.Sprintf("n%d", i), objectdb.String(fmt.Sprint(i)))
	}
	p.sync()
	settle()
	for i := range 20 {
		p.remove(fmt.Sprintf("n%d.str", i))
	}
	assert.Len(t, p.sync(), 20, "20 % are allowed")
	for i := range 17 {
		p.remove(fmt.Sprintf("n%d.str", i+20))
	}
	p.write("n90.str", "changed")
	settle()
	var refused *DeletionError
	_, err := p.round(Round{})
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 17, refused.Count)
	assert.Equal(t, objectdb.String("90"), p.get("n90"), "nothing is synced")
	assert.Len(t, p.sync(Round{AllowDelete: true}), 18)
	p.same()
	require.NoError(t, p.db.Update(context.Background(), func(tx *objectdb.Tx) error { return tx.Delete(site) }))
	_, err = p.round(Round{})
	require.ErrorAs(t, err, &refused, "the table is gone")
	assert.Equal(t, FromRoot, refused.Side)
	assert.FileExists(t, p.path("n90.str"))

	// One object is always deleted.
	p = newPair(t)
	p.put("x", objectdb.String("x"))
	p.put("y", objectdb.String("y"))
	p.sync()
	p.remove("x.str")
	assert.Equal(t, []string{"files removed x.str"}, p.sync())
	p.delete("y")
	assert.Equal(t, []string{"root removed y.str"}, p.sync())

	// What only comes to another place is not deleted.
	p = newPair(t)
	for i := range 60 {
		p.put(fmt.Sprintf("old/n%d", i), objectdb.String(fmt.Sprint(i)))
	}
	p.sync()
	require.NoError(t, os.Rename(p.path("old"), p.path("new")))
	settle()
	assert.Len(t, p.sync(), 122)
	p.same()
}

func TestVanishedFolder(t *testing.T) {
	p := newPair(t)
	p.put("x", objectdb.String("x"))
	f, err := Open(p.options())
	require.NoError(t, err)
	defer f.Close()
	_, err = f.Sync(context.Background(), Round{})
	require.NoError(t, err)
	require.NoError(t, os.Rename(p.dir, p.dir+"2"))
	_, err = f.Sync(context.Background(), Round{AllowDelete: true})
	assert.ErrorIs(t, err, ErrGone)
	require.NoError(t, os.Mkdir(p.dir, 0o700))
	_, err = f.Sync(context.Background(), Round{AllowDelete: true})
	assert.ErrorIs(t, err, ErrGone)
	assert.Equal(t, objectdb.String("x"), p.get("x"))
}

func TestNotSynced(t *testing.T) {
	p := newPair(t)
	p.at = objectdb.Address{}
	p.put("scratchpad/x", objectdb.String("x"))
	p.put("user/webserver/debugToken", objectdb.String("t"))
	p.put("user/webserver/users/realm/ada", objectdb.String("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"))
	p.put("user/site/ada", objectdb.String("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"))
	p.put("user/site/private", objectdb.String("p"))
	p.put("user/site/public", objectdb.String("p"))
	p.write(".scripterignore", "private.*\n")
	settle()
	assert.ElementsMatch(t, []string{"root added user", "root added user/site", "root added user/site/public.str",
		"root added user/webserver"}, p.sync())
	p.write("user/site/eve.str", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaB")
	p.write("scratchpad/y.str", "y")
	settle()
	assert.Empty(t, p.sync())
	assert.Nil(t, p.get("user/site/eve"))

	// A rule that comes later deletes nothing.
	p.write(".scripterignore", "private.*\npublic.*\n!/scratchpad/\n!ada.str\n")
	assert.ElementsMatch(t, []string{"root added scratchpad/x.str", "files added scratchpad/y.str",
		"root added user/site/ada.str"}, p.sync())
	assert.Equal(t, "p", p.read("user/site/public.str"))
	assert.Equal(t, objectdb.String("p"), p.get("user/site/public"))
	assert.NoFileExists(t, p.path("user/webserver/debugToken.str"))

	// A table with something that is not synced stays.
	require.NoError(t, os.RemoveAll(p.path("user/webserver")))
	settle()
	p.sync()
	assert.Equal(t, objectdb.String("t"), p.get("user/webserver/debugToken"))
}

func TestProblems(t *testing.T) {
	p := newPair(t)
	p.fill()
	p.sync()
	settle()
	p.write("hello.lua", "return (\n")
	p.write("data/count.json", "12x")
	p.write("title.txt", "a second file of title")
	p.write("what.foo", "")
	p.write("pages/_index.json", "{")
	p.write("pages/home.txt", "not taken while the index is broken")
	require.NoError(t, os.Symlink("/etc/passwd", p.path("link.txt")))
	require.NoError(t, os.Symlink("/etc", p.path("etc")))
	require.NoError(t, os.Remove(p.path("data/logo.png")))
	require.NoError(t, os.Symlink("/etc/passwd", p.path("data/logo.png")))
	p.put("data/logo", objectdb.Binary{Type: "image/png", Data: "not written through the link"})
	p.write("data/fine.str", "fine")
	settle()
	want := []string{"files added data/fine.str", "problem data/count.json", "problem data/logo.png", "problem hello.lua",
		"problem title.str", "problem link.txt", "problem etc", "skipped what.foo", "problem pages/home.txt",
		"problem pages/odd plan.txt", "problem pages/plan.opml", "problem pages"}
	assert.ElementsMatch(t, want, p.sync())
	assert.Equal(t, objectdb.Script("return 1\n"), p.get("hello"))
	assert.Equal(t, objectdb.Text("a\nb\nc\n"), p.get("pages/home"))
	assert.ElementsMatch(t, want[1:], p.sync(), "once more")
	assert.Contains(t, p.sync(Round{Force: true}), "files changed hello.lua")
	target, err := os.Readlink(p.path("data/logo.png"))
	require.NoError(t, err)
	assert.Equal(t, "/etc/passwd", target)
}

func TestOtherRootAndAddress(t *testing.T) {
	p := newPair(t)
	p.put("x", objectdb.String("x"))
	p.sync()
	o := p.options()
	o.Address = objectdb.Address{"user"}
	_, err := Open(o)
	assert.ErrorIs(t, err, ErrOtherAddress)
	o.Address = nil
	f, err := Open(o)
	require.NoError(t, err)
	assert.Equal(t, site, f.Address())
	f.Close()
	q := newPair(t)
	q.dir = p.dir
	_, err = q.round(Round{AllowDelete: true})
	assert.ErrorIs(t, err, ErrOtherRoot)
	assert.Equal(t, "x", p.read("x.str"))
}

// TestRestoredRoot puts an older copy of the root into its place, and changes that.
func TestRestoredRoot(t *testing.T) {
	p := newPair(t)
	p.put("x", objectdb.String("1"))
	p.put("y", objectdb.String("1"))
	p.sync()
	p.db.Close()
	old, err := os.ReadFile(p.root)
	require.NoError(t, err)
	p.reopen()
	p.put("x", objectdb.String("2"))
	p.sync()
	p.db.Close()
	os.Remove(p.root + "-wal")
	os.Remove(p.root + "-shm")
	require.NoError(t, os.WriteFile(p.root+".old", old, 0o600))
	require.NoError(t, os.Rename(p.root+".old", p.root))
	p.reopen()
	p.put("x", objectdb.String("3"))
	assert.Equal(t, []string{"root changed x.str"}, p.sync())
	assert.Equal(t, "3", p.read("x.str"))
	p.same()
}

func TestOrigin(t *testing.T) {
	p := newPair(t)
	p.git("init", "-q", "-b", "main")
	p.write("x.str", "1")
	p.git("add", ".")
	p.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x")
	out, err := p.gitCommand("rev-parse", "--short=7", "HEAD").Output()
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(string(out))+" main", findRepository(p.dir).head())
	p.git("pack-refs", "--all")
	assert.Equal(t, strings.TrimSpace(string(out))+" main", findRepository(p.dir).head())
	tree := filepath.Join(t.TempDir(), "tree")
	p.git("worktree", "add", "-q", "-b", "topic/x", tree)
	require.NoError(t, os.Mkdir(filepath.Join(tree, "sub"), 0o700))
	assert.Equal(t, strings.TrimSpace(string(out))+" topic/x", findRepository(filepath.Join(tree, "sub")).head())
	p.git("checkout", "-q", "--detach")
	assert.Equal(t, strings.TrimSpace(string(out)), findRepository(p.dir).head())
}

func (p *pair) gitCommand(args ...string) *exec.Cmd {
	c := exec.Command("git", args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	return c
}

func (p *pair) git(args ...string) {
	p.t.Helper()
	out, err := p.gitCommand(args...).CombinedOutput()
	require.NoError(p.t, err, "git %v: %s", args, out)
}

// TestRescue finds what a killed sync has left in its folder of temporary files.
func TestRescue(t *testing.T) {
	p := newPair(t)
	p.put("x", objectdb.Text("x"))
	p.sync()
	p.write(partFolder+"/part-ABC", "half a fi")
	p.write(partFolder+"/swap-ABC-x.txt", "what the user saved when the sync was killed")
	assert.Equal(t, []string{"problem .scripter/rescued/ABC-x.txt"}, p.sync())
	assert.Equal(t, "what the user saved when the sync was killed", p.read(rescueFolder+"/ABC-x.txt"))
	assert.Empty(t, p.sync())
	p.same()
}

// TestRecoveryOfAnotherSuffix checks that the next sync removes the old file of an object if a sync was
// killed after it had written the new one with another suffix. The type of a binary is in the index.
func TestRecoveryOfAnotherSuffix(t *testing.T) {
	p := newPair(t)
	v := objectdb.Binary{Type: "application/x-odd", Data: "odd"}
	p.put("t/b", v)
	p.sync(Round{})
	p.write("t/b.txt", "old")
	f, err := Open(p.options())
	require.NoError(t, err)
	defer f.Close()
	info, err := f.dir.Lstat("t/b.txt")
	require.NoError(t, err)
	require.NoError(t, f.finishMoves(&begun{Items: []begunItem{{
		ToFiles: true, FilePath: "t/b.txt", WantPath: "t/b.bin", Stat: statOf(info), Want: object{"b", sumOf(v)},
	}}}))
	assert.NoFileExists(t, p.path("t/b.txt"))
	assert.FileExists(t, p.path("t/b.bin"))
}

// TestBrokenState has a state that somebody has damaged.
func TestBrokenState(t *testing.T) {
	p := newPair(t)
	p.put("x", objectdb.Text("x"))
	p.sync()
	p.write(baseFile, "{")
	_, err := Open(p.options())
	assert.ErrorContains(t, err, ".scripter/sync.json: unexpected end of JSON input; without this file")
	p.remove(baseFile)
	settle()
	assert.Empty(t, p.sync(), "root and folder are the same")
	p.write(baseFile, strings.Replace(p.read(baseFile), `"scripterSync":1`, `"scripterSync":9`, 1))
	_, err = Open(p.options())
	assert.ErrorContains(t, err, "a newer version wrote it (form 9; this program knows 1)")
}
