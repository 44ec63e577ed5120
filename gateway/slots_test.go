package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/runner"
)

func gateOf(running, waiting int, patience time.Duration) *slots {
	q := &slots{}
	q.setLimits(slotLimits{set: true, running: running, waiting: waiting, wait: patience})
	return q
}

func (q *slots) untilWaiting(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool { _, waiting := q.load(); return waiting == n }, patience, time.Millisecond)
}

// TestSlotOrder checks that requests get slots in the order of arrival, and are refused if the queue is
// full.
func TestSlotOrder(t *testing.T) {
	q := gateOf(1, 3, time.Minute)
	waited, err := q.acquire(context.Background(), false)
	require.NoError(t, err)
	assert.False(t, waited)
	entered := make(chan int, 3)
	for i := range 3 {
		go func() {
			waited, err := q.acquire(context.Background(), false)
			if waited && err == nil {
				entered <- i
			}
		}()
		q.untilWaiting(t, i+1)
	}
	_, err = q.acquire(context.Background(), false)
	var busy *busyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t,
		"1 requests run and 3 wait, and no more are allowed "+
			"(user.webserver.maxRunning, user.webserver.maxWaiting)",
		busy.Error())
	for i := range 3 {
		q.release()
		assert.Equal(t, i, <-entered)
	}
	q.release()
	running, waiting := q.load()
	assert.Zero(t, running)
	assert.Zero(t, waiting)
	now := time.Now()
	assert.Equal(t, 1, q.takeRefused(now))
	assert.Zero(t, q.takeRefused(now), "once a second")
}

// TestSlotAgain checks that a request that released its slot for its body goes before the others, and
// is not refused.
func TestSlotAgain(t *testing.T) {
	q := gateOf(1, 1, time.Minute)
	_, err := q.acquire(context.Background(), false)
	require.NoError(t, err)
	entered := make(chan string, 2)
	for i, again := range []bool{false, true} {
		go func() {
			if _, err := q.acquire(context.Background(), again); err == nil {
				entered <- strconv.FormatBool(again)
			}
		}()
		q.untilWaiting(t, i+1)
	}
	q.release()
	assert.Equal(t, "true", <-entered)
	q.release()
	assert.Equal(t, "false", <-entered)
	q.release()
}

// TestSlotGivenUp checks that a client that is gone, and a request that has waited too long, leave the
// queue.
func TestSlotGivenUp(t *testing.T) {
	q := gateOf(1, 1, time.Minute)
	_, err := q.acquire(context.Background(), false)
	require.NoError(t, err)
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() {
		_, err := q.acquire(ctx, false)
		done <- err
	}()
	q.untilWaiting(t, 1)
	leave(gone)
	assert.ErrorIs(t, <-done, gone)
	q.untilWaiting(t, 0)

	q.setLimits(slotLimits{set: true, running: 1, waiting: 1, wait: time.Millisecond})
	_, err = q.acquire(context.Background(), false)
	assert.EqualError(t, err, "no slot became free within 1ms (user.webserver.maxRunning, user.webserver.maxTime)")
	q.untilWaiting(t, 0)

	q.setLimits(slotLimits{set: true, running: 1, waiting: 1, wait: time.Minute})
	go func() {
		_, err := q.acquire(context.Background(), false)
		done <- err
	}()
	q.untilWaiting(t, 1)
	q.setLimits(slotLimits{set: true, running: 2, waiting: 1, wait: time.Minute})
	assert.NoError(t, <-done, "a larger setting lets in who waits")
}

// TestSlotsInUse checks that never more requests run than there are slots, and that all slots are
// free in the end.
func TestSlotsInUse(t *testing.T) {
	q := gateOf(3, 1000, time.Minute)
	var mu sync.Mutex
	now, most := 0, 0
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%5 == 0 {
				time.AfterFunc(time.Duration(i)*10*time.Microsecond, cancel)
			}
			if _, err := q.acquire(ctx, i%7 == 0); err != nil {
				return
			}
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(50 * time.Microsecond)
			mu.Lock()
			now--
			mu.Unlock()
			q.release()
		})
	}
	all.Wait()
	assert.LessOrEqual(t, most, 3)
	running, waiting := q.load()
	assert.Zero(t, running)
	assert.Zero(t, waiting)
}

