//go:build linux

package workers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
	"scripter/workers"
)

// patience is how long a test waits for something that should happen at once: a busy machine
// may take seconds.
const patience = time.Minute

// TestMain makes the test program the worker, too.
func TestMain(m *testing.M) {
	w, err := workers.Inherited()
	if addr := os.Getenv(masterEnvironment); addr != "" && err == nil && w == nil {
		err = serveMaster(addr)
	} else if err == nil && w == nil {
		// A worker that finds a race ends at once, which fails the test.
		os.Setenv("GORACE", "halt_on_error=1")
		os.Exit(m.Run())
	}
	if err == nil && w != nil {
		w.Report = func() []byte { return fmt.Append(nil, os.Getpid()) }
		h := handler{w, new([][]byte)}
		err = w.Serve(&fcgi.Server{Handler: h.answer})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// os.Exit would let the race detector finish, which can hang in a process that has received
	// descriptors.
	syscall.Exit(0)
}

// handler does what the query asks for.
type handler struct {
	w   *workers.Worker
	all *[][]byte
}

func (h handler) hoard(b []byte) { *h.all = append(*h.all, b) }

func (h handler) answer(ctx context.Context, r *fcgi.Request) {
	do, _, _ := strings.Cut(r.Params["QUERY_STRING"], "=")
	var d time.Duration
	fmt.Sscanf(r.Params["QUERY_STRING"], do+"=%d", &d)
	d *= time.Millisecond
	switch do {
	case "yield": // like wait, while other requests run
		r.Yield()
		fallthrough
	case "wait", "waitcrash": // until the file of the gate exists
		_, gate, _ := strings.Cut(r.Params["QUERY_STRING"], "=")
		os.WriteFile(fmt.Sprint(gate, ".", os.Getpid()), nil, 0o600)
		for _, err := os.Stat(gate); err != nil; _, err = os.Stat(gate) {
			time.Sleep(time.Millisecond)
		}
		if do == "waitcrash" {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	case "yieldsleep":
		r.Yield()
		fallthrough
	case "sleep":
		time.Sleep(d)
	case "crash":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "exit":
		os.Exit(3)
	case "half": // half a response, then a crash
		io.WriteString(r.Stdout, "Content-Type: text/plain\r\n\r\nhalf")
		r.Flush()
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "sum": // responds with a checksum of the body
		sum := sha256.New()
		if _, err := io.Copy(sum, r.Stdin); err == nil {
			fmt.Fprintf(r.Stdout, "Content-Type: text/plain\r\n\r\n%x", sum.Sum(nil))
		}
		return
	case "shut": // closes the body
		r.Stdin.(io.Closer).Close()
		fmt.Fprintf(r.Stdout, "Content-Type: text/plain\r\n\r\n%d shut", os.Getpid())
		return
	case "stop": // stops this thread at once: a signal to the process may arrive later
		runtime.LockOSThread()
		unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
		runtime.UnlockOSThread()
	case "slack":
		slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		fmt.Fprintf(r.Stdout, "Content-Type: text/plain\r\n\r\n%v %v", time.Duration(slack), err)
		return
	case "scriptbig": // the script ends, then its response is sent
		h.w.Begin(time.Minute, 64<<20)
		h.w.End()
		fallthrough
	case "big":
		io.Copy(io.Discard, r.Stdin)
		io.WriteString(r.Stdout, "Content-Type: text/plain\r\n\r\n")
		io.WriteString(r.Stdout, strings.Repeat("b", int(d/time.Millisecond)))
		return
	case "few": // limits the process to so many more descriptors than are open
		if err := leave(int(d / time.Millisecond)); err != nil {
			panic(err)
		}
	case "hang": // a script that no limit of the language ends
		h.w.Begin(d, 0)
		for n := 0; ; n++ {
			_ = n
		}
	case "grow":
		h.w.Begin(0, int64(16<<20))
		for {
			h.hoard(bytes.Repeat([]byte{1}, 1<<20))
		}
	}
	body, err := io.ReadAll(r.Stdin)
	if err != nil {
		return
	}
	fmt.Fprintf(r.Stdout, "Content-Type: text/plain\r\n\r\n%d %s", os.Getpid(), body)
}

// pool is a running pool and its sockets.
type pool struct {
	*workers.Pool
	o      workers.Options
	addrs  []net.Addr
	losses chan workers.Loss
	next   atomic.Int64 // index in addrs of the next connection
}

// listener returns a listening socket of the network, "unix" or "tcp", and its address.
func listener(t *testing.T, network string) (*os.File, net.Addr) {
	t.Helper()
	spec := "127.0.0.1:0"
	if network == "unix" {
		spec = "unix:" + filepath.Join(t.TempDir(), "s")
	}
	l, err := fcgi.Listen(spec, fcgi.ListenOptions{})
	require.NoError(t, err)
	addr := l.Addr()
	f, remove, err := fcgi.Detach(l)
	require.NoError(t, err)
	t.Cleanup(func() {
		remove()
		f.Close()
	})
	return f, addr
}

func start(t *testing.T, o workers.Options) *pool { return startOn(t, o, "unix") }

// startOn starts a pool with a listening socket of each network.
func startOn(t *testing.T, o workers.Options, networks ...string) *pool {
	t.Helper()
	p := &pool{losses: make(chan workers.Loss, 10000)}
	for _, network := range networks {
		f, addr := listener(t, network)
		o.Listeners, p.addrs = append(o.Listeners, f), append(p.addrs, addr)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	o.Command, o.Drain = []string{exe}, true
	o.Lost = func(l workers.Loss) []byte {
		p.losses <- l
		return []byte("Status: 500 Lost\r\n\r\n" + string(l.Reason))
	}
	o.Log = func(err error) { t.Log(err) }
	p.o = o
	p.Pool, err = workers.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(t, p.Shutdown(ctx))
	})
	return p
}

// dial connects to the listening sockets in turns.
func (p *pool) dial() (net.Conn, error) {
	addr := p.addrs[int(p.next.Add(1))%len(p.addrs)]
	return net.Dial(addr.Network(), addr.String())
}

// running returns how many workers have a request.
func (p *pool) running() int {
	n := 0
	for _, w := range p.Status().Workers {
		if w.State == "running" {
			n++
		}
	}
	return n
}

// atGate returns how many requests wait at a gate: see handler.
func atGate(t *testing.T, gate string) int {
	marks, err := filepath.Glob(gate + ".*")
	require.NoError(t, err)
	return len(marks)
}

// affordable returns the number of connections, at most n, for which this process has
// enough descriptors, if it needs so many for each. This process holds all clients and
// their master.
func affordable(t *testing.T, n, each int) int {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	return int(min(uint64(n), (limit.Cur-64)/uint64(each)))
}

func (p *pool) client(t *testing.T, keep bool) *fcgitest.Client {
	t.Helper()
	nc, err := p.dial()
	require.NoError(t, err)
	c := fcgitest.NewClient(nc, keep)
	t.Cleanup(func() { c.Close() })
	return c
}

func ask(c *fcgitest.Client, query, body string) (string, error) {
	return askWithin(context.Background(), c, query, body)
}

func askWithin(ctx context.Context, c *fcgitest.Client, query, body string) (string, error) {
	var out strings.Builder
	variables := map[string]string{"QUERY_STRING": query, "REQUEST_METHOD": "POST"}
	_, err := c.Do(ctx, variables, strings.NewReader(body), &out, io.Discard)
	_, text, _ := strings.Cut(out.String(), "\r\n\r\n")
	return text, err
}

// askOnce is ask, and closes the connection.
func askOnce(c *fcgitest.Client, query, body string) (string, error) {
	defer c.Close()
	return ask(c, query, body)
}

// onSockets runs a test on pools that listen on sockets of each kind.
func onSockets(t *testing.T, test func(*testing.T, *pool)) {
	for _, networks := range [][]string{{"unix"}, {"tcp"}, {"unix", "tcp"}} {
		t.Run(strings.Join(networks, " and "), func(t *testing.T) {
			test(t, startOn(t, workers.Options{}, networks...))
		})
	}
}

// Kept and unkept connections are served.
func TestServe(t *testing.T) { onSockets(t, testServe) }

func testServe(t *testing.T, p *pool) {
	for _, keep := range []bool{true, false} {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				c := p.client(t, keep)
				for j := range 15 {
					this := ask
					if !keep {
						c, this = p.client(t, false), askOnce
					}
					body := strings.Repeat("x", 1+i*j*1000)
					text, err := this(c, "", body)
					assert.NoError(t, err)
					assert.True(t, strings.HasSuffix(text, " "+body), "%d bytes", len(text))
				}
			})
		}
		wg.Wait()
	}
	assert.Empty(t, p.losses)
}

