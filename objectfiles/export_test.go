package objectfiles

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const topIndex = "{\n\t\".\": {\"form\":1}\n}\n"

// obstacles requires that an export writes nothing, and returns what is in its way.
func obstacles(t testing.TB, db *objectdb.DB, a, dir string) (in []Obstacle) {
	t.Helper()
	before := contents(t, dir)
	view(t, db, func(tx *objectdb.Tx) {
		p := must(PlanExport(tx, addr(t, a), dir))(t)
		defer p.Close()
		assert.ErrorIs(t, p.Do(false), ErrInTheWay)
		in = p.InTheWay
	})
	assert.Equal(t, before, contents(t, dir), "nothing was written")
	return in
}

func TestExportUpdatesEarlierExport(t *testing.T) {
	db := open(t)
	put(t, db, "a", objectdb.Number(1), "b.c", objectdb.Number(2), "d", objectdb.Text("x"), "e.f", objectdb.Number(1),
		"n", objectdb.Number(1))
	dir := t.TempDir()
	writeFile(t, "x", dir, ".git", "config")
	p := exportTo(t, db, "", dir, false)
	assert.Equal(t, []string{"_index.json", "a.json", "b/c.json", "d.txt", "e/f.json", "n.json"}, p.Added)
	old, err := os.Stat(filepath.Join(dir, "a.json"))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(filepath.Join(dir, "n.json"), 0o640))
	writeFile(t, "mine", dir, "e", "mine.txt")
	update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(objectdb.Address{"b"}))
		require.NoError(t, tx.Put(objectdb.Address{"d"}, objectdb.Script("y")))
		require.NoError(t, tx.Delete(objectdb.Address{"e"}))
		require.NoError(t, tx.Put(objectdb.Address{"e.json"}, objectdb.Text("z")))
		require.NoError(t, tx.Put(objectdb.Address{"n"}, objectdb.Number(2)))
	})
	p = exportTo(t, db, "", dir, false)
	assert.Equal(t, []string{"d.lua", "e.json.txt"}, p.Added)
	assert.Equal(t, []string{"n.json"}, p.Replaced)
	assert.Equal(t, []string{"b/c.json", "d.txt", "e/f.json"}, p.Removed)
	assert.Equal(t, []string{"e/mine.txt"}, p.Others)
	assert.Equal(t, 2, p.Same)
	assert.Equal(t, map[string]string{
		"_index.json": topIndex, "a.json": "1\n", "d.lua": "y", "e.json.txt": "z", "n.json": "2\n",
		"e/mine.txt": "mine", ".git/config": "x",
	}, contents(t, dir))
	assert.NoDirExists(t, filepath.Join(dir, "b"))
	now, err := os.Stat(filepath.Join(dir, "a.json"))
	require.NoError(t, err)
	assert.Equal(t, old.ModTime(), now.ModTime(), "a file that is right is not written")
	for name, mode := range map[string]os.FileMode{"d.lua": 0o600, exportNoteFile: 0o600, "e": 0o700 | os.ModeDir,
		"n.json": 0o640} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), name)
	}
}

// Export neither overwrites nor removes what it did not write, unless it makes a mirror.
func TestExportKeepsWhatOthersWrote(t *testing.T) {
	db := open(t)
	put(t, db, "head", objectdb.Script("one"), "tail", objectdb.Script("two"), "gone", objectdb.Script("three"),
		"t.x", objectdb.Number(1), "left", objectdb.Number(1))
	dir := t.TempDir()
	export(t, db, "", dir)
	writeFile(t, "edited", dir, "head.lua")
	writeFile(t, "edited", dir, "gone.lua")
	writeFile(t, "mine", dir, "LICENSE")
	writeFile(t, "mine", dir, "brandnew.lua")
	writeFile(t, "mine", dir, "new", "x.json")
	writeFile(t, "mine", dir, "tests", "t.sh")
	writeFile(t, "mine", dir, "tests", ".git", "config")
	writeFile(t, "mine", dir, ".gitignore")
	require.NoError(t, os.Remove(filepath.Join(dir, "t", "x.json")))
	require.NoError(t, os.Symlink("../head.lua", filepath.Join(dir, "t", "x.json")))
	require.NoError(t, os.Remove(filepath.Join(dir, "left.json")))
	update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(objectdb.Address{"gone"}))
		require.NoError(t, tx.Put(objectdb.Address{"tail"}, objectdb.Script("changed")))
		require.NoError(t, tx.Put(objectdb.Address{"new", "x"}, objectdb.Number(1)))
		require.NoError(t, tx.Put(objectdb.Address{"brandnew", "t"}, objectdb.Number(1)))
	})
	assert.Equal(t, []Obstacle{
		{"gone.lua", "it was changed since the last export, and its object is gone", true},
		{"head.lua", "it was changed since the last export", false},
		{"new/x.json", "it was not written by export", false},
		{"t/x.json", "it is a link, and a file must be there", false},
	}, obstacles(t, db, "", dir))

	p := exportTo(t, db, "", dir, true)
	assert.Equal(t, []string{"LICENSE", "brandnew.lua", "tests/"}, p.Others)
	assert.Equal(t, map[string]string{
		"_index.json": topIndex, "brandnew/t.json": "1\n", "head.lua": "one", "left.json": "1\n", "new/x.json": "1\n",
		"t/x.json": "1\n", "tail.lua": "changed", ".gitignore": "mine", "tests/.git/config": "mine",
	}, contents(t, dir))
	assert.Equal(t, 0, len(exportTo(t, db, "", dir, false).InTheWay))
}

