package sqlitestore

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// byPerson has the options for tests in which a person writes.
var byPerson = func() objectdb.Options {
	o := patient
	o.Origin = objectdb.Origin{Person: true, Who: "ada"}
	return o
}()

func historyOf(t *testing.T, db *objectdb.DB) objectdb.HistoryInfo {
	t.Helper()
	info, err := db.HistoryInfo(context.Background())
	require.NoError(t, err)
	return info
}

func generationOf(t *testing.T, db *objectdb.DB) int64 {
	t.Helper()
	info, err := db.Info(context.Background())
	require.NoError(t, err)
	return info.Generation
}

func undo(db *objectdb.DB, changes ...int64) (done objectdb.Undone, err error) {
	err = db.Update(context.Background(), func(tx *objectdb.Tx) (err error) {
		done, err = tx.Undo(changes, objectdb.UndoOptions{})
		return err
	})
	return done, err
}

func TestCheckFindsDamagedHistory(t *testing.T) {
	// Object 2 is t, 3 is t.x, 4 is t.y. Changes: 2 makes them, 3 and 4 write x, 5 moves x to z, 6 deletes y.
	tests := []struct{ sql, want string }{
		{`UPDATE past SET since = until WHERE id = 3 AND until = 3`, `history: object 3 has a state from change 3 until 3`},
		{`UPDATE past SET since = -1 WHERE id = 3 AND until = 3`, `history: object 3 has a state from change -1 until 3`},
		{`UPDATE past SET ver = 4 WHERE id = 3 AND until = 4`,
			`history: object 3 has a state that was written by change 4 and lasted until 4`},
		{`UPDATE object SET since = 7 WHERE id = 3`, `history: object 3 is so since change 7 and was written by 5`},
		{`UPDATE past SET since = 2 WHERE id = 3 AND until = 4`,
			`history: object 3 has a state from change 2 and another one until 3`},
		{`UPDATE object SET since = 4 WHERE id = 3`, `history: object 3 has a state from change 4 and another one until 5`},
		{`UPDATE past SET name = 'x', fold = 'x' WHERE id = 4`,
			`history: object 4 is at its place from change 2, and another one until 5`},
		{`UPDATE object SET name = 'y', fold = 'y', since = 4 WHERE id = 3`,
			`history: object 3 is at its place from change 4, and another one until 6`},
		{`UPDATE past SET until = 99 WHERE id = 4`, `history: object 4 has a state until change 99, and the newest is 6`},
		{`UPDATE past SET id = 77 WHERE id = 4`, `history: object 77 has a state until change 6, and the last id is 4`},
		{`UPDATE change SET generation = 98 WHERE generation = 6`,
			`history: change 98 belongs to change 6, and the newest is 6`},
		{`UPDATE meta SET reach = 9`, `history: it reaches back to change 9 and is thinned up to 0, and the newest is 6`},
		{`UPDATE meta SET thinned = 9`, `history: it reaches back to change 1 and is thinned up to 9, and the newest is 6`},
		{`UPDATE meta SET past_bytes = past_bytes - 1`, `which is 1 more`},
		{`DELETE FROM change WHERE generation = 4`, `history: object 3 has a state until change 4, which is not there`},
		{`UPDATE change SET objects = x'0404' WHERE generation = 4`,
			`history: object 3 has a state until change 4, which does not tell of it`},
		{`UPDATE change SET objects = x'04' WHERE generation = 4`,
			`history: change 4: root is damaged: the objects of a change cannot be read`},
		{`UPDATE change SET count = 17 WHERE generation = 4`, `history: change 4 is said to have 17 objects and has 1`},
		{`UPDATE past SET fold = 'u' WHERE id = 4`,
			`history: object 4 until change 6: its folded name is "u" and should be "y"`},
		{`UPDATE past SET name = '', fold = '' WHERE id = 4`,
			`history: object 4 until change 6: name cannot be used: it is empty`},
		{`UPDATE past SET kind = 'wptext' WHERE id = 4`, `is of the unknown kind "wptext"`},
		{`UPDATE past SET value = 'one' WHERE id = 3 AND until = 3`, `history: object 3 until change 3: root is damaged: `},
		{`UPDATE past SET value = NULL WHERE id = 4`,
			`history: object 4 until change 6: it is a string, and it is wrong whether it has a value or the hash of one`},
		{`UPDATE past SET hash = x'00' WHERE id = 4`,
			`history: object 4 until change 6: it is a string, and it is wrong whether it has a value or the hash of one`},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			path := t.TempDir() + "/a.root"
			db, err := Create(path, byPerson)
			require.NoError(t, err)
			defer db.Close()
			put(t, db, "t.x", objectdb.Number(1), "t.y", objectdb.String("y"))
			put(t, db, "t.x", objectdb.Number(2))
			put(t, db, "t.x", objectdb.Number(3))
			update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(addr(t, "t.x"), addr(t, "t.z"))) })
			update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "t.y"))) })
			requireSound(t, db)
			spoil(t, path, `PRAGMA ignore_check_constraints = ON; `+test.sql)
			problems, err := db.Check(context.Background())
			require.NoError(t, err)
			assert.Contains(t, fmt.Sprint(problems), test.want)
		})
	}
}

