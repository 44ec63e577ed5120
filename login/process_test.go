package login

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// another returns a Login as another process has it, on the same root.
func (l *testLogin) another() *testLogin {
	l.t.Helper()
	db, err := sqlitestore.Open(l.path, objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute})
	require.NoError(l.t, err)
	l.t.Cleanup(func() { assert.NoError(l.t, db.Close()) })
	return &testLogin{t: l.t, path: l.path, now: l.now,
		Login: New(Config{DB: db, Site: site.NewCache(), Passwords: site.NewPasswords(), Now: l.clock})}
}

// TestProcesses checks that sessions and waits count for all processes at once.
func TestProcesses(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	other := l.another()
	_, token := l.enter("ada")
	s, err := other.find(token)
	require.NoError(t, err)
	assert.Equal(t, "ada", s.Name)
	other.update(func(tx *objectdb.Tx) error { return End(tx, s.ID) })
	_, err = l.find(token)
	assert.ErrorIs(t, err, ErrNoSession)
	_, token = other.enter("ada")
	_, err = l.find(token)
	require.NoError(t, err)
	other.update(func(tx *objectdb.Tx) error { return site.RemoveRole(tx, "ada") })
	_, err = l.find(token)
	assert.ErrorIs(t, err, ErrNoSession)
	for i := range 3 {
		which := []*testLogin{l, other}[i%2]
		require.Zero(t, which.try("grace", "192.0.2.1"))
	}
	assert.Equal(t, time.Second, l.try("grace", "192.0.2.1"))
	assert.Equal(t, time.Second, other.try("grace", "192.0.2.1"))
}

// BenchmarkFind is what a request costs for its session, with sessions of many people.
func BenchmarkFind(b *testing.B) {
	l := newLogin(b)
	l.person("ada", "owner")
	for range maxSessions {
		l.enter("ada")
	}
	_, token := l.enter("ada")
	for b.Loop() {
		_, err := l.find(token)
		require.NoError(b, err)
	}
}
