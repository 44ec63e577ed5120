package torture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wireScripts are what the peers of these tests ask for.
var wireScripts = map[string]string{
	"hello": `local p = ... return "hello " .. p.httpSearchArgs`,
	"size":  `local p = ... return #p.postArgs`,
	"large": `return ("x"):rep (8e6)`,
	"slow":  `scratchpad.slow = (scratchpad.slow or 0) + 1 local t = os.clock () while os.clock () < t + 0.1 do end return "slow"`,
}

// eventually waits for a condition, for as long as patience lasts.
func eventually(t *testing.T, condition func() bool, message string, args ...any) {
	t.Helper()
	require.Eventually(t, condition, patience, 20*time.Millisecond, append([]any{message}, args...)...)
}

// settled waits until no connection is left at r's end: all peers have gone.
func settled(t *testing.T, r *responder) {
	t.Helper()
	eventually(t, func() bool { return connections(t, r) == 0 }, "connections are left")
}

// leave are the ways in which a peer goes.
var leave = map[string]func(net.Conn){
	"close": func(nc net.Conn) { nc.Close() },
	"reset": func(nc net.Conn) {
		if tcp, ok := nc.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		nc.Close()
	},
}

// TestPeersThatLeave: connections closed and reset at every stage of a request,
// twenty times each. Nothing of them is left, no lock either.
func TestPeersThatLeave(t *testing.T) {
	p := newPlace(t, wireScripts)
	whole := request(true, "size", "x", strings.Repeat("b", 5000))
	head := len(begin(true))
	params := len(slices.Concat(begin(true), stream(recParams, pairs(variables("size", "x", 5000)))))
	stages := map[string]func(nc net.Conn) error{
		"nothing sent": func(net.Conn) error { return nil },
		"while it runs": func(nc net.Conn) error {
			_, err := nc.Write(request(true, "slow", "", ""))
			return err
		},
		"in the answer": func(nc net.Conn) error {
			if _, err := nc.Write(request(true, "large", "", "")); err != nil {
				return err
			}
			_, err := io.ReadFull(nc, make([]byte, 100_000))
			return err
		},
	}
	for stage, n := range map[string]int{
		"half a header": 4, "begun": head, "in the parameters": head + 50,
		"before their end": params - 8, "before the body": params,
		"in the body": params + 2000, "before its end": len(whole) - 8, "all sent": len(whole),
	} {
		stages[stage] = func(nc net.Conn) error {
			_, err := nc.Write(whole[:n])
			return err
		}
	}
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			r := p.start(t, network)
			r.serves(t)
			for stage, send := range stages {
				for way, leave := range leave {
					for range 20 {
						nc := r.dial(t)
						require.NoError(t, send(nc), "%s, %s", stage, way)
						leave(nc)
					}
				}
			}
			settled(t, r)
			r.serves(t)
			status, body, err := r.ask(t.Context(), "slow", "", "") // which writes
			require.NoError(t, err)
			assert.Equal(t, "200 slow", fmt.Sprint(status, " ", body))
		})
	}
	p.check(t)
}

// TestHalfClosed: a peer that has said all still gets its answer.
func TestHalfClosed(t *testing.T) {
	p := newPlace(t, wireScripts)
	for _, network := range []string{"unix", "tcp"} {
		r := p.start(t, network)
		for range 20 {
			nc := r.dial(t)
			_, err := nc.Write(request(false, "size", "", "12345"))
			require.NoError(t, err)
			require.NoError(t, nc.(interface{ CloseWrite() error }).CloseWrite())
			out, refused, err := receive(bufio.NewReader(nc))
			require.NoError(t, err)
			require.Zero(t, refused)
			require.True(t, strings.HasSuffix(out, "\r\n\r\n5"), out)
		}
	}
}

// ofWorkers is what so many more workers may hold, in bytes: a busy machine makes
// the pool grow.
func ofWorkers(more int) int64 { return int64(max(more, 0)) * 24 << 20 }

