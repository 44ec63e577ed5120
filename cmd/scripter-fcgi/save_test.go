package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// TestAutoSave checks that the agent saves while the program runs, and that it ends with it.
//
// Specification: 2.2.7, 2.2.9, 8.2
func TestAutoSave(t *testing.T) {
	file := makeRoot(t)
	db, err := sqlitestore.Open(file, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"user", "webserver", "flAutoSave"}, objectdb.Boolean(true))
	}))
	require.NoError(t, db.Close())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	log := &testlog.Buffer{}
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"--root", file, "--workers", "0", "--listen",
			"unix:" + filepath.Join(t.TempDir(), "s.sock")}, nil, io.Discard, log)
	}()
	// The file of the copy exists a moment before the agent has finished and logs it.
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "saved a copy") }, patience,
		10*time.Millisecond, log)
	list, err := sqlitestore.Copies(file)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	stop()
	select {
	case code := <-done:
		assert.Zero(t, code, log)
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}
	assert.NoFileExists(t, file+"-wal", "the root is closed: the agent does not hold it any more")
}
