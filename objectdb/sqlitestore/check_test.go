package sqlitestore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// spoil runs SQL on the file of a root.
func spoil(t *testing.T, path, sql string) {
	t.Helper()
	c, err := openConn(path, patient)
	require.NoError(t, err)
	_, err = c.c.Exec(sql, nil)
	require.NoError(t, err)
	require.NoError(t, c.close())
}

func TestCheckFinds(t *testing.T) {
	tests := []struct{ sql, want string }{
		{`UPDATE object SET fold = 'zzz' WHERE name = 'x'`, `object 3 (t.x): its folded name is "zzz" and should be "x"`},
		{`UPDATE object SET name = '' , fold = '' WHERE name = 'x'`, `object 3 (t.[""]): name cannot be used: it is empty`},
		{`UPDATE object SET parent = 77 WHERE name = 'x'`, `object 3 (x): the table that it is in, 77, does not exist`},
		{`UPDATE object SET parent = 4 WHERE name = 'x'`, `object 3 (t.y.x): it lies in 4, which is a string`},
		{`UPDATE object SET parent = 6 WHERE id = 2`, `object 2: it lies below itself`},
		{`UPDATE object SET ver = 99 WHERE name = 'x'`, `object 3 (t.x): its version 99 is not in 1 to 3`},
		{`UPDATE object SET kind = 'wptext' WHERE name = 'x'`,
			`object 3: root is damaged: object 3 is of the unknown kind "wptext"`},
		{`UPDATE object SET value = 'one' WHERE name = 'x'`,
			`object 3: root is damaged: the value of object 3 (number) is wrong: "one" is no number; nan, inf and -inf are`},
		{`UPDATE object SET value = NULL WHERE name = 'x'`, `object 3 (t.x): it is a number and has no value`},
		{`UPDATE object SET value = 1 WHERE name = 't'`,
			`object 2: root is damaged: the value of object 2 (table) is wrong: it is stored as int64`},
		{`UPDATE object SET value = '[1' WHERE name = 'l'`,
			`object 5: root is damaged: the value of object 5 (list) is wrong: the JSON ends too early`},
		{`UPDATE object SET size = 5 WHERE name = 'y'`, `object 4 (t.y): its size is said to be 5 and is 1`},
		{`UPDATE object SET type = 'text/css' WHERE name = 'y'`,
			`object 4 (t.y): it is a string and has the MIME type "text/css"`},
		{`UPDATE meta SET last_id = 5`, `object 6 (t.u): its id is not in 1 to 5`},
		{`DELETE FROM object WHERE id = 1`, `object 1: there is no root table`},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			path := t.TempDir() + "/a.root"
			db, err := Create(path, patient)
			require.NoError(t, err)
			defer db.Close()
			put(t, db, "t.x", objectdb.Number(1), "t.y", objectdb.String("1"), "t.l", objectdb.List{})
			update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.NewTable(objectdb.Address{"t", "u"})) })
			requireSound(t, db)
			spoil(t, path, `PRAGMA ignore_check_constraints = ON; `+test.sql)
			problems, err := db.Check(context.Background())
			var found []string
			for _, p := range problems {
				found = append(found, p.String())
			}
			if err != nil {
				found = append(found, err.Error())
			}
			assert.Contains(t, found, test.want)
		})
	}
}
