package pgstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Each statement can be prepared, even those that only a rare case runs.
func TestStatements(t *testing.T) {
	s, err := opened("create", newURL(t), objectdb.Options{}, (*store).create)
	require.NoError(t, err)
	defer s.Close()
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	for i, sql := range s.sql {
		require.NotEmpty(t, sql, i)
		_, err := conn.Conn().Prepare(t.Context(), sql, sql)
		assert.NoError(t, err, sql)
	}
	for _, rule := range rules {
		_, err := conn.Exec(t.Context(), inSchema(rule.query, s.schema))
		assert.NoError(t, err, rule.query)
	}
}
