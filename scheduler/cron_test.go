package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTimes checks when scripts run, with the days on which clocks change: in Paris, 2026-03-29 has no
// 02:30, and 2026-10-25 has it twice.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		cron, zone, from string
		want             []string
	}{
		{"30 2 * * *", "", "2026-03-28T12:00:00Z", []string{"2026-03-29T02:30:00Z", "2026-03-30T02:30:00Z"}},
		{"30 2 * * *", "Europe/Paris", "2026-03-27T12:00:00Z", []string{
			"2026-03-28T02:30:00+01:00", "2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"30 2 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", []string{
			"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"0 4 * * *", "Europe/Paris", "2026-10-24T12:00:00Z", []string{"2026-10-25T04:00:00+01:00"}},
		{"0 1 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00+01:00"}},
		{"30 2,3 * * *", "Europe/Paris", "2026-03-28T12:00:00Z", []string{
			"2026-03-29T03:30:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"*/30 * * * *", "Europe/Paris", "2026-10-25T00:10:00Z", []string{
			"2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"}},
		{"0 * * * *", "Europe/Paris", "2026-03-29T00:10:00Z", []string{
			"2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"}},
		// On an island where clocks change at midnight, the day begins at 01:00.
		{"0 0 * * *", "Atlantic/Azores", "2026-03-28T12:00:00Z", []string{
			"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
		{"@weekly", "", "2026-11-25T12:00:00Z", []string{"2026-11-29T00:00:00Z"}},
		{"@every 90m", "", "2026-11-25T12:00:00Z", []string{"2026-11-25T13:30:00Z", "2026-11-25T15:00:00Z"}},
		{"0 9 * * mon-fri", "America/New_York", "2026-11-27T15:00:00Z", []string{"2026-11-30T09:00:00-05:00"}},
		{"0 0 29 2 *", "", "2026-11-25T12:00:00Z", []string{"2028-02-29T00:00:00Z"}},
	} {
		times, err := ParseTimes(c.cron, c.zone)
		require.NoError(t, err, c.cron)
		now, err := time.Parse(time.RFC3339, c.from)
		require.NoError(t, err)
		for _, want := range c.want {
			now = times.Next(now)
			assert.Equal(t, want, now.Format(time.RFC3339), "%s %s", c.cron, c.zone)
		}
	}
	for cron, why := range map[string]string{
		"": "there is no time", "* * * *": "five fields", "* * * * * *": "five fields", "61 * * * *": "maximum",
		"TZ=UTC 0 0 * * *": "a cell of its own", "TZ=UTC": "a cell of its own", "@never": "@never",
		"0 0 31 2 *": "never comes", "@every 5s": "more often", "@every -1h": "more often", "x * * * *": "x",
		"@every": "@every", "* * * * 9": "maximum",
	} {
		_, err := ParseTimes(cron, "")
		assert.ErrorContains(t, err, why, cron)
	}
	for _, zone := range []string{"Local", "Mars/Olympus", "../etc/passwd"} {
		_, err := ParseTimes("@daily", zone)
		assert.ErrorContains(t, err, "there is no zone", zone)
	}
}

// FuzzParseTimes checks that no expression panics or hangs, and that times grow.
func FuzzParseTimes(f *testing.F) {
	for _, s := range []string{"30 2 * * *", "@daily", "@every 1h", "*/5 0-3,7 1,15 jan-mar sun", "TZ=", "? ? ? ? ?"} {
		f.Add(s, "Europe/Paris")
	}
	f.Fuzz(func(t *testing.T, cron, zone string) {
		times, err := ParseTimes(cron, zone)
		if err != nil {
			return
		}
		now := time.Date(2026, 3, 28, 23, 59, 59, 0, time.UTC)
		for range 5 {
			next := times.Next(now)
			if next.IsZero() {
				return
			}
			require.True(t, next.After(now), "%q %q: %v after %v", cron, zone, next, now)
			now = next
		}
	})
}
