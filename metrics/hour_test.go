package metrics

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHour(t *testing.T) {
	root := filepath.Join(t.TempDir(), "site.root")
	counts := Counts{}
	h := HourRecorder{Root: func() string { return root }, Read: func() Reading {
		return Reading{Counts: counts.Copy(), Running: 2, Waiting: 1, Workers: []int{os.Getpid()}}
	}}
	failed := func(err error) { t.Error(err) }
	h.hour = Hour{PID: os.Getpid()}
	h.last = h.Read()
	h.write(failed)
	counts.Add(LostCounts(500, 2*time.Second, ""))
	counts.Add(LostCounts(200, time.Second, ""))
	h.add(time.Now())
	counts.Add(LostCounts(200, time.Second, ""))
	for range 70 {
		h.add(time.Now())
	}
	h.write(failed)
	hours, err := ReadHours(root)
	require.NoError(t, err)
	require.Len(t, hours, 1)
	assert.Len(t, hours[0].Minutes, 60)
	assert.Equal(t, os.Getpid(), hours[0].PID)
	assert.Equal(t, 2, hours[0].Minutes[0].Running)
	assert.Positive(t, hours[0].Minutes[0].Memory)

	// The first minutes, before they were dropped.
	h.hour.Minutes, h.last = nil, Reading{}
	h.add(time.Now())
	m := h.hour.Minutes[0]
	assert.Equal(t, []uint64{3, 1}, []uint64{m.Requests, m.Errors})
	assert.InDelta(t, 4, m.Seconds, 0.001)

	// The files of processes that have ended are removed, and those of other roots left.
	gone, other := root+"-status-999999999", filepath.Join(filepath.Dir(root), "other.root-status-1")
	require.NoError(t, os.WriteFile(gone, []byte("{}"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("{}"), 0o600))
	hours, err = ReadHours(root)
	require.NoError(t, err)
	assert.Len(t, hours, 1)
	assert.NoFileExists(t, gone)
	assert.FileExists(t, other)
}

func TestHourEnds(t *testing.T) {
	root := filepath.Join(t.TempDir(), "site.root")
	h := HourRecorder{Root: func() string { return root }, Read: func() Reading { return Reading{} }}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan bool)
	go func() {
		defer close(done)
		h.Run(ctx, func(err error) { t.Error(err) })
	}()
	require.Eventually(t, func() bool {
		hours, err := ReadHours(root)
		return err == nil && len(hours) == 1
	}, 10*time.Second, time.Millisecond)
	cancel()
	<-done
	hours, err := ReadHours(root)
	require.NoError(t, err)
	assert.Empty(t, hours)
}