// TestTooManyRequests checks that a request beyond the settings gets 503 with Retry-After and runs
// nothing, and that the others are answered.
func TestTooManyRequests(t *testing.T) {
	s := newSite(t)
	s.script("stream",
		`webserver.sendPartial ("begun", nil, true) while true do webserver.sendPartial ("x", nil, true) end`)
	s.put("user.webserver.maxRunning", objectdb.Number(1))
	s.put("user.webserver.maxWaiting", objectdb.Number(1))
	s.put("user.webserver.maxTime", objectdb.Number(60))
	assert.Equal(t, 404, s.ask("/none.fcgi", nil).Status) // reads the settings

	streaming, stop := context.WithCancel(context.Background())
	defer stop()
	r, w := io.Pipe()
	ended := make(chan Outcome)
	go func() { ended <- s.g.Answer(streaming, s.request("/stream.fcgi", nil), w) }()
	_, err := io.ReadFull(r, make([]byte, 100))
	require.NoError(t, err)
	go io.Copy(io.Discard, r)

	s.script("ok", `return "fine"`)
	answered := make(chan string)
	go func() {
		var b bytes.Buffer
		s.g.Answer(context.Background(), s.request("/ok.fcgi", nil), &b)
		answered <- b.String()
	}()
	s.g.slots.untilWaiting(t, 1)
	assert.Equal(t, 1, s.g.Load().Waiting)
	assert.Equal(t, 1, s.g.Load().Running)

	resp, out := s.answer(s.request("/ok.fcgi", nil))
	assert.Equal(t, 503, resp.Status)
	assert.Equal(t, "1", resp.Get("Retry-After"))
	assert.NotContains(t, resp.Body, "Incident")
	assert.Equal(t, "maxWaiting", runner.LimitOf(out.Err))

	gone, leave := context.WithCancel(context.Background())
	leave()
	assert.True(t, s.g.Answer(gone, s.request("/ok.fcgi", nil), io.Discard).Broken)

	stop()
	<-ended
	assert.True(t, strings.HasSuffix(<-answered, "fine"))
	c := s.g.TakeCounts()
	assert.GreaterOrEqual(t, c.Waited, uint64(1))
	assert.Equal(t, uint64(1), c.Limits["maxWaiting"])
	assert.Equal(t, 1, strings.Count(s.log.String(), "too many requests at once"))
}

// TestSlowBodyHoldsNoSlot checks that other requests run while a body arrives.
func TestSlowBodyHoldsNoSlot(t *testing.T) {
	s := newSite(t)
	s.script("echo", `return (...).postArgs .. "!"`)
	s.put("user.webserver.maxRunning", objectdb.Number(1))
	assert.Equal(t, 404, s.ask("/none.fcgi", nil).Status)
	r, w := io.Pipe()
	post := s.request("/echo.fcgi",
		map[string]string{"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "4", "CONTENT_TYPE": "text/plain"})
	post.Body = r
	answered := make(chan string)
	go func() {
		var b bytes.Buffer
		s.g.Answer(context.Background(), post, &b)
		answered <- b.String()
	}()
	_, err := io.WriteString(w, "ab") // the body is being read
	require.NoError(t, err)
	assert.Equal(t, 200, s.ask("/echo.fcgi", nil).Status)
	_, err = io.WriteString(w, "cd")
	require.NoError(t, err)
	w.Close()
	assert.Contains(t, <-answered, "abcd!")
	running, _ := s.g.slots.load()
	assert.Zero(t, running)
}

// TestBodyIsReadWithoutSlot checks that a request has no slot while its body is read, if the
// transport does not say how much of the body has arrived.
func TestBodyIsReadWithoutSlot(t *testing.T) {
	s := newSite(t)
	s.script("echo", `return (...).postArgs .. "!"`)
	s.put("user.webserver.maxBody", objectdb.Number(0.0005))
	for name, c := range map[string]struct {
		body   string
		length string
		slots  int // of all requests while the body is read; -1: it is not read
		want   string
		status int
	}{
		"all":               {"abcd", "4", 0, "abcd!", 200},
		"more":              {"abcdef", "4", 0, "abcd!", 200},
		"no length":         {"abcd", "-1", 0, "abcd!", 200},
		"too large":         {strings.Repeat("x", 600), "600", -1, "", 413},
		"less than it said": {"abc", "4", 0, "", 400},
	} {
		b := &observedBody{Reader: strings.NewReader(c.body), g: s.g, slots: -1}
		post := s.request("/echo.fcgi",
			map[string]string{"REQUEST_METHOD": "POST", "CONTENT_LENGTH": c.length, "CONTENT_TYPE": "text/plain"})
		post.Body = b
		var out bytes.Buffer
		s.g.Answer(t.Context(), post, &out)
		assert.Contains(t, out.String(), strconv.Itoa(c.status), name)
		assert.Contains(t, out.String(), c.want, name)
		assert.Equal(t, c.slots, b.slots, name)
	}
}

// observedBody records how many requests have a slot when it is read.
type observedBody struct {
	io.Reader
	g     *Gateway
	slots int
}

func (b *observedBody) Read(p []byte) (int, error) {
	b.slots, _ = b.g.slots.load()
	return b.Reader.Read(p)
}

// TestBounds checks that a program with its own queue accepts bodies as large as the script with the
// largest limit may have.
func TestBounds(t *testing.T) {
	s := newSite(t)
	bounds := func() (b Bounds) {
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
			b, err = ReadBounds(tx)
			return err
		}))
		return b
	}
	assert.Equal(t, Bounds{Waiting: 256, Body: 16 << 20}, bounds())
	s.put("user.webserver.maxRunning", objectdb.Number(3))
	s.put("user.webserver.maxWaiting", objectdb.Number(7))
	s.put("user.webserver.maxBody", objectdb.Number(2))
	s.limit("suites.webserverScripts.small", "maxBody", 1)
	assert.Equal(t, Bounds{3, 7, 2 << 20}, bounds())
	s.limit("suites.webserverScripts.upload", "maxBody", 64)
	s.limit("suites.webserverScripts.other", "maxTime", 100)
	assert.Equal(t, Bounds{3, 7, 64 << 20}, bounds())
}
