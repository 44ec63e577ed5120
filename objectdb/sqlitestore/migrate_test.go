package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// version1 is what the first program wrote.
const version1 = `
PRAGMA application_id = 0x53437274; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;
CREATE TABLE meta (
  only       INTEGER PRIMARY KEY CHECK (only = 1),
  generation INTEGER NOT NULL,
  last_id    INTEGER NOT NULL
);
CREATE TABLE object (
  id       INTEGER PRIMARY KEY,
  parent   INTEGER NOT NULL,
  name     TEXT NOT NULL,
  fold     TEXT NOT NULL,
  kind     TEXT NOT NULL,
  ver      INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  size     INTEGER NOT NULL,
  type     TEXT NOT NULL,
  value
);
CREATE UNIQUE INDEX object_place ON object (parent, fold);
INSERT INTO meta VALUES (1, 7, 3);
INSERT INTO object VALUES
  (1, 0, '', '', 'table', 2, 1769884200000000000, 1769884200000000000, 0, '', NULL),
  (2, 1, 'User', 'user', 'table', 3, 1769884200000000001, 1769884200000000001, 0, '', NULL),
  (3, 2, 'name', 'name', 'string', 5, 1769884200000000002, 1769884200000000003, 3, '', 'Ada');`

func oldRoot(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.root")
	require.NoError(t, os.WriteFile(path, nil, 0o660))
	c, err := openConn(path, objectdb.Options{})
	require.NoError(t, err)
	_, err = c.c.Exec(version1, nil)
	require.NoError(t, err)
	require.NoError(t, c.close())
	return path
}

// Specification: 1.5, 9.1
func TestMigration(t *testing.T) {
	path := oldRoot(t)
	said, err := Inspect(path)
	require.NoError(t, err)
	assert.Equal(t, objectdb.Info{Version: 1, Outdated: true, Generation: 7, Objects: 3, Created: said.Created}, said,
		"looking changes nothing")
	_, err = Open(path, objectdb.Options{ReadOnly: true})
	require.ErrorIs(t, err, objectdb.ErrReadOnly)
	assert.ErrorContains(t, err, "it is of an older version")

	// Ten programs come at once.
	var done sync.WaitGroup
	for range 10 {
		done.Go(func() {
			db, err := Open(path, objectdb.Options{Program: "scripter 9.9", BusyTimeout: patience})
			if assert.NoError(t, err) {
				requireEqual(t, objectdb.String("Ada"), get(t, db, "user.name"))
				assert.NoError(t, db.Close())
			}
		})
	}
	done.Wait()
	said, err = Inspect(path)
	require.NoError(t, err)
	assert.Equal(t, objectdb.FileVersion, said.Version)
	assert.Equal(t, int64(8), said.Generation, "once")
	assert.Equal(t, "scripter 9.9", said.MigratedBy)
	assert.Empty(t, said.MadeBy)
	list, err := Copies(path)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, 1, list[0].Version)
	before, err := Inspect(list[0].Path)
	require.NoError(t, err)
	assert.Equal(t, 1, before.Version, "the copy is of the root as it was")
	_, err = Open(list[0].Path, objectdb.Options{Reading: true})
	require.ErrorIs(t, err, objectdb.ErrReadOnly, "reading does not bring a copy up to date")
	before, err = Inspect(list[0].Path)
	require.NoError(t, err)
	assert.Equal(t, 1, before.Version)

	db, err := Open(path, objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	requireSound(t, db)
	put(t, db, "user.name", objectdb.String("Grace"))
	save(t, db, objectdb.SaveOptions{Keep: 1})
	save(t, db, objectdb.SaveOptions{Keep: 1})
	assert.FileExists(t, list[0].Path, "it stays, however many copies come after it")
	// Revert can go back to the old copy, and does not change it.
	_, err = db.Revert(context.Background(), list[0].Path, objectdb.SaveOptions{})
	require.NoError(t, err)
	requireEqual(t, objectdb.String("Ada"), get(t, db, "user.name"))
	requireSound(t, db)
	before, err = Inspect(list[0].Path)
	require.NoError(t, err)
	assert.Equal(t, 1, before.Version)
	assert.NoDirExists(t, filepath.Join(filepath.Dir(path), "old.reverting"))
}