// A revert is a change like any other.
func TestUndoOfARevert(t *testing.T) {
	db := openRootWith(t, byPerson)
	other, err := Open(db.Path(), byPerson)
	require.NoError(t, err)
	defer other.Close()
	put(t, db, "t.same", objectdb.String("same"), "t.changed", objectdb.String("old"), "t.deleted.x", objectdb.Number(1),
		"u.moved", objectdb.Number(2), "large", objectdb.Binary{Data: strings.Repeat("a", 2<<20)},
		"scratchpad.x", objectdb.Number(1))
	c := save(t, db, objectdb.SaveOptions{})
	update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(addr(t, "t.changed"), objectdb.Script("return 1")))
		require.NoError(t, tx.Delete(addr(t, "t.deleted")))
		require.NoError(t, tx.Put(addr(t, "t.deleted"), objectdb.String("another object under its name")))
		require.NoError(t, tx.Move(addr(t, "u.moved"), addr(t, "new.moved")))
		require.NoError(t, tx.Put(addr(t, "scratchpad.x"), objectdb.Number(2)))
	})
	before, _ := state(t, db)
	generation := generationOf(t, db)
	revert(t, db, c)
	reverted := generationOf(t, db)
	requireEqual(t, objectdb.String("old"), get(t, db, "t.changed"))
	view(t, db, func(tx *objectdb.Tx) {
		change, err := tx.Change(reverted)
		require.NoError(t, err)
		assert.True(t, change.Origin.Person)
	})
	then, _ := state(t, db.At(generation, nil))
	delete(before, "scratchpad.x") // nothing of it is kept
	assert.Equal(t, before, then)

	done, err := undo(db, reverted)
	require.NoError(t, err)
	assert.Positive(t, done.Changed)
	now, _ := state(t, db)
	delete(now, "scratchpad.x")
	assert.Equal(t, before, now)
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)

	_, err = undo(db, generationOf(t, db))
	require.NoError(t, err)
	requireEqual(t, objectdb.String("old"), get(t, other, "t.changed"))
	requireEqual(t, objectdb.Number(1), get(t, other, "t.deleted.x"))

	// A copy has the history up to the time when it was saved.
	saved, err := Open(save(t, db, objectdb.SaveOptions{}).Path, objectdb.Options{Reading: true})
	require.NoError(t, err)
	defer saved.Close()
	then, _ = state(t, saved.At(generation, nil))
	assert.Equal(t, before, then)
	assert.Equal(t, historyOf(t, db), historyOf(t, saved))
}

