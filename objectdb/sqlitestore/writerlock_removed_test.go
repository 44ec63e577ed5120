package sqlitestore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The mode of an existing lock file is not changed: it may be a link to somebody's file.
func TestExistingLockFileKeepsItsMode(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a.root")
	require.NoError(t, os.WriteFile(root, nil, 0o666))
	q := newWriterLock(root)
	require.NoError(t, os.WriteFile(q.path(), nil, 0o600))
	_, err := q.create()
	require.ErrorIs(t, err, os.ErrExist)
	info, err := os.Stat(q.path())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}