// Specification: 9.1
func TestNewAndMigratedRootsAreTheSame(t *testing.T) {
	shape := func(path string) string {
		c, err := openConn(path, objectdb.Options{})
		require.NoError(t, err)
		defer c.close()
		var row [1]driver.Value
		require.NoError(t, c.first(row[:], `SELECT
			group_concat(concat_ws(' ', m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk), char(10))
			FROM sqlite_schema m, pragma_table_info(m.name) c`))
		return row[0].(string)
	}
	old := oldRoot(t)
	db, err := Open(old, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	assert.Equal(t, shape(wholeFile(t)), shape(old))
	assert.Contains(t, shape(old), "object value")
}

// later returns the migrations with two more, for tests.
func later(next, afterNext string) []string {
	return append(append([]string{}, migrations...), next, afterNext)
}

// Migrations of later versions run in order.
//
// Catalogue: P9
func TestMigrationsRunInOrder(t *testing.T) {
	path := oldRoot(t)
	running, err := Open(path, patient)
	require.NoError(t, err)
	defer running.Close()
	put(t, running, "user.name", objectdb.String("Grace"))

	db := newStore(path, objectdb.Options{Program: "scripter 5"})
	require.NoError(t, db.migrate(objectdb.FileVersion+2,
		later(`CREATE TABLE later (id INTEGER)`, `INSERT INTO later VALUES (17)`)))
	c, err := openConn(path, objectdb.Options{})
	require.NoError(t, err)
	defer c.close()
	var row [3]driver.Value
	require.NoError(t, c.first(row[:], `SELECT (SELECT id FROM later), migrated_by,
		(SELECT user_version FROM pragma_user_version) FROM meta`))
	assert.Equal(t, [3]driver.Value{int64(17), "scripter 5", int64(objectdb.FileVersion + 2)}, row)
	list, err := Copies(path)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, objectdb.FileVersion, list[0].Version)

	// A program that has the root open can read, and cannot write.
	requireEqual(t, objectdb.String("Grace"), get(t, running, "user.name"))
	err = running.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"x"}, objectdb.Number(1))
	})
	require.ErrorIs(t, err, objectdb.ErrNewer)
	_, err = Open(path, objectdb.Options{})
	require.ErrorIs(t, err, objectdb.ErrNewer)
	_, err = Inspect(path)
	require.ErrorIs(t, err, objectdb.ErrNewer)
	assert.ErrorContains(t, err, "its version is 7, this program knows 5; use the newer program")
}

// Catalogue: P9
func TestFailedMigrationChangesNothing(t *testing.T) {
	path := oldRoot(t)
	db := newStore(path, objectdb.Options{})
	for range 3 {
		err := db.migrate(objectdb.FileVersion+2, later(`CREATE TABLE later (id INTEGER)`, `INSERT INTO nowhere VALUES (17)`))
		require.ErrorContains(t, err, "it could not be brought from version 1 to 7, and is as it was: ")
		require.ErrorContains(t, err, "no such table: nowhere")
	}
	err := db.migrate(objectdb.FileVersion+1, migrations)
	require.ErrorContains(t, err, "no step leads on from there")
	said, err := Inspect(path)
	require.NoError(t, err)
	assert.Equal(t, 1, said.Version)
	assert.Equal(t, int64(7), said.Generation)
	list, err := Copies(path)
	require.NoError(t, err)
	assert.Len(t, list, 1, "one copy, however often it is tried")
	opened, err := Open(path, objectdb.Options{})
	require.NoError(t, err)
	defer opened.Close()
	requireSound(t, opened)
}

// If the copy cannot be saved, the root is not migrated.
func TestNoMigrationWithoutCopy(t *testing.T) {
	path := oldRoot(t)
	s, err := startSaving(context.Background(), path, 0)
	require.NoError(t, err)
	_, err = Open(path, objectdb.Options{BusyTimeout: 30 * time.Millisecond})
	require.ErrorIs(t, err, objectdb.ErrSaving)
	s.end(nil)
	said, err := Inspect(path)
	require.NoError(t, err)
	assert.Equal(t, 1, said.Version)
}

// A copy that is renamed to the root's name is a root like any other.
func TestCopyInPlaceOfTheRoot(t *testing.T) {
	db := openRoot(t)
	put(t, db, "a", objectdb.Number(1))
	c := save(t, db, objectdb.SaveOptions{})
	path := filepath.Join(t.TempDir(), "b.root")
	require.NoError(t, copyFile(c.Path, path))
	other, err := Open(path, patient)
	require.NoError(t, err)
	defer other.Close()
	put(t, other, "a", objectdb.Number(2))
	assert.FileExists(t, path+"-wal")
	requireEqual(t, objectdb.Number(2), get(t, other, "a"))
}