// TestIdleConnections: a thousand connections that say nothing, and a hundred
// that stopped in the middle of a header, cost little, and an ordinary request is
// served beside them.
func TestIdleConnections(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.start(t, "unix")
	var wg sync.WaitGroup
	for range 50 { // until its memory is what work takes
		wg.Go(func() { r.ask(t.Context(), "hello", "x", "") })
	}
	wg.Wait()
	before, processes := memory(t, r.Pid())
	const idle, halves = 1000, 100
	for i := range idle + halves {
		nc := r.dial(t)
		if i >= idle {
			_, err := nc.Write(begin(true)[:5])
			require.NoError(t, err)
		}
	}
	require.Greater(t, connections(t, r), idle/2)
	begun := time.Now()
	r.serves(t)
	took := time.Since(begun)
	after, now := memory(t, r.Pid())
	each := (after - before - ofWorkers(now-processes)) / (idle + halves)
	t.Logf("beside %d idle connections a request took %v; each holds %d bytes", idle+halves, took, each)
	assert.Less(t, took, 20*time.Second)
	assert.Less(t, each, int64(64<<10))
	for range 20 { // and again and again
		r.serves(t)
	}
}

// TestBurst: two hundred requests at once, each answered with its own.
func TestBurst(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.start(t, "unix")
	wrong := make(chan string, 200)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			begun := time.Now()
			status, body, err := r.ask(t.Context(), "hello", fmt.Sprint(i), "")
			for status == 503 && time.Since(begun) > 9*time.Second { // who has waited for 10 s may ask again
				begun = time.Now()
				status, body, err = r.ask(t.Context(), "hello", fmt.Sprint(i), "")
			}
			if got := fmt.Sprint(status, " ", body, " ", err); got != fmt.Sprint("200 hello ", i, " <nil>") {
				wrong <- got
			}
		})
	}
	wg.Wait()
	close(wrong)
	for w := range wrong {
		t.Error(w)
	}
	settled(t, r)
}

// TestDescriptorsUsedUp: a process that may open sixty-four files meets two
// hundred connections. It goes on serving, and has all of them back afterwards.
func TestDescriptorsUsedUp(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.startWith(t, "unix", "/bin/sh", "-c", `ulimit -n 64 && exec "$0" "$@"`, p.program("scripter-fcgi"))
	r.serves(t)
	var open []net.Conn
	for range 200 {
		open = append(open, r.dial(t))
	}
	r.serves(t)
	for _, nc := range open {
		nc.Close()
	}
	settled(t, r)
	for range 5 {
		r.serves(t)
	}
}

// TestLyingParameters: bodies that are not what was declared, and floods.
func TestLyingParameters(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.start(t, "unix")
	r.serves(t)
	before, processes := memory(t, r.Pid())
	send := func(t *testing.T, vars map[string]string, body []byte) string {
		nc := r.dial(t)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			nc.Write(slices.Concat(begin(false), stream(recParams, pairs(vars)), body))
		}()
		out, _, err := receive(bufio.NewReader(nc))
		nc.Close()
		<-sent
		if err != nil {
			return err.Error()
		}
		line, _, _ := strings.Cut(out, "\r\n")
		return line
	}
	declared := func(length string) map[string]string {
		vars := variables("size", "", 1)
		vars["CONTENT_LENGTH"] = length
		return vars
	}
	t.Run("four gigabytes declared", func(t *testing.T) {
		assert.Contains(t, send(t, declared("4294967296"), stream(recStdin, "x")), "413")
	})
	t.Run("more declared than sent", func(t *testing.T) {
		assert.Contains(t, send(t, declared("10"), stream(recStdin, "12345")), "400")
	})
	t.Run("less declared than sent", func(t *testing.T) {
		assert.Contains(t, send(t, declared("5"), stream(recStdin, strings.Repeat("x", 1_000_000))), "200")
	})
	t.Run("none declared", func(t *testing.T) {
		assert.Contains(t, send(t, declared(""), stream(recStdin, strings.Repeat("x", 1_000_000))), "200")
	})
	t.Run("a length that is none", func(t *testing.T) {
		assert.Contains(t, send(t, declared("0x5"), stream(recStdin, "12345")), "400")
	})
	t.Run("parameters without end", func(t *testing.T) {
		nc := r.dial(t)
		flood := record(recParams, strings.Repeat("\x01\x7ea"+strings.Repeat("v", 126), 400))
		nc.Write(begin(true))
		go io.Copy(io.Discard, nc)
		for range 2000 { // 100 MB, if it took them all
			if _, err := nc.Write(flood); err != nil {
				assert.False(t, errors.Is(err, os.ErrDeadlineExceeded), "it neither takes them nor closes")
				return
			}
		}
		t.Error("it took 100 MB of parameters")
	})
	after, now := memory(t, r.Pid())
	assert.Less(t, after-before-ofWorkers(now-processes), int64(64<<20), "memory has grown")
	r.serves(t)
}

