//go:build linux

package workers_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/workers"
)

// An idle worker returns the memory of a large request, also if that is not enough to replace
// the worker.
func TestIdleMemory(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	pid, err := strconv.Atoi(strings.TrimSpace(p.asked(t, "", "")))
	require.NoError(t, err)
	memory := func() (bytes int) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)) // empty if the worker was replaced
		fmt.Sscan(string(b), new(int), &bytes)
		return bytes * os.Getpagesize()
	}
	const large = 24 << 20
	before := memory()
	assert.Len(t, p.asked(t, "big=25165824", ""), large)
	require.Eventually(t, func() bool { return memory() < before+large/2 }, patience, 10*time.Millisecond)
}
