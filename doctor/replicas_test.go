package doctor_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/doctor"
	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/pgstore"
)

// The doctor says what is lost with the server of a root in PostgreSQL.
func TestReplicas(t *testing.T) {
	primary := postgrestest.New(t, postgrestest.Fast...)
	defer primary.Remove()
	db, err := pgstore.Create(primary.URL(""), objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	execute := func(sql string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), primary.URL(""))
		require.NoError(t, err)
		defer c.Close(context.Background())
		_, err = c.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	// says waits until the doctor says something of the standby of a root.
	says := func(db *objectdb.DB, state, reason string) {
		t.Helper()
		assert.EventuallyWithT(t, func(t *assert.CollectT) {
			r, err := doctor.Run(context.Background(), doctor.Options{Root: db})
			require.NoError(t, err)
			last := r.Checks[len(r.Checks)-1]
			assert.Equal(t, "standby", last.Check)
			assert.Equal(t, state, last.State)
			assert.Contains(t, last.Reason, reason)
		}, time.Minute, 50*time.Millisecond)
	}
	says(db, doctor.Warning, "no standby")
	standby := primary.NewStandby(t)
	defer standby.Remove()
	says(db, doctor.Warning, "asynchronous")
	set := func(sql string) {
		t.Helper()
		execute(sql)
		execute(`SELECT pg_reload_conf()`)
	}
	set(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
	says(db, doctor.OK, "nothing is lost")
	set(`ALTER SYSTEM SET synchronous_commit = 'remote_write'`)
	says(db, doctor.Warning, "lose their power")
	set(`ALTER SYSTEM SET synchronous_commit = 'local'`)
	says(db, doctor.Warning, "nobody waits")
	execute(`CREATE ROLE ada LOGIN; GRANT USAGE ON SCHEMA scripter TO ada; GRANT SELECT ON ALL TABLES IN SCHEMA scripter TO ada`)
	ada, err := pgstore.Open(primary.URL("user=ada"), objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer ada.Close()
	says(ada, doctor.Note, "may not see")

	other, err := pgstore.Open(standby.URL(""), objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer other.Close()
	says(other, doctor.Warning, "is a standby")
	standby.Stop()
	says(db, doctor.Warning, "none is connected")
}