// A revert may restore rows with ids that the root has given to other objects since.
func TestAfterARevertTheHistoryGoesOn(t *testing.T) {
	db := openRootWith(t, byPerson)
	put(t, db, "a", objectdb.Number(1))
	c := save(t, db, objectdb.SaveOptions{})
	for i := range 5 {
		put(t, db, "a", objectdb.Number(float64(i)), "b", objectdb.Number(float64(i)))
		revert(t, db, c)
		requireSound(t, db)
		put(t, db, "b", objectdb.String("b"))
		for changes := 0; changes < 2; changes++ {
			_, err := undo(db, generationOf(t, db)-int64(2*changes))
			require.NoError(t, err)
		}
		requireEqual(t, objectdb.Number(float64(i)), get(t, db, "b"))
		requireSound(t, db)
		revert(t, db, c)
	}
}

// Forget leaves no byte of a secret in the files of the root, wherever it was.
func TestForgetLeavesNoByte(t *testing.T) {
	secret := func(i int) string { return fmt.Sprintf("SECRET-%d", i) }
	db := openRootWith(t, byPerson)
	other, err := Open(db.Path(), byPerson)
	require.NoError(t, err)
	defer other.Close()
	put(t, db, "other", objectdb.String("KEEP-1"))
	first := generationOf(t, db)
	put(t, db, "other", objectdb.String("KEEP-2"))
	for i := range 40 {
		text := secret(i)
		if i%4 == 0 { // on pages of their own
			text = strings.Repeat(text+" ", 2000)
		}
		put(t, db, "keys.value", objectdb.String(text), "keys.list", objectdb.List{objectdb.String(text)})
		put(t, db, "keys.inNameSECRET"+fmt.Sprint(i), objectdb.Number(1))
		if i%5 == 0 {
			update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "keys"))) })
		}
		get(t, other, "other")
	}
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "keys"))) })
	files := func() (all []byte) {
		for _, name := range []string{db.Path(), db.Path() + "-wal"} {
			content, err := os.ReadFile(name)
			if !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err)
			}
			all = append(all, content...)
		}
		return all
	}
	require.Contains(t, string(files()), "SECRET-")
	_, err = db.Forget(context.Background(), addr(t, "keys"))
	require.NoError(t, err)
	content := files()
	if at := bytes.Index(bytes.ToLower(content), []byte("secret")); at >= 0 {
		t.Fatalf("it is still there: %q", content[max(0, at-20):at+20])
	}
	assert.Contains(t, string(content), "KEEP-1", "the history of others stays")
	for _, db := range []*objectdb.DB{db, other} {
		requireEqual(t, objectdb.String("KEEP-2"), get(t, db, "other"))
		requireEqual(t, objectdb.String("KEEP-1"), get(t, db.At(first, nil), "other"))
		put(t, db, "after", objectdb.Number(1))
		requireSound(t, db)
	}

	// A reader prevents that the WAL is emptied. The error says so, and a second attempt works.
	put(t, db, "keys.value", objectdb.String("SECRET-again"))
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "keys"))) })
	short := byPerson
	short.BusyTimeout = 50 * time.Millisecond
	impatient, err := Open(db.Path(), short)
	require.NoError(t, err)
	defer impatient.Close()
	view(t, other, func(tx *objectdb.Tx) {
		_, err := tx.List(objectdb.Address{})
		require.NoError(t, err)
		_, err = impatient.Forget(context.Background(), addr(t, "keys"))
		require.ErrorIs(t, err, objectdb.ErrBusy)
		require.ErrorContains(t, err, "a reader holds the -wal file")
	})
	_, err = impatient.Forget(context.Background(), addr(t, "keys"))
	require.NoError(t, err)
	assert.NotContains(t, string(files()), "SECRET-")
}

// TestPersonChangesAreIndexed checks that "scripter undo" need not read the changes of requests.
func TestPersonChangesAreIndexed(t *testing.T) {
	c, err := openConn(wholeFile(t), objectdb.Options{})
	require.NoError(t, err)
	defer c.close()
	var plan []string
	require.NoError(t, c.eachRowOf(context.Background(), func(row []driver.Value) error {
		plan = append(plan, fmt.Sprint(row[3]))
		return nil
	}, 4, "EXPLAIN QUERY PLAN "+statementSQL[sqlPersonChangesBefore], int64(100), int64(1)))
	assert.Contains(t, strings.Join(plan, "\n"), "USING INDEX change_person")
}
