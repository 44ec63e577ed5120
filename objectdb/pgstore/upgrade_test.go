package pgstore

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// makeOld gives a root the tables of form 1.
func makeOld(t *testing.T, root string) {
	t.Helper()
	p, err := parseURL(root)
	require.NoError(t, err)
	execute(t, server.Get(t), inSchema(`DROP TABLE @.idx, @.entry, @.indexed; UPDATE @.info SET form = 1`, p.schema))
}

func TestUpgrade(t *testing.T) {
	root := newURL(t)
	db, err := Create(root, storetest.Patient)
	require.NoError(t, err)
	storetest.Put(t, db, "user.name", objectdb.String("Ada"))
	makeOld(t, root)
	_, err = Open(root, objectdb.Options{ReadOnly: true})
	assert.ErrorIs(t, err, objectdb.ErrReadOnly)
	assert.ErrorContains(t, err, "older form")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			o := storetest.Patient
			o.Program = "scripter 9"
			db, err := Open(root, o)
			if !assert.NoError(t, err) {
				return
			}
			defer db.Close()
			storetest.RequireEqual(t, objectdb.String("Ada"), storetest.Get(t, db, "user.name"))
			info, err := db.Info(context.Background())
			assert.NoError(t, err)
			assert.Equal(t, form, info.Version)
			assert.Equal(t, "scripter 9", info.MigratedBy)
		})
	}
	group.Wait()
	storetest.Put(t, db, "user.records.tables.t.indexes", objectdb.List{objectdb.String("x")}, "t.a.x", objectdb.Number(1))
	storetest.RequireSound(t, db)
	require.NoError(t, db.Close())
}

// An upgrade that fails leaves the tables as they were.
func TestUpgradeFails(t *testing.T) {
	root := newURL(t)
	db, err := Create(root, storetest.Patient)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	makeOld(t, root)
	p, err := parseURL(root)
	require.NoError(t, err)
	s := server.Get(t)
	execute(t, s, inSchema(`CREATE VIEW @.indexed AS SELECT 1 AS one`, p.schema))
	_, err = Open(root, storetest.Patient)
	assert.ErrorContains(t, err, "it could not be brought from form 1 to 2, and is as it was")
	c, err := pgx.Connect(context.Background(), s.URL(""))
	require.NoError(t, err)
	defer c.Close(context.Background())
	var there *string
	require.NoError(t, c.QueryRow(context.Background(), `SELECT to_regclass($1)::text`, quoted(p.schema)+".idx").Scan(&there))
	assert.Nil(t, there)
}
