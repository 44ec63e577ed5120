//go:build linux

package workers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/workers"
)

// waitAside has n requests step aside and wait at the gate, and returns what the
// answers are collected in.
func (p *pool) waitAside(t *testing.T, n int, gate string) (texts chan string, wg *sync.WaitGroup) {
	t.Helper()
	texts, wg = make(chan string, n), new(sync.WaitGroup)
	for i := range n {
		c := p.client(t, true)
		wg.Go(func() {
			text, err := ask(c, "aside="+gate, fmt.Sprint("aside ", i))
			assert.NoError(t, err)
			texts <- text
		})
	}
	return texts, wg
}

// While requests only wait, their process runs others, as many as there are.
func TestStepAside(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	end := filepath.Join(t.TempDir(), "end")
	var all []chan string
	var wait []*sync.WaitGroup
	for range 20 { // one after the other: a gate is marked once by each process
		gate := filepath.Join(t.TempDir(), "end")
		texts, wg := p.waitAside(t, 1, gate)
		require.Eventually(t, func() bool { return atGate(t, gate) == 1 }, patience, time.Millisecond)
		all, wait = append(all, texts), append(wait, wg)
		t.Cleanup(func() { os.WriteFile(gate, nil, 0o600) })
		require.NoError(t, os.Symlink(end, gate))
	}
	for range 50 {
		assert.Contains(t, p.asked(t, "", "ordinary"), "ordinary")
	}
	assert.Equal(t, 0, p.running(), "who has stepped aside holds nobody up")
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	for i := range all {
		wait[i].Wait()
		assert.Contains(t, <-all[i], "aside 0")
	}
	assert.Contains(t, p.asked(t, "", "afterwards"), "afterwards")
	assert.Empty(t, p.losses)
}

// The same connection serves its next request after one that has stepped aside,
// also where more step aside than there is room for.
func TestStepAsideOnKeptConnections(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 2})
	var wg sync.WaitGroup
	for i := range 48 {
		c := p.client(t, true)
		wg.Go(func() {
			for j := range 12 {
				query := []string{"asleep=3", "", "asleep=1"}[(i+j)%3]
				body := fmt.Sprint(i, " ", j)
				text, err := ask(c, query, body)
				assert.NoError(t, err)
				assert.True(t, strings.HasSuffix(text, " "+body), text)
			}
		})
	}
	wg.Wait()
	assert.Empty(t, p.losses)
}

// A connection of its own is answered before its worker begins anything else.
func TestStepAsideAlone(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 4 {
				text, err := ask(p.client(t, false), "asleep=2", "alone")
				assert.NoError(t, err)
				assert.Contains(t, text, "alone")
			}
		})
	}
	wg.Wait()
	assert.Empty(t, p.losses)
}

// When the process dies, whoever has stepped aside in it is answered, too.
func TestCrashBesideOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	gate := filepath.Join(t.TempDir(), "end")
	texts, wg := p.waitAside(t, 1, gate)
	require.Eventually(t, func() bool { return atGate(t, gate) == 1 }, patience, time.Millisecond)
	assert.Equal(t, "crash", p.asked(t, "crash", ""))
	wg.Wait()
	assert.Equal(t, "crash", <-texts)
	lost := []string{(<-p.losses).Err.Error(), (<-p.losses).Err.Error()}
	assert.Contains(t, strings.Join(lost, "; "), "another request ended its process while it waited for the disk (signal: killed)")
	assert.Contains(t, p.asked(t, "", "next"), "next")
}

// Who has stepped aside and does not come to its end does not save a process that
// is to be killed for its script.
func TestKillBesideOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	gate := filepath.Join(t.TempDir(), "end")
	texts, wg := p.waitAside(t, 1, gate)
	require.Eventually(t, func() bool { return atGate(t, gate) == 1 }, patience, time.Millisecond)
	assert.Equal(t, "time", p.asked(t, "hang=100", ""))
	wg.Wait()
	assert.Equal(t, "crash", <-texts)
}

// A pool that is shut down, and a worker that is replaced, answer those who have
// stepped aside first.
func TestLeaveWaitsForOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	for _, end := range []func(){
		func() { require.NoError(t, p.Reload()) },
		func() { go p.Shutdown(context.Background()) },
	} {
		gate := filepath.Join(t.TempDir(), "end")
		texts, wg := p.waitAside(t, 1, gate)
		require.Eventually(t, func() bool { return atGate(t, gate) == 1 }, patience, time.Millisecond)
		end()
		time.Sleep(200 * time.Millisecond) // time to do it wrong
		require.NoError(t, os.WriteFile(gate, nil, 0o600))
		wg.Wait()
		assert.Contains(t, <-texts, "aside 0")
	}
	assert.Empty(t, p.losses)
}