// TestPeersThatNeverRead: large answers that nobody takes hold up nobody else.
func TestPeersThatNeverRead(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.start(t, "unix")
	var open []net.Conn
	for range 20 {
		nc := r.dial(t)
		_, err := nc.Write(request(true, "large", "", ""))
		require.NoError(t, err)
		_, err = nc.Read(make([]byte, 1)) // it is being sent
		require.NoError(t, err)
		open = append(open, nc)
	}
	begun := time.Now()
	for range 10 {
		r.serves(t)
	}
	t.Logf("ten requests beside %d peers that never read: %v", len(open), time.Since(begun))
	assert.Less(t, time.Since(begun), 20*time.Second, "they wait for the peers")
	for _, nc := range open {
		nc.Close()
	}
	settled(t, r)
}

// TestRandomProtocol sends requests that are damaged at random: 240 of each of three
// seeds, and "make torture" 10,000. The program lives, every request that is whole
// is answered right, and nothing is left.
func TestRandomProtocol(t *testing.T) {
	p := newPlace(t, wireScripts)
	r := p.start(t, "unix")
	r.serves(t)
	whole := slices.Concat(request(true, "hello", "x", ""), request(false, "size", "", "12345"))
	each := 60
	if os.Getenv("SCRIPTER_TORTURE") != "" {
		each = 2500
	}
	for seed := range int64(3) {
		random := rand.New(rand.NewSource(seed))
		var wg sync.WaitGroup
		for range 4 { // peers at a time
			source := rand.New(rand.NewSource(random.Int63()))
			wg.Go(func() {
				for range each {
					damaged(t, r, source, whole)
				}
			})
		}
		wg.Wait()
		r.serves(t)
	}
	settled(t, r)
	assert.NotContains(t, r.Output(), "panic")
	p.check(t)
}

// damaged sends whole with a few bytes changed, lost or doubled, and says
// nothing more.
func damaged(t *testing.T, r *responder, random *rand.Rand, whole []byte) {
	b := slices.Clone(whole)
	for range 1 + random.Intn(3) {
		switch i := random.Intn(len(b)); random.Intn(4) {
		case 0:
			b[i] = byte(random.Intn(256))
		case 1:
			b = slices.Delete(b, i, min(len(b), i+1+random.Intn(20)))
		case 2:
			from := random.Intn(i + 1)
			b = slices.Insert(b, i, slices.Clone(b[from:i])...)
		case 3:
			b = b[:i+1]
		}
	}
	nc, err := net.DialTimeout(r.network, r.addr, patience)
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	go func() {
		nc.Write(b)
		nc.(*net.UnixConn).CloseWrite()
	}()
	in := bufio.NewReader(nc)
	for {
		out, refused, err := receive(in)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("no end comes to %x", b)
			}
			return
		}
		if _, _, err := parseAnswer(out); refused == 0 && out != "" && err != nil {
			t.Errorf("%v for %x", err, b)
		}
	}
}