// A worker that dies affects one request only.
func TestCrashes(t *testing.T) { onSockets(t, testCrashes) }

func testCrashes(t *testing.T, p *pool) {
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			var answered, crashed atomic.Int64
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					c := p.client(t, keep)
					for {
						select {
						case <-stop:
							return
						default:
						}
						this := ask
						if !keep {
							c, this = p.client(t, false), askOnce
						}
						text, err := this(c, "", "ordinary")
						assert.NoError(t, err)
						assert.True(t, strings.HasSuffix(text, " ordinary"), text)
						answered.Add(1)
					}
				})
			}
			for i := range 40 {
				text, err := askOnce(p.client(t, keep), []string{"crash", "exit"}[i%2], "hostile")
				assert.NoError(t, err)
				assert.Equal(t, "crash", text)
				crashed.Add(1)
			}
			close(stop)
			wg.Wait()
			assert.Len(t, p.losses, int(crashed.Load()))
			for len(p.losses) > 0 {
				<-p.losses
			}
			t.Logf("%d crashes, %d ordinary requests answered", crashed.Load(), answered.Load())
		})
	}
}

// A truncated response is not ended as if it were complete.
func TestTruncatedResponse(t *testing.T) { onSockets(t, testTruncatedResponse) }

func testTruncatedResponse(t *testing.T, p *pool) {
	for _, keep := range []bool{true, false} {
		text, err := ask(p.client(t, keep), "half", "")
		assert.ErrorIs(t, err, fcgitest.ErrClosed)
		assert.Equal(t, "half", text)
	}
}

