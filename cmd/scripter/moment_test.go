package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"scripter/history"
)

// TestMomentHelp checks that the forms in the help are read.
func TestMomentHelp(t *testing.T) {
	for _, form := range []string{"2026-11-22T14:00:00+01:00", "2026-11-22 14:00", "2026-11-22", "14:00", "yesterday",
		"90s", "30m", "2h", "3d", "1w"} {
		assert.Contains(t, momentHelp, form)
		_, err := history.ParseMoment(form, time.Now())
		assert.NoError(t, err)
	}
}
