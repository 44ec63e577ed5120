package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// processScripts are what the tests of processes ask for.
var processScripts = map[string]string{
	"hello": wireScripts["hello"],
	"bad":   `error ("what is written to the log, in so many words: " .. ("x"):rep (5000))`,
	"step":  `scratchpad.n = (scratchpad.n or 0) + 1 return scratchpad.n`,
	// The query is what the value was, and what it shall be.
	"swap": `
local old, new = (...).httpSearchArgs:match ("^(%w+),(%w+)$")
if scratchpad.value ~= old then
	return "too late"
end
scratchpad.value = new
return "won"`,
}

// surroundings are strange ways to be started, as a shell makes them. Poor ones
// leave too little to answer everything.
var surroundings = map[string]struct {
	shell string
	poor  bool
}{
	"no standard input":        {`exec <&-; exec "$0" "$@"`, false},
	"no standard error":        {`exec 2>&-; exec "$0" "$@"`, false},
	"neither":                  {`exec <&- 2>&-; exec "$0" "$@"`, false},
	"a folder that is gone":    {`d=$(mktemp -d); cd "$d"; rmdir "$d"; exec "$0" "$@"`, false},
	"no TMPDIR that could be":  {`TMPDIR=/nowhere HOME=/nowhere exec "$0" "$@"`, false},
	"a time zone that is none": {`TZ=":../../%s%n/x" exec "$0" "$@"`, false},
	"signals that are ignored": {`trap "" PIPE HUP XFSZ USR1; exec "$0" "$@"`, false},
	"files that may not grow":  {`ulimit -f 8; exec "$0" "$@"`, true},
	"room for eight files":     {`ulimit -n 8; exec "$0" "$@"`, true},
	"such files, no errors":    {`exec 2>&-; ulimit -f 8; exec "$0" "$@"`, true},
	"room for eight, no input": {`exec <&-; ulimit -n 8; exec "$0" "$@"`, true},
}

// statusOf is what one of processScripts is answered with.
func statusOf(script string) int {
	if script == "bad" {
		return 500
	}
	return 200
}

// TestSurroundings: whatever the programs are started with, they answer, or say
// that they cannot; and nothing of what they write elsewhere gets into the root.
func TestSurroundings(t *testing.T) {
	p := newPlace(t, processScripts)
	for name, s := range surroundings {
		t.Run("scripter-cgi, "+name, func(t *testing.T) {
			for _, script := range []string{"hello", "bad", "step"} {
				status, body, err := p.cgiBy(t, s.shell, script, nil)
				if s.poor && (err != nil || status >= 500) {
					continue // it has said so, or has ended
				}
				require.NoError(t, err, body)
				assert.Equal(t, statusOf(script), status, body)
			}
			p.check(t)
		})
		if s.poor {
			continue // it says so, and does not begin; with 64 files it must: TestDescriptorsUsedUp
		}
		t.Run("scripter-fcgi, "+name, func(t *testing.T) {
			r := p.startWith(t, "unix", "/bin/sh", "-c", s.shell, p.program("scripter-fcgi"))
			for _, script := range []string{"bad", "step", "hello"} {
				status, body, err := r.ask(t.Context(), script, "x", "")
				require.NoError(t, err, body)
				assert.Equal(t, statusOf(script), status, body)
			}
			p.check(t)
		})
	}
	status, _, err := p.cgi(t.Context(), "step", "", "", alone, nil)
	require.NoError(t, err)
	assert.Equal(t, 200, status, "as before")
}

// TestNobodyReads: what scripter-cgi answers goes nowhere. It ends, and the root is
// whole.
func TestNobodyReads(t *testing.T) {
	p := newPlace(t, processScripts)
	for name, shell := range map[string]string{
		"a full device": `exec "$0" "$@" > /dev/full`,
		"nothing":       `exec >&-; exec "$0" "$@"`,
		"who has gone":  `"$0" "$@" | exit 0`,
	} {
		for _, script := range []string{"hello", "bad", "step"} {
			p.cgiBy(t, shell, script, nil)
		}
		p.check(t)
		status, _, err := p.cgi(t.Context(), "step", "", "", alone, nil)
		require.NoError(t, err, name)
		assert.Equal(t, 200, status, name)
	}
}

// cgiBy has a shell start scripter-cgi for one request.
func (p *place) cgiBy(t *testing.T, shell, script string, env []string) (status int, body string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", shell, p.program("scripter-cgi"))
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "SCRIPTER_ROOT="+p.root, "SCRIPTER_RESIDENT="+alone)
	for name, value := range variables(script, "x", 0) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	require.NoError(t, ctx.Err(), "it does not end")
	if err != nil {
		return 0, out.String(), err
	}
	return parseAnswer(out.String())
}