// A script that the language cannot stop is killed.
func TestLimits(t *testing.T) {
	p := start(t, workers.Options{})
	for query, reason := range map[string]workers.Reason{"hang=200": workers.TooLong, "grow": workers.TooLarge} {
		for _, keep := range []bool{true, false} {
			text, err := ask(p.client(t, keep), query, "")
			assert.NoError(t, err)
			assert.Equal(t, string(reason), text)
			assert.Equal(t, reason, (<-p.losses).Reason)
		}
	}
}

// While scripts run long, the pool grows. At Max, requests wait, and those beyond the limits
// are refused.
func TestBusy(t *testing.T) {
	p := start(t, workers.Options{Min: 2, Max: 4, Waiting: 3, Wait: patience, Spare: 300 * time.Millisecond})
	gate := filepath.Join(t.TempDir(), "gate")
	var wg sync.WaitGroup
	long := func() {
		c := p.client(t, true)
		wg.Go(func() {
			_, err := ask(c, "wait="+gate, "")
			assert.NoError(t, err)
		})
	}
	for range 3 {
		long()
	}
	count := func() int { return len(p.Status().Workers) }
	require.Eventually(t, func() bool { return count() == 4 }, patience, time.Millisecond)
	text, err := ask(p.client(t, true), "", "quick")
	assert.NoError(t, err)
	assert.Contains(t, text, "quick")
	long()
	require.Eventually(t, func() bool { return p.running() == 4 }, patience, time.Millisecond)
	var refused, served atomic.Int64
	for range 8 {
		c := p.client(t, true)
		wg.Go(func() {
			text, err := ask(c, "", "waited")
			assert.NoError(t, err)
			if text == string(workers.Refused) {
				refused.Add(1)
			} else if assert.Contains(t, text, "waited") {
				served.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return refused.Load() == 5 }, patience, time.Millisecond)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	wg.Wait()
	assert.EqualValues(t, 5, refused.Load())
	assert.EqualValues(t, 3, served.Load())
	require.Eventually(t, func() bool { return count() == 2 }, patience, 10*time.Millisecond, "the pool shrinks again")
}

// An incomplete request occupies no worker. It is refused if the rest does not arrive.
func TestIncompleteRequests(t *testing.T) {
	p := start(t, workers.Options{RequestIdle: time.Second, Conns: 300})
	var parts []net.Conn
	for range affordable(t, 200, 8) {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		_, err = nc.Write([]byte{1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 4})
		require.NoError(t, err)
		parts = append(parts, nc)
	}
	text, err := ask(p.client(t, true), "", "ordinary")
	assert.NoError(t, err)
	assert.Contains(t, text, "ordinary")
	for _, nc := range parts {
		nc.SetReadDeadline(time.Now().Add(patience))
		b, err := io.ReadAll(nc)
		assert.NoError(t, err)
		assert.Contains(t, string(b), "slow")
	}
}

// A reload replaces all processes and fails no request.
func TestReload(t *testing.T) {
	p := start(t, workers.Options{})
	before := map[int]bool{}
	ws := p.Status().Workers
	for _, w := range ws {
		before[w.Pid] = true
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			c := p.client(t, i%2 == 0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				this := ask
				if i%2 == 1 {
					c, this = p.client(t, false), askOnce
				}
				_, err := this(c, "", "ordinary")
				assert.NoError(t, err)
			}
		})
	}
	require.NoError(t, p.Reload(p.o))
	require.Eventually(t, func() bool {
		ws := p.Status().Workers
		old, fresh := 0, 0
		for _, w := range ws {
			if before[w.Pid] {
				old++
			} else if w.State != "starting" {
				fresh++
			}
		}
		return old == 0 && fresh >= 2
	}, patience, 10*time.Millisecond)
	close(stop)
	wg.Wait()
	assert.Empty(t, p.losses)
}

