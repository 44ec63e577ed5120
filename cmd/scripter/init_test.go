package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestInterruptedInit checks that an interrupted init leaves no root.
func TestInterruptedInit(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Error(t, (&tool{root: filepath.Join(dir, "x.root")}).makeRoot(ctx))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestOriginOfACommand checks that the commit of a command records its name and its user.
func TestOriginOfACommand(t *testing.T) {
	t.Setenv("SCRIPTER_ROOT", filepath.Join(t.TempDir(), "x.root"))
	tool := &tool{out: io.Discard}
	c := tool.command()
	c.SetArgs([]string{"init"})
	require.NoError(t, c.Execute())
	require.NoError(t, tool.update(t.Context(), func(tx *objectdb.Tx) error {
		assert.Equal(t, objectdb.Origin{Person: true, Who: userName(os.Geteuid()), Why: "scripter init"}, tx.Origin)
		return nil
	}))
}