// TestSignals: signals that mean nothing to the programs change nothing, whichever
// process gets them.
func TestSignals(t *testing.T) {
	p := newPlace(t, processScripts)
	// No more than two: a busy machine makes the pool grow, and shrink again.
	r := p.startWith(t, "unix", p.program("scripter-fcgi"), "--workers", "2")
	r.serves(t)
	eventually(t, func() bool { return len(children(r.Pid())) >= 2 }, "there are no workers")
	before := children(r.Pid())
	for _, pid := range append(before, r.Pid()) {
		for _, s := range []syscall.Signal{
			syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGCONT,
		} {
			require.NoError(t, syscall.Kill(pid, s), "%d, %v", pid, s)
			r.serves(t)
		}
	}
	after := children(r.Pid())
	for _, pid := range before {
		assert.Contains(t, after, pid, "a worker has ended")
	}
}

// TestRestart: two hundred requests while the program ends and another one takes
// its place at the same socket. Each is answered, and every step that was told of
// is there.
func TestRestart(t *testing.T) {
	p := newPlace(t, processScripts)
	l, err := net.Listen("unix", p.dir+"/s")
	require.NoError(t, err)
	defer l.Close()
	f, err := l.(*net.UnixListener).File()
	require.NoError(t, err)
	defer f.Close()
	start := func() (cmd *exec.Cmd, done chan error) {
		cmd = exec.Command(p.program("scripter-fcgi"), "--root", p.root, "--workers", "4", "--door", "off")
		var log testlog.Buffer
		cmd.Stdin, cmd.Stderr = f, &log
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		done = make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		t.Cleanup(func() {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			if t.Failed() {
				t.Log(log.String())
			}
		})
		eventually(t, func() bool { return strings.Contains(log.String(), "listening") }, "the program does not begin")
		return cmd, done
	}
	r := &responder{network: "unix", addr: p.dir + "/s"}
	first, ended := start()
	r.serves(t)
	var told, unknown atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 2 * time.Millisecond)
			for begun := time.Now(); time.Since(begun) < patience; {
				status, body, err := r.ask(t.Context(), "step", "", "")
				switch {
				case err == nil && status == 200:
					told.Add(1)
					return
				case errors.Is(err, fcgitest.ErrClosed) && body == "":
					unknown.Add(1) // closed before an answer: whoever connects and says nothing is not waited for
				case status != 503:
					assert.Fail(t, "a wrong answer", "%d %q %v", status, body, err)
					return
				}
			}
			assert.Fail(t, "no answer")
		})
	}
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, first.Process.Signal(syscall.SIGTERM))
		next, nextEnded := start()
		select {
		case err := <-ended:
			assert.NoError(t, err)
		case <-time.After(2 * patience):
			first.Process.Signal(syscall.SIGQUIT) // which tells where it is
			<-ended
			require.Fail(t, "the program does not end")
		}
		first, ended = next, nextEnded
	}
	wg.Wait()
	assert.EqualValues(t, 200, told.Load())
	stands := p.number(t, objectdb.Address{"scratchpad", "n"})
	assert.GreaterOrEqual(t, stands, told.Load())
	assert.LessOrEqual(t, stands, told.Load()+unknown.Load())
	require.NoError(t, first.Process.Signal(syscall.SIGTERM))
	<-ended
	p.check(t)
}

// number reads a number from the root.
func (p *place) number(t *testing.T, a objectdb.Address) (n int64) {
	t.Helper()
	db, err := sqlitestore.Open(p.root, objectdb.Options{BusyTimeout: patience})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(a)
		if err == nil {
			n = int64(v.(objectdb.Number))
		}
		return err
	}))
	return n
}

// TestCompareAndSet: of many who want to change one value from what they have
// seen, in processes of their own and in one, one wins each time.
func TestCompareAndSet(t *testing.T) {
	p := newPlace(t, processScripts)
	p.set(t, "scratchpad.value", objectdb.String("a0"))
	r := p.start(t, "unix")
	for round := range 12 {
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				query := fmt.Sprintf("a%d,a%d", round, round+1)
				ask := func() (int, string, error) { return r.ask(t.Context(), "swap", query, "") }
				if i%2 == 0 {
					ask = func() (int, string, error) { return p.cgi(t.Context(), "swap", query, "", alone, nil) }
				}
				status, body, err := ask()
				for ; err == nil && status == 503; status, body, err = ask() {
				}
				assert.NoError(t, err)
				assert.Contains(t, []string{"200 won", "200 too late"}, fmt.Sprint(status, " ", body))
				if body == "won" {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, won.Load(), "round %d", round)
	}
}
