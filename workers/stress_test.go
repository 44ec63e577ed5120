//go:build linux

package workers_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/workers"
)

// stressFor returns how long TestStress runs: a few seconds, or the duration in
// SCRIPTER_STRESS.
func stressFor() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("SCRIPTER_STRESS")); err == nil {
		return d
	}
	return 3 * time.Second
}

// pieces reads a body in pieces of random length, with pauses.
type pieces struct {
	r    *rand.Rand
	rest string
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	if p.r.IntN(8) == 0 {
		time.Sleep(time.Duration(p.r.IntN(3000)) * time.Microsecond)
	}
	n := copy(b, p.rest[:min(len(p.rest), 1+p.r.IntN(40<<10))])
	p.rest = p.rest[n:]
	return n, nil
}

// body returns a body of 0 bytes to 1 MB; most are short.
func body(r *rand.Rand) string {
	n := r.IntN(300)
	switch r.IntN(12) {
	case 0:
		n = 0
	case 1:
		n = r.IntN(20 << 10)
	case 2:
		n = r.IntN(100 << 10)
	case 3:
		n = r.IntN(1 << 20)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// tally counts the requests of TestStress.
type tally struct{ ordinary, hostile, rude atomic.Int64 }

// Ordinary requests get their own responses, exactly once, while hostile requests end processes
// and rude web servers close connections. Afterwards no process, connection or descriptor is
// left.
func TestStress(t *testing.T) {
	p := start(t, workers.Options{Min: 2, Max: 6, Waiting: 1000, Wait: patience, Spare: 300 * time.Millisecond})
	warm := p.client(t, true)
	_, err := ask(warm, "", "")
	require.NoError(t, err)
	require.NoError(t, warm.Close())
	self := descriptors(os.Getpid())
	goroutines := runtime.NumGoroutine()
	stop := make(chan struct{})
	time.AfterFunc(stressFor(), func() { close(stop) })
	stopped := func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	var n tally
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { p.ordinary(t, rand.New(rand.NewPCG(uint64(i), 1)), i%2 == 0, stopped, &n) })
	}
	for i := range 2 {
		wg.Go(func() { p.hostile(t, rand.New(rand.NewPCG(uint64(i), 2)), stopped, &n) })
		wg.Go(func() { p.rude(t, rand.New(rand.NewPCG(uint64(i), 3)), stopped, &n) })
	}
	wg.Go(func() {
		for !stopped() {
			time.Sleep(700 * time.Millisecond)
			assert.NoError(t, p.Reload(p.o))
		}
	})
	wg.Wait()
	t.Logf("%d ordinary requests, %d hostile, %d connections closed rudely",
		n.ordinary.Load(), n.hostile.Load(), n.rude.Load())
	require.Eventually(t, func() bool {
		s := p.Status()
		return len(s.Workers) == 2 && s.Conns == 0 &&
			descriptors(os.Getpid()) <= self+2 && runtime.NumGoroutine() <= goroutines+4
	}, patience, 20*time.Millisecond, "%v", p.left())
	for _, w := range p.Status().Workers {
		few := func() bool { return descriptors(w.Pid) < 20 }
		require.Eventually(t, few, patience, 10*time.Millisecond, "a worker closes its descriptors")
		assert.Less(t, resident(t, w.Pid), 300<<20)
	}
}

// resident returns the resident memory of a process.
func resident(t *testing.T, pid int) (bytes int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return 0 // it has ended
	}
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(b), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

func (p *pool) left() string {
	return fmt.Sprintf("%+v, %d descriptors, %d goroutines", p.Status(), descriptors(os.Getpid()), runtime.NumGoroutine())
}

func (p *pool) ordinary(t *testing.T, r *rand.Rand, keep bool, stopped func() bool, n *tally) {
	c, err := p.connect(keep)
	for ; !stopped() && assert.NoError(t, err); n.ordinary.Add(1) {
		want := body(r)
		query, lost := "sum", false
		switch r.IntN(20) {
		case 0:
			query = "shut"
		case 1, 2, 3:
			query = "asleep=2"
		}
		var out strings.Builder
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		variables := map[string]string{"QUERY_STRING": query, "REQUEST_METHOD": "POST"}
		_, err = c.Do(ctx, variables, &pieces{r, want}, &out, io.Discard)
		cancel()
		if query == "sum" {
			assert.NoError(t, err, out.String())
			_, text, _ := strings.Cut(out.String(), "\r\n\r\n")
			assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(want))), text)
		}
		if query == "asleep=2" {
			assert.NoError(t, err)
			_, text, _ := strings.Cut(out.String(), "\r\n\r\n")
			lost = text == "crash" // another request has ended its process
			assert.True(t, strings.HasSuffix(text, " "+want) || lost, "%.100q", text)
		}
		if !keep || query == "shut" || lost {
			c.Close()
			c, err = p.connect(keep)
		}
	}
	if c != nil {
		c.Close()
	}
}

