//go:build linux

package workers_test

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/workers"
)

// served returns how many requests the workers have begun.
func (p *pool) served() (n int64) {
	ws := p.Status().Workers
	for _, w := range ws {
		n += w.Served
	}
	return n
}

// askLong sends a body of size bytes, with or without CONTENT_LENGTH.
func askLong(t *testing.T, c *fcgitest.Client, size int, declared bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	vars := map[string]string{"QUERY_STRING": "", "REQUEST_METHOD": "POST"}
	if declared {
		vars["CONTENT_LENGTH"] = strconv.Itoa(size)
	}
	var out strings.Builder
	_, err := c.Do(ctx, vars, strings.NewReader(strings.Repeat("b", size)), &out, io.Discard)
	assert.NoError(t, err, "%d bytes, declared: %v", size, declared)
	_, text, _ := strings.Cut(out.String(), "\r\n\r\n")
	return text
}

// A body may have MaxBody bytes. A larger one occupies no worker, whether it declares its
// length or not.
func TestLargeBodies(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) { testLargeBodies(t, network) })
	}
}

func testLargeBodies(t *testing.T, network string) {
	const most = 500_000
	p := startOn(t, workers.Options{MaxBody: most}, network)
	for _, keep := range []bool{true, false} {
		for _, declared := range []bool{true, false} {
			text := askLong(t, p.client(t, keep), most, declared)
			assert.True(t, strings.HasSuffix(text, " "+strings.Repeat("b", most)), "%d bytes", len(text))
			before := p.served()
			assert.Equal(t, string(workers.TooMuch), askLong(t, p.client(t, keep), most+1, declared))
			assert.Equal(t, workers.TooMuch, (<-p.losses).Reason)
			assert.Equal(t, before, p.served())
		}
	}
	assert.Contains(t, p.asked(t, "", "ordinary"), "ordinary")
}

// A body whose declared length is too large is refused before the rest arrives. An endless
// body is refused as soon as it is too large.
func TestEndlessBody(t *testing.T) {
	p := start(t, workers.Options{MaxBody: 1 << 20, RequestIdle: patience, RequestTotal: patience})
	for _, declared := range []bool{true, false} {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		params := "\x0e\x0aCONTENT_LENGTH5000000000"
		if !declared {
			params = "\x01\x01AB"
		}
		head := []byte{1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 4, 0, 1, 0, byte(len(params)), 0, 0}
		_, err = nc.Write(slices.Concat(head, []byte(params), []byte{1, 4, 0, 1, 0, 0, 0, 0}))
		require.NoError(t, err)
		record := append([]byte{1, 5, 0, 1, 0x40, 0, 0, 0}, make([]byte, 16<<10)...)
		go func() {
			for i := 0; ; i++ {
				if _, err := nc.Write(record); err != nil || declared && i == 1 {
					return
				}
			}
		}()
		require.NoError(t, nc.SetReadDeadline(time.Now().Add(patience)))
		answer := make([]byte, 8)
		_, err = io.ReadFull(nc, answer)
		require.NoError(t, err)
		answer = make([]byte, int(answer[4])<<8|int(answer[5]))
		_, err = io.ReadFull(nc, answer)
		require.NoError(t, err)
		assert.Contains(t, string(answer), string(workers.TooMuch))
	}
	assert.Zero(t, p.served())
}

// The pool asks for the present MaxBody before it refuses a body.
func TestMaxBodyGrows(t *testing.T) {
	var most atomic.Int64
	most.Store(100_000)
	p := start(t, workers.Options{MaxBody: 100_000, CurrentMaxBody: most.Load})
	for _, declared := range []bool{true, false} {
		assert.Equal(t, string(workers.TooMuch), askLong(t, p.client(t, true), 200_000, declared))
	}
	most.Store(300_000)
	for _, declared := range []bool{true, false} {
		text := askLong(t, p.client(t, true), 200_000, declared)
		assert.True(t, strings.HasSuffix(text, "bbb"), "%d bytes", len(text))
	}
}