// A shutdown answers the requests under way and closes kept connections.
func TestShutdown(t *testing.T) { onSockets(t, testShutdown) }

func testShutdown(t *testing.T, p *pool) {
	idle := p.client(t, true)
	_, err := ask(idle, "", "")
	require.NoError(t, err)
	gate := filepath.Join(t.TempDir(), "gate")
	var wg sync.WaitGroup
	for i := range 6 {
		c := p.client(t, i%2 == 0)
		wg.Go(func() {
			text, err := ask(c, "wait="+gate, "late")
			assert.NoError(t, err)
			assert.Contains(t, text, "late")
		})
	}
	require.Eventually(t, func() bool { return p.running() == 6 }, patience, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	down := make(chan error, 1)
	go func() { down <- p.Shutdown(ctx) }()
	time.Sleep(100 * time.Millisecond)
	assert.Empty(t, down, "it waits for the requests under way")
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	require.NoError(t, <-down)
	wg.Wait()
	_, err = ask(idle, "", "")
	assert.ErrorIs(t, err, fcgitest.ErrClosed)
}

// Workers report when they are asked, and when they end.
func TestReports(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	p := start(t, workers.Options{Min: 3, Report: func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		told[string(text)]++
	}})
	all := func(pids map[int]bool) bool {
		mu.Lock()
		defer mu.Unlock()
		for pid := range pids {
			if told[strconv.Itoa(pid)] == 0 {
				return false
			}
		}
		return true
	}
	first := p.pids()
	require.Len(t, first, 3)
	require.Eventually(t, func() bool { p.Ask(t.Context()); return all(first) }, patience, 10*time.Millisecond)
	mu.Lock()
	clear(told)
	mu.Unlock()
	require.NoError(t, p.Reload(p.o))
	require.Eventually(t, func() bool { return all(first) }, patience, 10*time.Millisecond, "they report when they end")
}

// The listening sockets change with the workers. Connections that wait at the old ones are
// served.
func TestListen(t *testing.T) {
	p := startOn(t, workers.Options{Min: 2, Max: 2, Wait: patience}, "unix", "unix")
	kept := p.client(t, true)
	_, err := ask(kept, "", "")
	require.NoError(t, err)
	gate := filepath.Join(t.TempDir(), "gate")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { assert.Contains(t, p.asked(t, "wait="+gate, "slow"), "slow") })
	}
	require.Eventually(t, func() bool { return p.running() == 2 }, patience, time.Millisecond)
	for range 4 { // all workers are busy
		wg.Go(func() { assert.Contains(t, p.asked(t, "", "waits"), "waits") })
	}
	waits := func() bool { return p.Status().Waiting == 4 }
	require.Eventually(t, waits, patience, time.Millisecond)
	first := p.pids()
	f, addr := listener(t, "tcp")
	p.o.Listeners = []*os.File{f}
	require.NoError(t, p.Reload(p.o))
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	wg.Wait()
	require.Eventually(t, func() bool {
		for pid := range p.pids() {
			if first[pid] {
				return false
			}
		}
		return len(p.pids()) == 2
	}, patience, 10*time.Millisecond)
	p.addrs = []net.Addr{addr}
	for range 3 {
		assert.Contains(t, p.asked(t, "", "new"), "new")
	}
	text, err := ask(kept, "", "kept")
	assert.NoError(t, err)
	assert.Contains(t, text, "kept")
}
