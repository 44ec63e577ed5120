package pgstore

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// newPooled returns the URL of a new root behind pgbouncer, which gives each transaction another connection.
func newPooled(t testing.TB, connections int) string {
	t.Helper()
	p := postgrestest.NewPooler(t, server.Get(t, postgrestest.Fast...), connections)
	t.Cleanup(p.Remove)
	direct, err := url.Parse(newURL(t))
	require.NoError(t, err)
	query := direct.Query()
	query.Del("host")
	return p.URL(query.Encode())
}

// Many transactions take turns on few connections of the server, which pgbouncer changes all the time. Polling works,
// too.
func TestPooled(t *testing.T) {
	root := newPooled(t, 3)
	db, s := newRoot(t, root, patient)
	assert.True(t, s.unnamed.Load())
	put(t, db, "n", objectdb.Number(0))
	const hosts, writes = 4, 40
	var all sync.WaitGroup
	for i := range hosts {
		other := reopen(t, db, patient)
		all.Go(func() {
			for k := range writes {
				assert.NoError(t, other.Update(t.Context(), func(tx *objectdb.Tx) error {
					if _, err := tx.List(objectdb.Address{}); err != nil {
						return err
					}
					if err := tx.Put(addr(t, fmt.Sprintf("own.%d.%d", i, k%7)), objectdb.Number(k)); err != nil {
						return err
					}
					return storetest.Increment(tx, addr(t, "n"))
				}))
			}
		})
	}
	all.Wait()
	storetest.RequireEqual(t, objectdb.Number(hosts*writes), get(t, db, "n"))
	polls(t, db, s, "n")
	storetest.RequireSound(t, db)

	_, direct := newRoot(t, newURL(t), patient)
	assert.False(t, direct.unnamed.Load())
	_, told := newRoot(t, newURL(t)+"&default_query_exec_mode=cache_describe", patient)
	assert.True(t, told.unnamed.Load())
}