// Export refuses a folder with another export, and a folder with other files.
func TestExportRefusesOtherFolders(t *testing.T) {
	db := open(t)
	put(t, db, "a.x", objectdb.Number(1), "b.x", objectdb.Number(1))
	plan := func(a objectdb.Address, dir string) error {
		return db.View(context.Background(), func(tx *objectdb.Tx) error {
			p, err := PlanExport(tx, a, dir)
			if err == nil {
				p.Close()
			}
			return err
		})
	}
	dir := t.TempDir()
	writeFile(t, "mine", dir, "notes.txt")
	err := plan(objectdb.Address{}, dir)
	assert.ErrorIs(t, err, objectdb.ErrExists)
	assert.ErrorContains(t, err, "the folder holds notes.txt and is not an earlier export")
	assert.ErrorIs(t, plan(objectdb.Address{"x"}, dir), objectdb.ErrNotFound)
	assert.Equal(t, map[string]string{"notes.txt": "mine"}, contents(t, dir))

	dir = t.TempDir()
	export(t, db, "a", dir)
	assert.Equal(t, []Obstacle{{".", "the folder holds an export of a", false}}, obstacles(t, db, "b", dir))
	exportTo(t, db, "b", dir, true)
	for _, bad := range []string{
		"x", "{}", `{"scripterExport": 2, "files": 1}`, `{"scripterExport": 1, "files": {"../a.json": ""}}`,
		`{"scripterExport": 1, "files": {"/etc/passwd": ""}}`, `{"scripterExport": 1, "begun": {"t/.git/config": ""}}`,
	} {
		writeFile(t, bad, dir, exportNoteFile)
		assert.ErrorContains(t, plan(objectdb.Address{"b"}, dir), ".scripter-export: ", bad)
	}
}

// A README.md is for people: import skips it, and export accepts a new repository that
// has nothing else. An object of that name gets another file name.
func TestReadmeIsNotAnObject(t *testing.T) {
	db := open(t)
	put(t, db, "site.page", objectdb.Script("one"),
		"site.ReadMe", objectdb.Binary{Type: "text/markdown", Data: "an object"}, "site.t.x", objectdb.Number(1))
	dir := t.TempDir()
	writeFile(t, "mine", dir, "README.md")
	writeFile(t, "x", dir, ".git", "config")
	assert.Empty(t, exportTo(t, db, "site", dir, false).Others)
	writeFile(t, "mine", dir, "t", "readme.md")
	writeFile(t, "mine", dir, "old", "readme.md")
	writeFile(t, "gone", dir, "old", "x.lua")
	assert.Equal(t, []string{"old/"}, exportTo(t, db, "site", dir, true).Others)
	assert.NoFileExists(t, filepath.Join(dir, "old", "x.lua"))
	files := contents(t, dir)
	assert.Equal(t, "mine", files["README.md"])
	assert.Equal(t, "an object", files["%52eadMe.md"])

	other := open(t)
	result := importDir(t, other, os.DirFS(dir), "site")
	assert.Equal(t, []string{".git", "README.md", "old/readme.md", "t/readme.md"}, result.Skipped)
	assert.Equal(t, 5, result.Added)
	requireEqual(t, objectdb.Binary{Type: "text/markdown", Data: "an object"}, get(t, other, "site.readme"))
	assert.Empty(t, exportTo(t, db, "site", dir, false).InTheWay)
}

// In a folder that an earlier version wrote without a note, files with the right content
// are not in the way.
func TestExportToAFolderWithoutANote(t *testing.T) {
	db := open(t)
	put(t, db, "a", objectdb.Number(1), "b", objectdb.Number(2))
	dir := t.TempDir()
	export(t, db, "", dir)
	require.NoError(t, os.Remove(filepath.Join(dir, exportNoteFile)))
	p := exportTo(t, db, "", dir, false)
	assert.Equal(t, 3, p.Same)
	put(t, db, "a", objectdb.Number(3))
	assert.Equal(t, []string{"a.json"}, exportTo(t, db, "", dir, false).Replaced)
	require.NoError(t, os.Remove(filepath.Join(dir, exportNoteFile)))
	put(t, db, "a", objectdb.Number(4))
	assert.Equal(t, []Obstacle{{"a.json", "it was not written by export", false}}, obstacles(t, db, "", dir))
}

