package script

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
)

// TestSlow: a run that takes long is told of once, with the calls as they are,
// through protected calls and coroutines, and goes on as if nothing had been.
func TestSlow(t *testing.T) {
	const wait = "\nlocal function busy () local t = os.time () " +
		"while os.time () - t < 60 and not told () do end return 'done' end\n"
	for name, c := range map[string]struct {
		source string
		want   []string // of the traceback, in order
	}{
		"plain": {"return busy ()", []string{"slow:2"}},
		"a call": {"local function f () local x = busy () return x end local y = f () return y",
			[]string{"slow:2 in busy", "slow:3 in f", "slow:3"}},
		"pcall": {"local ok, x = pcall (busy) return x",
			[]string{"slow:2", "[Go] in pcall", "slow:3"}},
		"coroutine": {"local co = coroutine.wrap (function () local x = busy () return x end) local y = co () return y",
			[]string{"slow:2 in busy", "slow:3", "slow:3"}},
		"pcall in a coroutine": {
			"local co = coroutine.wrap (function () local ok, x = pcall (busy) return x end) local y = co () return y",
			[]string{"slow:2", "[Go] in pcall", "slow:3", "slow:3"}},
		"coroutine in a pcall": {
			"local ok, x = pcall (function () local x = coroutine.wrap (function () local z = busy () return z end) " +
				"() return x end) return x",
			[]string{"slow:2 in busy", "slow:3", "[Go] in pcall", "slow:3"}},
		"after a coroutine": {
			"local co = coroutine.create (function () coroutine.yield (1) end) coroutine.resume (co) local x = busy () return x",
			[]string{"slow:2 in busy", "slow:3"}},
		"in a function of a sort": {
			"local t = {3, 1, 2} table.sort (t, function (a, b) if t [1] then busy () end return a < b end) return 'done'",
			[]string{"slow:2 in busy", "slow:3", "[Go] in sort", "slow:3"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			// The machine may stand still for 20 ms before busy is called.
			for tries := 0; tries < 20 && !inOrder(lines, c.want); tries++ {
				lines = runSlowly(t, wait+c.source)
			}
			assert.True(t, inOrder(lines, c.want), "%q in %q", c.want, lines)
		})
	}
}

// inOrder reports whether all parts are found in lines, one after the other.
func inOrder(lines, parts []string) bool {
	text := strings.Join(lines, "\n")
	for _, part := range parts {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// runSlowly runs a script until it has been reported as slow, and returns the lines of
// the traceback.
func runSlowly(t *testing.T, source string) []string {
	var told [][]lua.Frame
	e := NewEngine([]Verb{{Name: "told", Doc: "x", Results: Returns("boolean", ""), Func: func(c *Call) error {
		c.Return(len(told) > 0)
		return nil
	}}})
	th := e.NewThread(context.Background(), ThreadOptions{
		Limits:    lua.Limits{Time: time.Minute},
		SlowAfter: 20 * time.Millisecond,
		Slow:      func(f []lua.Frame) { told = append(told, f) },
	})
	defer th.Close()
	v, err := th.RunSource("slow", source)
	require.NoError(t, err)
	assert.Equal(t, "done", v)
	require.Len(t, told, 1)
	var lines []string
	for _, f := range told[0] {
		lines = append(lines, f.String())
	}
	return lines
}

// TestNotSlow: a run that is done in time is not told of.
func TestNotSlow(t *testing.T) {
	th := NewEngine(nil).NewThread(context.Background(),
		ThreadOptions{SlowAfter: time.Hour, Slow: func(f []lua.Frame) { panic(fmt.Sprint(f)) }})
	defer th.Close()
	_, err := th.RunSource("quick", "for i = 1, 100000 do end")
	require.NoError(t, err)
}