func (p *pool) connect(keep bool) (*fcgitest.Client, error) {
	nc, err := p.dial()
	if err != nil {
		return nil, err
	}
	return fcgitest.NewClient(nc, keep), nil
}

// hostile sends requests that end their process.
func (p *pool) hostile(t *testing.T, r *rand.Rand, stopped func() bool, n *tally) {
	want := map[string]string{"crash": "crash", "exit": "crash", "hang=50": "time", "half": "half"}
	for ; !stopped(); n.hostile.Add(1) {
		query := []string{"crash", "exit", "hang=50", "half"}[r.IntN(4)]
		c, err := p.connect(r.IntN(2) == 0)
		require.NoError(t, err)
		text, err := ask(c, query, body(r))
		if query != "half" && err != nil && !errors.Is(err, fcgitest.ErrClosed) {
			assert.NoError(t, err)
		}
		if err == nil {
			assert.Equal(t, want[query], text)
		}
		c.Close()
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
	}
}

// rude closes connections at any time, in any way.
func (p *pool) rude(t *testing.T, r *rand.Rand, stopped func() bool, n *tally) {
	for ; !stopped(); n.rude.Add(1) {
		nc, err := p.dial()
		require.NoError(t, err)
		whole := wire(r.IntN(2) == 0, body(r))
		nc.SetDeadline(time.Now().Add(patience))
		nc.Write(whole[:r.IntN(len(whole)+1)])
		switch r.IntN(4) {
		case 0:
			nc.Write([]byte{1, 2, 0, 1, 0, 0, 0, 0}) // FCGI_ABORT_REQUEST
		case 1:
			nc.(*net.UnixConn).CloseWrite()
			nc.SetReadDeadline(time.Now().Add(time.Duration(r.IntN(20)) * time.Millisecond))
			io.Copy(io.Discard, nc)
		case 2:
			nc.Write([]byte("nonsense"))
		}
		nc.Close()
		time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
	}
}

// wire returns the bytes of a request.
func wire(keep bool, body string) []byte {
	out := []byte{1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 4, 0, 1, 0, 0, 0, 0}
	if keep {
		out[10] = 1
	}
	for len(body) > 0 {
		n := min(len(body), 8000)
		out = append(append(out, 1, 5, 0, 1, byte(n>>8), byte(n), 0, 0), body[:n]...)
		body = body[n:]
	}
	return append(out, 1, 5, 0, 1, 0, 0, 0, 0)
}

// A hundred slow bodies occupy no worker. The test sends fewer if it has few descriptors.
func TestSlowBodies(t *testing.T) {
	p := start(t, workers.Options{Min: 2, Max: 2, Wait: patience, RequestIdle: patience, RequestTotal: 2 * patience})
	whole := wire(true, strings.Repeat("slow", 25_000))
	var slow []net.Conn
	for i := range affordable(t, 100, 8) {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		_, err = nc.Write(whole[:5000+i*500])
		require.NoError(t, err)
		slow = append(slow, nc)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				assert.Contains(t, p.asked(t, "", "ordinary"), "ordinary")
			}
		})
	}
	wg.Wait()
	for i, nc := range slow {
		wg.Go(func() {
			_, err := nc.Write(whole[5000+i*500:])
			assert.NoError(t, err)
			nc.SetReadDeadline(time.Now().Add(patience))
			b := make([]byte, 50_000)
			_, err = io.ReadFull(nc, b)
			assert.NoError(t, err)
			assert.Contains(t, string(b), "slowslow")
		})
	}
	wg.Wait()
	assert.Empty(t, p.losses)
}

// A body that does not end in time is refused, whether it stops or arrives slowly.
func TestEndlessBodies(t *testing.T) {
	p := start(t, workers.Options{RequestIdle: time.Second, RequestTotal: 2 * time.Second})
	whole := wire(true, strings.Repeat("slow", 25_000))
	var wg sync.WaitGroup
	for _, size := range []int{100, 5000, 30_000} {
		for _, trickles := range []bool{false, true} {
			nc, err := p.dial()
			require.NoError(t, err)
			defer nc.Close()
			_, err = nc.Write(whole[:size])
			require.NoError(t, err)
			done := make(chan struct{})
			if trickles {
				wg.Go(func() {
					for i := size; ; i++ {
						select {
						case <-done:
							return
						case <-time.After(100 * time.Millisecond):
						}
						nc.Write(whole[i : i+1])
					}
				})
			}
			wg.Go(func() {
				nc.SetReadDeadline(time.Now().Add(patience))
				b, err := io.ReadAll(nc)
				close(done)
				if !errors.Is(err, net.ErrClosed) && !strings.Contains(fmt.Sprint(err), "reset") {
					assert.NoError(t, err)
				}
				assert.Contains(t, string(b), "slow", "%d bytes, trickles: %v", size, trickles)
			})
		}
	}
	wg.Wait()
}
