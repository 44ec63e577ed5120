package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A resident server does not start if its log is a link.
func TestTheResidentLogIsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim, log := filepath.Join(dir, "victim"), filepath.Join(dir, "a.resident.log")
	require.NoError(t, os.WriteFile(victim, make([]byte, logLimit+1), 0o600))
	for _, link := range []func(string, string) error{os.Symlink, os.Link} {
		require.NoError(t, link(victim, log))
		_, err := residentLog(log)
		assert.Error(t, err)
		require.NoError(t, os.Remove(log))
	}
	info, err := os.Stat(victim)
	require.NoError(t, err)
	assert.EqualValues(t, logLimit+1, info.Size())
	require.NoError(t, os.Rename(victim, log))
	f, err := residentLog(log)
	require.NoError(t, err)
	defer f.Close()
	info, err = f.Stat()
	require.NoError(t, err)
	assert.Zero(t, info.Size())
}
