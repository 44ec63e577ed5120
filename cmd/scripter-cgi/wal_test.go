package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Processes that end without closing the root leave a -wal file to the next
// one; nobody else is there to empty it, and it must not grow for ever.
func TestWALStaysShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	db := makeRoot(t, file)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"suites", "webserverScripts", "samples", "tellTime"},
			objectdb.Script("scratchpad.n = (scratchpad.n or 0) + 1\nreturn scratchpad.n"))
	}))
	require.NoError(t, db.Close()) // alone: no other process helps
	longest := int64(0)
	for range 60 {
		out, err := start(file).Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "Status: 200 OK")
		info, err := os.Stat(file + "-wal")
		require.NoError(t, err)
		longest = max(longest, info.Size())
	}
	assert.Positive(t, longest)
	assert.Less(t, longest, int64(walBytes)+64<<10)
	out, err := start(file).Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "\r\n\r\n61")
}
