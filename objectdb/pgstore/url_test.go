package pgstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/rootname"
)

func TestParseURL(t *testing.T) {
	p, err := parseURL("postgres://ada:s3cret@db.example:5433/site?sslmode=disable&schema=a%22b" +
		"&password=s3cret&connect_timeout=3")
	require.NoError(t, err)
	assert.Equal(t, `a"b`, p.schema)
	assert.Equal(t, `"a""b"`, quoted(p.schema))
	assert.NotContains(t, p.shown, "s3cret")
	assert.Contains(t, p.shown, "postgres://ada@db.example:5433/site?")
	assert.Contains(t, p.shown, "schema=a%22b")
	c := p.config.ConnConfig
	assert.Equal(t, "db.example", c.Host)
	assert.Equal(t, uint16(5433), c.Port)
	assert.NotContains(t, c.RuntimeParams, "schema")
	assert.Equal(t, int32(defaultConns), p.config.MaxConns)

	p, err = parseURL("postgresql:///site?host=/run/postgresql&pool_max_conns=3")
	require.NoError(t, err)
	assert.Equal(t, rootname.Schema, p.schema)
	assert.Equal(t, int32(3), p.config.MaxConns)
	assert.NotZero(t, p.config.ConnConfig.ConnectTimeout)

	for _, wrong := range []string{
		"site.root", "postgres://ada:s3cret@[db/site", "postgres://ada:s3cret@db:no/site", "postgres://ada:s3%zzcret@db/site",
		"postgres://ada:s3cret@db/site?schema=", "postgres://ada:s3cret@db/site?schema=a%00b",
		"postgres://ada:s3cret@db/site?sslmode=never&password=s3cret", "postgres://ada:s3cret@db/site?pool_max_conns=no",
		"postgres://ada:s3cret@db/site?connect_timeout=x",
	} {
		_, err := Open(wrong, patient)
		require.Error(t, err, wrong)
		assert.NotContains(t, err.Error(), "s3cret", wrong)
		assert.NotContains(t, err.Error(), "ada:", wrong)
	}
}
