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

// yielder is a request that has yielded and waits.
type yielder struct {
	gate string
	text chan string // its response
}

// goOn lets the request end, and returns its response.
func (a yielder) goOn(t *testing.T) string {
	t.Helper()
	require.NoError(t, os.WriteFile(a.gate, nil, 0o600))
	return <-a.text
}

// yielders sends n requests that yield.
func (p *pool) yielders(t *testing.T, n int, keep bool) (all []yielder) {
	t.Helper()
	for i := range n {
		a := yielder{filepath.Join(t.TempDir(), "gate"), make(chan string, 1)}
		c := p.client(t, keep)
		go func() {
			text, err := ask(c, "yield="+a.gate, fmt.Sprint("yielder ", i))
			assert.NoError(t, err)
			a.text <- text
		}()
		require.Eventually(t, func() bool { return atGate(t, a.gate) == 1 }, patience, time.Millisecond)
		t.Cleanup(func() { os.WriteFile(a.gate, nil, 0o600) })
		all = append(all, a)
	}
	return all
}

// A worker runs other requests while some have yielded. These can end in any order.
func TestYield(t *testing.T) {
	for n, keep := range map[int]bool{7: false, 20: true} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			p := start(t, workers.Options{Min: 1, Max: 1})
			all := p.yielders(t, n, keep)
			for range 20 {
				for _, keep := range []bool{true, false} {
					text, err := ask(p.client(t, keep), "", "ordinary")
					assert.NoError(t, err)
					assert.Contains(t, text, "ordinary")
				}
			}
			idle := func() bool { return p.running() == 0 }
			require.Eventually(t, idle, patience, time.Millisecond, "a request that has yielded delays no other")
			for i := range all {
				i = (i*3 + 1) % n
				assert.Contains(t, all[i].goOn(t), fmt.Sprint("yielder ", i))
			}
			assert.Contains(t, p.asked(t, "", "afterwards"), "afterwards")
			assert.Empty(t, p.losses)
		})
	}
}

// A connection serves its next request after one that has yielded, also if more requests call
// Yield than can yield.
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
				query := []string{"yieldsleep=3", "", "yieldsleep=1"}[(i+j)%3]
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

// If the worker dies, requests that have yielded in it are answered too.
//
// Catalogue: C6
func TestCrashBesideOthers(t *testing.T) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			p := start(t, workers.Options{Min: 1, Max: 1})
			all := p.yielders(t, 5, keep)
			text, err := ask(p.client(t, keep), "crash", "")
			assert.NoError(t, err)
			assert.Equal(t, "crash", text)
			for _, a := range all {
				assert.Equal(t, "crash", <-a.text)
			}
			const want = "another request ended its process while it waited for the disk (signal: killed)"
			beside := 0
			for range 6 {
				if l := <-p.losses; strings.Contains(l.Err.Error(), want) {
					beside++
				}
			}
			assert.Equal(t, 5, beside)
			assert.Contains(t, p.asked(t, "", "next"), "next")
		})
	}
}

// A process is killed also if a request that has yielded in it does not end.
//
// Catalogue: C6
func TestKillBesideOthers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	all := p.yielders(t, 1, true)
	assert.Equal(t, "time", p.asked(t, "hang=100", ""))
	assert.Equal(t, "crash", <-all[0].text)
}

// A pool that is shut down, and a worker that is replaced, first answer the requests
// that have yielded.
func TestLeaveWaitsForYielded(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	for _, end := range []func(){
		func() { require.NoError(t, p.Reload(p.o)) },
		func() { go p.Shutdown(context.Background()) },
	} {
		all := append(p.yielders(t, 2, true), p.yielders(t, 2, false)...)
		end()
		time.Sleep(200 * time.Millisecond) // the process must not end in this time
		for _, a := range all {
			assert.Contains(t, a.goOn(t), "yielder")
		}
	}
	assert.Empty(t, p.losses)
}
