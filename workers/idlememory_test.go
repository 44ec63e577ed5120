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

// What a large request has left is given back when there is nothing to do, though
// it is not so much that the worker would have to go.
func TestRest(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	pid, err := strconv.Atoi(strings.TrimSpace(p.asked(t, "", "")))
	require.NoError(t, err)
	memory := func() (bytes int) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)) // nothing, once it has been replaced
		fmt.Sscan(string(b), new(int), &bytes)
		return bytes * os.Getpagesize()
	}
	const large = 24 << 20
	before := memory()
	assert.Len(t, p.asked(t, "big=25165824", ""), large)
	require.Eventually(t, func() bool { return memory() < before+large/2 }, patience, 10*time.Millisecond)
}