// An interrupted export leaves complete files, and can be run again, even if the root has
// changed since.
func TestExportAfterInterruptedExport(t *testing.T) {
	db := open(t)
	for i := range 20 {
		put(t, db, "t.x"+string(rune('a'+i)), objectdb.Number(i))
	}
	for _, half := range []bool{false, true} { // a first export, and a later one
		dir := t.TempDir()
		if half {
			export(t, db, "", dir)
		}
		put(t, db, "t.xa", objectdb.Number(100), "t.xt", objectdb.Number(100))
		view(t, db, func(tx *objectdb.Tx) {
			p := must(PlanExport(tx, objectdb.Address{}, dir))(t)
			defer p.Close()
			require.NoError(t, p.begin())
			for _, f := range p.order[:len(p.order)/2] {
				if f.write {
					require.NoError(t, p.writeFile(f, false))
				}
			}
			writeFile(t, "half a scr", dir, partPrefix+"XXXX"+partSuffix)
		})
		put(t, db, "t.xa", objectdb.Number(200), "t.xt", objectdb.Number(200))
		exportTo(t, db, "", dir, false)
		fresh := t.TempDir()
		export(t, db, "", fresh)
		assert.Equal(t, contents(t, fresh), contents(t, dir))
		want, err := os.ReadFile(filepath.Join(fresh, exportNoteFile))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, exportNoteFile))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}

func TestOneExportAtATime(t *testing.T) {
	db := open(t)
	put(t, db, "a", objectdb.Number(1))
	dir := t.TempDir()
	view(t, db, func(tx *objectdb.Tx) {
		p := must(PlanExport(tx, objectdb.Address{}, dir))(t)
		defer p.Close()
		_, err := PlanExport(tx, objectdb.Address{}, dir)
		assert.ErrorContains(t, err, "another export to this folder is running")
		writeFile(t, "meanwhile", dir, "a.json")
		assert.ErrorIs(t, p.Do(false), ErrInTheWay)
	})
	assert.Equal(t, "meanwhile", contents(t, dir)["a.json"])
}

// An export changes nothing outside of its folder, even if there are links in it.
func TestExportStaysInItsFolder(t *testing.T) {
	db := open(t)
	put(t, db, "t.x", objectdb.Number(1), "u.x", objectdb.Number(1))
	outside := t.TempDir()
	writeFile(t, "theirs", outside, "x.json")
	dir := t.TempDir()
	export(t, db, "", dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "t")))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "u")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "t")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x.json"), filepath.Join(dir, "other")))
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.Address{"u"})) })
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "u")))
	view(t, db, func(tx *objectdb.Tx) {
		p := must(PlanExport(tx, objectdb.Address{}, dir))(t)
		defer p.Close()
		assert.ErrorIs(t, p.Do(false), ErrInTheWay)
		assert.Equal(t, []Obstacle{{"t", "it is a link, and a folder must be there", false}}, p.InTheWay)
		assert.Equal(t, []string{"other", "u"}, p.Others)
	})
	exportTo(t, db, "", dir, true)
	assert.Equal(t, map[string]string{"_index.json": topIndex, "t/x.json": "1\n"}, contents(t, dir))
	assert.Equal(t, map[string]string{"x.json": "theirs"}, contents(t, outside))
}

// FuzzExportNote exports to a folder with any note. The export refuses the note, or keeps
// every file that no export has written.
func FuzzExportNote(f *testing.F) {
	f.Add(`{"scripterExport": 1, "address": "", "files": {"mine.txt": "x", "../up.txt": "x"}}`)
	f.Add(`{"scripterExport": 1, "address": "t", "files": null, "begun": {".git/config": ""}}`)
	f.Add(`{"scripterExport": 1, "files": {"a.json": "", "a.json/b": "", "t/./x": "", "": ""}}`)
	f.Add("")
	db := open(f)
	put(f, db, "a", objectdb.Number(1), "t.x", objectdb.Number(1))
	f.Fuzz(func(t *testing.T, note string) {
		top := t.TempDir()
		dir := filepath.Join(top, "export")
		for _, path := range []string{"export/mine.txt", "export/.git/config", "up.txt", "export/s/mine.txt"} {
			writeFile(t, "mine", top, path)
		}
		writeFile(t, note, dir, exportNoteFile)
		err := db.View(context.Background(), func(tx *objectdb.Tx) error {
			p, err := PlanExport(tx, objectdb.Address{}, dir)
			if err != nil {
				return err
			}
			defer p.Close()
			return p.Do(false)
		})
		for _, path := range []string{"export/mine.txt", "export/.git/config", "up.txt", "export/s/mine.txt"} {
			require.FileExists(t, filepath.Join(top, path), "%v", err)
		}
	})
}
