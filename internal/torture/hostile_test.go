package torture

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// What a hostile script may do to its worker, at most.
const (
	hostileTime   = 2 * time.Second // maxTime
	hostileMemory = 64 << 20        // maxMemory
	timeFactor    = 1.25
	memoryMargin  = 64 << 20
)

// hostileTries is how often a script is tried that was stopped too late: a
// machine that stands still for a moment spoils one try, but not all.
const hostileTries = 12

// TestHostileScripts runs hostile scripts in the program as it is used, with
// workers. Each is answered 500 or 503, is stopped within 1.25 times its time
// limit, by what the program itself has measured, and its process grows by no
// more than its memory limit and 64 MB. Who asks for something else meanwhile is
// answered right.
//
// Four programs run beside one another, and a part of the scripts; "make torture"
// runs all of them.
func TestHostileScripts(t *testing.T) {
	bombs := readBombs(t)
	part := 4
	if os.Getenv("SCRIPTER_TORTURE") != "" {
		part = 1
	}
	var results hostileResults
	var wg sync.WaitGroup
	for lane := range 4 {
		scripts := map[string]string{"hello": wireScripts["hello"], "loop": "while true do end"}
		var names []string
		for i := lane; i < len(bombs); i += 4 {
			if i/4%part == 0 {
				name := fmt.Sprint("bomb", i)
				scripts[name] = "while true do " + strings.TrimSuffix(bombs[i], ` return "survived"`) + " end"
				names = append(names, name)
			}
		}
		p := newPlace(t, scripts)
		p.set(t, "user.webserver.maxTime", objectdb.Number(hostileTime.Seconds()))
		p.set(t, "user.webserver.maxMemory", objectdb.Number(hostileMemory>>20))
		p.set(t, `user.webserver.limits.["suites.webserverScripts"].slowLog`, objectdb.Number(1))
		p.set(t, `user.webserver.limits.["suites.webserverScripts.hello"].slowLog`, objectdb.Number(0))
		status := filepath.Join(p.dir, "status")
		r := p.startWith(t, "unix", p.program("scripter-fcgi"), "--status", "unix:"+status)
		h := &hostile{responder: r, status: status}
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h.serves(t)
			var neighbours sync.WaitGroup
			neighbours.Go(func() { h.neighbour(ctx, t) })
			for _, name := range names {
				h.attack(t, name, nil, &results)
			}
			h.attack(t, "loop", h.freeze, &results)
			cancel()
			neighbours.Wait()
		})
	}
	wg.Wait()
	t.Logf("%d hostile scripts stopped by the language, %d by the end of their process, %d tried again; "+
		"the longest took %.3f times its limit, the largest grew by %d MB",
		results.stopped, results.killed, results.again, results.longest.Seconds()/hostileTime.Seconds(), results.largest>>20)
	assert.NotZero(t, results.stopped)
	assert.GreaterOrEqual(t, results.killed, 4, "those that were frozen")
}

// hostileResults are what became of hostile scripts.
type hostileResults struct {
	mu                     sync.Mutex
	stopped, killed, again int
	longest                time.Duration
	largest                int64
}

func (r *hostileResults) add(took time.Duration, grown int64, killed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if killed {
		r.killed++
	} else {
		r.stopped++
	}
	r.longest, r.largest = max(r.longest, took), max(r.largest, grown)
}

func (r *hostileResults) tryAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again++
}

// hostile is a program that hostile scripts run in.
type hostile struct {
	*responder
	status string     // the socket of its status
	alone  sync.Mutex // held by who asks for something ordinary, and to keep that away
}

// neighbour asks for something ordinary until ctx ends.
func (h *hostile) neighbour(ctx context.Context, t *testing.T) {
	for i := 0; ctx.Err() == nil; i++ {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
		h.alone.Lock()
		status, body, err := h.ask(bounded, "hello", strconv.Itoa(i), "")
		h.alone.Unlock()
		cancel()
		assert.NoError(t, err)
		assert.Equal(t, fmt.Sprint("200 hello ", i), fmt.Sprint(status, " ", body))
		time.Sleep(5 * time.Millisecond)
	}
}

