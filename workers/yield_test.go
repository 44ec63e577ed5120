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

// aside is a request that has stepped aside and waits.
type aside struct {
	gate string
	text chan string // its answer
}

// goOn lets it end, and returns its answer.
func (a aside) goOn(t *testing.T) string {
	t.Helper()
	require.NoError(t, os.WriteFile(a.gate, nil, 0o600))
	return <-a.text
}

// asides has n requests step aside.
func (p *pool) asides(t *testing.T, n int, keep bool) (all []aside) {
	t.Helper()
	for i := range n {
		a := aside{filepath.Join(t.TempDir(), "gate"), make(chan string, 1)}
		c := p.client(t, keep)
		go func() {
			text, err := ask(c, "aside="+a.gate, fmt.Sprint("aside ", i))
			assert.NoError(t, err)
			a.text <- text
		}()
		require.Eventually(t, func() bool { return atGate(t, a.gate) == 1 }, patience, time.Millisecond)
		t.Cleanup(func() { os.WriteFile(a.gate, nil, 0o600) })
		all = append(all, a)
	}
	return all
}

// While requests only wait, their process runs others. They end in any order.
func TestYield(t *testing.T) {
	for n, keep := range map[int]bool{7: false, 20: true} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			p := start(t, workers.Options{Min: 1, Max: 1})
			all := p.asides(t, n, keep)
			for range 20 {
				for _, keep := range []bool{true, false} {
					text, err := ask(p.client(t, keep), "", "ordinary")
					assert.NoError(t, err)
					assert.Contains(t, text, "ordinary")
				}
			}
			require.Eventually(t, func() bool { return p.running() == 0 }, patience, time.Millisecond, "who has stepped aside holds nobody up")
			for i := range all {
				i = (i*3 + 1) % n
				assert.Contains(t, all[i].goOn(t), fmt.Sprint("aside ", i))
			}
			assert.Contains(t, p.asked(t, "", "afterwards"), "afterwards")
			assert.Empty(t, p.losses)
		})
	}
}

// A connection serves its next request after one that has stepped aside, also
// where more would than there is room for.
func TestManyYield(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 2})
	var wg sync.WaitGroup
	for i := range affordable(t, 60, 4) {
		keep := i%3 != 0
		wg.Go(func() {
			c := p.client(t, keep)
			for j := range 12 {
				this := ask
				if !keep {
					c, this = p.client(t, false), askOnce
				}
				query := []string{"asleep=3", "", "asleep=1"}[(i+j)%3]
				body := fmt.Sprint(i, " ", j)
				text, err := this(c, query, body)
				assert.NoError(t, err)
				assert.True(t, strings.HasSuffix(text, " "+body), text)
			}
		})
	}
	wg.Wait()
	assert.Empty(t, p.losses)
}

// When the process dies, whoever has stepped aside in it is answered, too.
//
// Catalogue: C6
func TestCrashBesideOthers(t *testing.T) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			p := start(t, workers.Options{Min: 1, Max: 1})
			all := p.asides(t, 5, keep)
			text, err := ask(p.client(t, keep), "crash", "")
			assert.NoError(t, err)
			assert.Equal(t, "crash", text)
			for _, a := range all {
				assert.Equal(t, "crash", <-a.text)
			}
			beside := 0
			for range 6 {
				if l := <-p.losses; strings.Contains(l.Err.Error(), "another request ended its process while it waited for the disk (signal: killed)") {
					beside++
				}
			}
			assert.Equal(t, 5, beside)
			assert.Contains(t, p.asked(t, "", "next"), "next")
		})
	}
}

// Who has stepped aside and does not come to its end does not save a process that
// is to be killed for its script.
//
// Catalogue: C6
func TestKillBesideOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	all := p.asides(t, 1, true)
	assert.Equal(t, "time", p.asked(t, "hang=100", ""))
	assert.Equal(t, "crash", <-all[0].text)
}

// A pool that is shut down, and a worker that is replaced, answer those who have
// stepped aside first.
func TestLeaveWaitsForOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	for _, end := range []func(){
		func() { require.NoError(t, p.Reload()) },
		func() { go p.Shutdown(context.Background()) },
	} {
		all := append(p.asides(t, 2, true), p.asides(t, 2, false)...)
		end()
		time.Sleep(200 * time.Millisecond) // time to do it wrong
		for _, a := range all {
			assert.Contains(t, a.goOn(t), "aside")
		}
	}
	assert.Empty(t, p.losses)
}
