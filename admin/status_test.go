package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/metrics"
)

func TestStatusPage(t *testing.T) {
	s := newSite(t)
	rita := s.person("ada", "owner")
	a := rita.get("status")
	require.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "No program stays running for this root")

	now := time.Now()
	hour := metrics.Hour{PID: os.Getpid(), Started: now.Add(-2 * time.Hour)}
	for i := range 50 {
		hour.Minutes = append(hour.Minutes, metrics.Minute{Time: now.Add(time.Duration(i-50) * time.Minute),
			Requests: uint64(i), Errors: 1, Seconds: 1, Workers: 2, Memory: 50_000_000})
	}
	text, err := json.Marshal(hour)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(fmt.Sprintf("%s-status-%d", s.db.Path(), os.Getpid()), text, 0o600))
	a = rita.get("status")
	assert.Contains(t, a.text(), "Requests per minute 49 at most 49")
	assert.Contains(t, a.text(), "Memory 50.0 MB")
	assert.Len(t, a.find("polyline", "points"), 6)
	m := rita.json("status")
	assert.Len(t, m["minutes"], 50)
	part := rita.get("status?part=1")
	assert.NotContains(t, part.body, "<html")
	assert.Equal(t, http.StatusNotModified,
		rita.send(http.MethodGet, "status?part=1", nil, map[string]string{"If-None-Match": part.header.Get("ETag")}).status)

	// A damaged file is no reason to show nothing.
	require.NoError(t, os.WriteFile(fmt.Sprintf("%s-status-%d", s.db.Path(), os.Getpid()), []byte("{"), 0o600))
	assert.Equal(t, http.StatusOK, rita.get("status").status)
}

func TestMinutesOfSeveralProcesses(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 30, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	list := addMinutes([]metrics.Hour{
		{Minutes: []metrics.Minute{{Time: at(-90), Requests: 9}, {Time: at(-2), Requests: 1, Workers: 1}, {Time: at(-1), Requests: 2, Workers: 1}}},
		{Minutes: []metrics.Minute{{Time: at(-1).Add(10 * time.Second), Requests: 3, Workers: 1}}},
	}, now)
	require.Len(t, list, 2)
	assert.Equal(t, []uint64{1, 5}, []uint64{list[0].Requests, list[1].Requests})
	assert.Equal(t, 2, list[1].Workers)
}