// freeze stops the process of the script that runs, once it has run for a while:
// nothing in there keeps a limit any more.
func (h *hostile) freeze() {
	// On a machine that stood still an ordinary script would have run for as long.
	h.alone.Lock()
	defer h.alone.Unlock()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", h.status)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		var report struct {
			Time    time.Time
			Workers []struct {
				PID   int
				Since time.Time
			}
		}
		resp, err := c.Get("http://localhost/-/status?format=json")
		if err != nil {
			continue
		}
		err = json.NewDecoder(resp.Body).Decode(&report)
		resp.Body.Close()
		for _, w := range report.Workers {
			if err == nil && !w.Since.IsZero() && report.Time.Sub(w.Since) > hostileTime/4 {
				syscall.Kill(w.PID, syscall.SIGSTOP)
				return
			}
		}
	}
}

// attack runs one hostile script, until it was stopped in time and within its
// memory. During it is called meanwhile; nil is nothing.
func (h *hostile) attack(t *testing.T, name string, during func(), results *hostileResults) {
	var took time.Duration
	var grown int64
	for tries := range hostileTries {
		time.Sleep(time.Duration(tries) * 100 * time.Millisecond)
		from := len(h.Output())
		w := watchWorkers(h.Pid())
		var meanwhile sync.WaitGroup
		if during != nil {
			meanwhile.Go(during)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		status, body, err := h.ask(ctx, name, "", "")
		cancel()
		meanwhile.Wait()
		grown = w.stop()
		if !assert.NoError(t, err, name) || !assert.Contains(t, []int{500, 503}, status, "%s: %.300s", name, body) {
			return
		}
		assert.NotRegexp(t, internals, body, name)
		var byKill bool
		took, byKill = h.took(t, name, from)
		early := during != nil && !byKill // it was not frozen in time
		if took > time.Duration(timeFactor*float64(hostileTime)) || grown > hostileMemory+memoryMargin || early {
			results.tryAgain()
			continue
		}
		results.add(took, grown, byKill)
		return
	}
	assert.Fail(t, "a hostile script was stopped too late",
		"%s: after %v, when its process had grown by %d MB", name, took, grown>>20)
}

// What the program tells of a script that was stopped, and of one whose worker
// was.
var (
	slowEnded  = regexp.MustCompile(`msg="slow request(?: ended)?" .*path=/(\w+)\.fcgi.* took=(\S+)`)
	workerLost = regexp.MustCompile(`msg="(?:script killed|worker died|worker killed).* ran=(\S+)`)
)

// took returns how long a request took, by what the program has logged since
// its log had so many bytes, and whether its worker was killed.
func (h *hostile) took(t *testing.T, name string, from int) (took time.Duration, killed bool) {
	t.Helper()
	find := func() bool {
		for line := range strings.Lines(h.Output()[from:]) {
			text := ""
			if m := slowEnded.FindStringSubmatch(line); m != nil && m[1] == name {
				text = m[2]
			} else if m := workerLost.FindStringSubmatch(line); m != nil {
				text, killed = m[1], true
			} else {
				continue
			}
			var err error
			took, err = time.ParseDuration(text)
			return err == nil
		}
		return false
	}
	eventually(t, find, "nothing is logged of %s: %s", name, h.Output()[from:])
	return took, killed
}

// watched are workers, and what they held when the watching began.
type watched struct {
	pid    int
	before map[int]int64
	most   int64
	done   chan struct{}
	end    sync.WaitGroup
}

// watchWorkers begins to look how much the processes that pid has started hold.
func watchWorkers(pid int) *watched {
	w := &watched{pid: pid, before: map[int]int64{}, done: make(chan struct{})}
	for _, child := range children(pid) {
		// The peak is that of now.
		os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", child), []byte("5"), 0)
		w.before[child] = peak(child)
	}
	w.end.Go(func() {
		for {
			w.look()
			select {
			case <-w.done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return w
}

func (w *watched) look() {
	fresh := int64(0)
	for _, n := range w.before {
		if fresh == 0 || n < fresh {
			fresh = n
		}
	}
	for _, child := range children(w.pid) {
		before, known := w.before[child]
		if !known {
			before = fresh
		}
		w.most = max(w.most, peak(child)-before)
	}
}

// stop returns by how much one of them has grown at most.
func (w *watched) stop() int64 {
	close(w.done)
	w.end.Wait()
	w.look()
	return w.most
}

// peak returns the most bytes that a process has had in memory; 0 when it is
// gone.
func peak(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}