// oldForms are roots as earlier programs wrote them, by their versions. They have more
// objects than that of version1.
var oldForms = func() map[int]string {
	const objects = `
INSERT INTO object VALUES
  (4, 2, 'Code', 'code', 'script', 6, 1769884200000000004, 1769884200000000004, 8, '', 'return 1'),
  (5, 2, 'image', 'image', 'binary', 6, 1769884200000000005, 1769884200000000005, 3000000, 'image/png',
    randomblob (3000000)),
  (6, 2, 'list', 'list', 'list', 7, 1769884200000000006, 1769884200000000006, 5, '', '[1,2]'),
  (7, 2, 'nan', 'nan', 'number', 7, 1769884200000000007, 1769884200000000007, 8, '', 'nan'),
  (8, 1, 'empty', 'empty', 'table', 7, 1769884200000000008, 1769884200000000008, 0, '', NULL);
UPDATE meta SET last_id = 9;`
	first := version1 + objects
	second := strings.NewReplacer(
		"user_version = 1;", "user_version = 2;",
		"last_id    INTEGER NOT NULL", `last_id INTEGER NOT NULL,
  made_by     TEXT NOT NULL DEFAULT '',
  migrated_by TEXT NOT NULL DEFAULT '',
  reverted    INTEGER NOT NULL DEFAULT 0`,
		"VALUES (1, 7, 3)", "VALUES (1, 7, 3, 'scripter 0.2', 'scripter 0.3', 5)").Replace(first)
	third := strings.NewReplacer(
		"user_version = 2;", "user_version = 3;",
		"DEFAULT 0", `DEFAULT 0,
  changes     BLOB NOT NULL DEFAULT x''`,
		"'scripter 0.3', 5)", "'scripter 0.3', 5, x'07')").Replace(second)
	return map[int]string{1: first, 2: second, 3: third}
}()

// Roots of all earlier versions are migrated with all their objects. Their history begins with
// the migration.
func TestMigrationOfAllVersions(t *testing.T) {
	for version, sql := range oldForms {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "old.root")
			require.NoError(t, os.WriteFile(path, nil, 0o660))
			spoil(t, path, sql)
			said, err := Inspect(path)
			require.NoError(t, err)
			require.Equal(t, version, said.Version)

			db, err := Open(path, byPerson)
			require.NoError(t, err)
			defer db.Close()
			requireSound(t, db)
			copies, err := Copies(path)
			require.NoError(t, err)
			require.Len(t, copies, 1)
			assert.Equal(t, version, copies[0].Version)
			c, err := openConn(path, objectdb.Options{})
			require.NoError(t, err)
			defer c.close()
			_, err = c.c.Exec(`ATTACH ? AS saved`, []driver.Value{copies[0].Path})
			require.NoError(t, err)
			var row [2]driver.Value
			const columns = `id, parent, name, fold, kind, ver, created, modified, size, type, value`
			require.NoError(t, c.first(row[:], `SELECT count(*), (SELECT count(*) FROM saved.object)
				FROM (SELECT `+columns+` FROM main.object INTERSECT SELECT `+columns+` FROM saved.object)`))
			assert.Equal(t, [2]driver.Value{int64(8), int64(8)}, row)

			info := historyOf(t, db)
			assert.Equal(t, int64(8), info.Reach, "the generation that the migration has made")
			assert.Equal(t, int64(8), generationOf(t, db))
			assert.WithinDuration(t, time.Now(), time.Unix(0, info.ReachTime), time.Minute)
			err = db.At(7, nil).View(t.Context(), func(*objectdb.Tx) error { return nil })
			require.ErrorIs(t, err, objectdb.ErrReach)
			assert.ErrorContains(t, err, "it reaches back to change 8")
			view(t, db, func(tx *objectdb.Tx) {
				_, err := tx.GenerationAt(time.Now().Add(-time.Hour))
				assert.ErrorIs(t, err, objectdb.ErrReach)
				assert.Empty(t, must(tx.ChangesOf([]int64{3, 4}))(t))
			})
			before, _ := state(t, db)
			put(t, db, "user.name", objectdb.String("Grace"))
			put(t, db, "new.name", objectdb.String("new"))
			update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "user.code"))) })
			after, _ := state(t, db)
			then, _ := state(t, db.At(8, nil))
			assert.True(t, maps.EqualFunc(before, then, objectdb.Equal))

			// The copy of the old version can be gone back to, and that can be undone.
			revert(t, db, copies[0])
			requireSound(t, db)
			then, _ = state(t, db)
			assert.True(t, maps.EqualFunc(before, then, objectdb.Equal))
			_, err = undo(db, generationOf(t, db))
			require.NoError(t, err)
			now, _ := state(t, db)
			assert.True(t, maps.EqualFunc(after, now, objectdb.Equal))
			_, err = undo(db, 11, 10, 9)
			require.NoError(t, err)
			now, _ = state(t, db)
			assert.True(t, maps.EqualFunc(before, now, objectdb.Equal))
			requireSound(t, db)
		})
	}
}

// A root that was moved can still be brought to the newest version, to be read.
func TestMigrationOfAMovedRoot(t *testing.T) {
	path := oldRoot(t)
	c, err := openConn(path, patient)
	require.NoError(t, err)
	require.NoError(t, c.setMoved("it's elsewhere"))
	require.NoError(t, c.close())
	db, err := Open(path, patient)
	require.NoError(t, err)
	defer db.Close()
	info, err := db.Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, objectdb.FileVersion, info.Version)
	assert.Equal(t, "it's elsewhere", info.Moved)
	requireSound(t, db)
	require.ErrorIs(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(1))
	}), objectdb.ErrMoved)
}
