package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := &progress{w: &out, now: func() time.Time { return clock }, what: "import", total: 4, start: clock}
	p.add(1)
	clock = clock.Add(900 * time.Millisecond)
	p.add(1)
	assert.Empty(t, out.String(), "work of less than a second shows nothing")
	clock = clock.Add(200 * time.Millisecond)
	p.add(1)
	assert.Equal(t, "\r\x1b[Kimport [######################........]  75 %", out.String())
	clock = clock.Add(50 * time.Millisecond)
	p.add(1)
	assert.NotContains(t, out.String(), "100 %", "it is drawn ten times a second at most")
	out.Reset()
	p.end()
	assert.Equal(t, "\r\x1b[K", out.String(), "nothing is left")
	p.add(1)
	assert.Equal(t, "\r\x1b[K", out.String())

	unknown := &progress{what: "download", done: 12}
	assert.Equal(t, "download 12", unknown.line())
	unknown.add(1) // nobody looks
}

func TestProgressOnlyOnATerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, isTerminal(file))
	assert.False(t, isTerminal(&bytes.Buffer{}))
}
