package history

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/valuetext"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 22, 14, 30, 5, 7, time.FixedZone("", 3600)) // 13:30:05 UTC
	for text, want := range map[string]string{
		"2026-11-20T08:00:00+02:00": "2026-11-20 06:00:00",
		"2026-11-20T08:00:00Z":      "2026-11-20 08:00:00",
		"2026-11-20T08:00:00":       "2026-11-20 08:00:00",
		"2026-11-20 08:01":          "2026-11-20 08:01:00",
		"2026-11-20 08:01:02":       "2026-11-20 08:01:02",
		"2026-11-20":                "2026-11-20 00:00:00",
		"13:30":                     "2026-11-22 13:30:00",
		"13:31":                     "2026-11-21 13:31:00",
		"09:00:59":                  "2026-11-22 09:00:59",
		"yesterday":                 "2026-11-21 13:30:05",
		"90s":                       "2026-11-22 13:28:35",
		"30m ago":                   "2026-11-22 13:00:05",
		" 2h ":                      "2026-11-22 11:30:05",
		"3d":                        "2026-11-19 13:30:05",
		"2w ago":                    "2026-11-08 13:30:05",
		"365d":                      "2025-11-22 13:30:05",
	} {
		m, err := ParseMoment(text, now)
		require.NoError(t, err, text)
		assert.Zero(t, m.Change, text)
		assert.Equal(t, want, valuetext.Time(m.Time), text)
	}
	m, err := ParseMoment("17", now)
	require.NoError(t, err)
	assert.Equal(t, int64(17), m.Change)
	for _, text := range []string{"", "0", "-3", "tomorrow", "2026", "25:00", "2026-13-01", "3x", "99999999999999999999s",
		"1.5h", "2h3m", "17a", "ago"} {
		m, err := ParseMoment(text, now)
		if text == "2026" {
			assert.Equal(t, int64(2026), m.Change, "digits alone are a change")
			continue
		}
		assert.ErrorIs(t, err, ErrMoment, text)
	}
}

// TestMomentGeneration checks which state of a root a moment stands for.
func TestMomentGeneration(t *testing.T) {
	ctx := context.Background()
	clock := time.Now().Add(-3 * time.Hour).Truncate(time.Second).Add(700 * time.Millisecond)
	db, err := sqlitestore.Create(t.TempDir()+"/x.root", objectdb.Options{Now: func() time.Time { return clock },
		Origin: objectdb.Origin{Person: true}})
	require.NoError(t, err)
	defer db.Close()
	var made []int64
	for i := range 3 {
		require.NoError(t, db.Update(ctx, func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"a"}, objectdb.Number(i))
		}))
		info, err := db.Info(ctx)
		require.NoError(t, err)
		made = append(made, info.Generation)
		clock = clock.Add(time.Hour)
	}
	at := func(text string) (generation int64, err error) {
		m, err := ParseMoment(text, time.Now())
		require.NoError(t, err)
		err = db.View(ctx, func(tx *objectdb.Tx) error {
			generation, err = m.Generation(tx)
			return err
		})
		return generation, err
	}
	for text, want := range map[string]int64{
		"5s": made[2], "90m": made[1], "150m": made[0],
		valuetext.Time(clock.Add(-3 * time.Hour)): made[0], // the second of the change itself
		valuetext.Time(clock.Add(-2 * time.Hour)): made[1],
	} {
		g, err := at(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, g, text)
	}
	for _, g := range made {
		got, err := at(strconv.FormatInt(g, 10))
		require.NoError(t, err)
		assert.Equal(t, g, got)
	}
	_, err = at("99")
	assert.ErrorContains(t, err, "there is no change 99 yet: the last commit has the number ")
	assert.ErrorIs(t, err, ErrNoChange)
	_, err = at("2199-01-01")
	assert.ErrorContains(t, err, "2199-01-01 00:00:00 is still to come")
	assert.ErrorIs(t, err, ErrFuture)
}
