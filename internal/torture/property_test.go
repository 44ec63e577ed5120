package torture

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// stepScript brings scratchpad.step from one state to the next: all that is
// there depends on one number. The query is the number, at which write the
// script fails (0 for none), and how many sixtieths of a second it takes.
const stepScript = `
local p = ...
local n, failing, ticks = p.httpSearchArgs:match ("^(%d+),(%d+),(%d+)$")
n, failing, ticks = tonumber (n), tonumber (failing), tonumber (ticks)
local writes = 0
local function put (t, name, value)
	writes = writes + 1
	if writes == failing then
		error ("stopped at write " .. writes)
	end
	t [name] = value
	for i = 1, 100 do end
end
if not scratchpad.step then
	scratchpad.step = {cells = {}}
end
local t = scratchpad.step
put (t, "number", n)
put (t, "text", ("x"):rep (n % 7 * 1000) .. n)
put (t, "body", p.postArgs)
for i = 1, 40 do
	put (t.cells, "c" .. i, n * i)
end
local start = clock.ticks ()
while clock.ticks () < start + ticks do end
put (t, "made" .. n, {inner = {n = n}})
put (t, "made" .. n - 1, nil)
put (t, "last", n)
return ("answer " .. n .. " "):rep (30000)`

const stepWrites = 46

// partialScript commits in two halves: before and after its first piece.
const partialScript = `
local n = tonumber ((...).httpSearchArgs)
scratchpad.first = n
webserver.sendPartial ("piece")
local t = os.clock ()
while os.clock () < t + 0.005 do end
scratchpad.second = n
return ""`

// wantStep is what scratchpad.step holds after step n with body.
func wantStep(n int, body string) map[string]string {
	if n == 0 {
		return map[string]string{}
	}
	want := map[string]string{
		"number": fmt.Sprint(n), "text": strings.Repeat("x", n%7*1000) + fmt.Sprint(n), "body": body, "last": fmt.Sprint(n),
		fmt.Sprintf("made%d.inner.n", n): fmt.Sprint(n),
	}
	for i := 1; i <= 40; i++ {
		want[fmt.Sprintf("cells.c%d", i)] = fmt.Sprint(n * i)
	}
	return want
}

// dump returns the values below an address, by their names.
func (p *place) dump(t *testing.T, a objectdb.Address) map[string]string {
	t.Helper()
	db, err := sqlitestore.Open(p.root, objectdb.Options{})
	require.NoError(t, err)
	defer db.Close()
	values := map[string]string{}
	require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
		top, err := tx.Find(a)
		if err != nil {
			return nil // not there yet
		}
		return walk(tx, top, "", values)
	}))
	return values
}

func walk(tx *objectdb.Tx, n *objectdb.Node, prefix string, values map[string]string) error {
	children, err := tx.Children(n)
	if err != nil {
		return err
	}
	for _, c := range children {
		if c.Kind() == objectdb.KindTable {
			if err := walk(tx, c, prefix+c.Name()+".", values); err != nil {
				return err
			}
			continue
		}
		v, err := tx.Value(c)
		if err != nil {
			return err
		}
		values[prefix+c.Name()] = fmt.Sprint(v)
	}
	return nil
}

// stepper makes steps that are stopped somewhere, and looks after each where the
// root stands.
type stepper struct {
	*place
	r      *responder
	random *rand.Rand
	n      int    // the step that stands
	body   string // and its body
	stood  map[string]int
}

// result is what a peer knows of its request: the answer, or that there was none.
type result struct {
	status int    // of a whole answer; 0 when it broke off
	begun  bool   // a byte of it has arrived
	text   string // of a whole answer
}

// stop makes step s.n+1 by try, which may stop it anywhere, and holds what then
// stands in the root against what the peer was told.
func (s *stepper) stop(t *testing.T, how string, try func(query, body string) result) {
	t.Helper()
	next, body := s.n+1, strings.Repeat("b", s.random.Intn(4000))
	got := try(fmt.Sprintf("%d,0,0", next), body)
	stands := s.dump(t, objectdb.Address{"scratchpad", "step"})
	before, after := wantStep(s.n, s.body), wantStep(next, body)
	switch {
	case assert.ObjectsAreEqual(after, stands):
		s.n, s.body = next, body
		s.stood[how+": as after"]++
		require.False(t, got.status >= 400, "%s: the peer was told %d, and the root is changed", how, got.status)
	case assert.ObjectsAreEqual(before, stands):
		s.stood[how+": as before"]++
		require.False(t, got.begun && got.status < 400,
			"%s: the peer was answered %d, but the root is not changed", how, got.status)
	default:
		require.Equal(t, after, stands, "%s: the root is between two states", how)
	}
	if got.status == 200 {
		require.Equal(t, strings.Repeat(fmt.Sprintf("answer %d ", next), 30000), got.text)
	}
}

// TestStoppedAnywhere: one request, stopped at a random instruction, write, byte
// of the body, byte of the answer or moment, by an error, a limit, a peer that
// leaves or SIGKILL. The root stands as before it or as after it.
func TestStoppedAnywhere(t *testing.T) {
	p := newPlace(t, map[string]string{"step": stepScript, "partial": partialScript, "hello": wireScripts["hello"]})
	s := &stepper{place: p, r: p.start(t, "unix"), random: rand.New(rand.NewSource(1)), stood: map[string]int{}}
	const tries = 15
	for range tries {
		s.stop(t, "not stopped", func(query, body string) result { return s.whole(t, query, body) })
		s.stop(t, "a write fails", func(query, body string) result {
			query = strings.TrimSuffix(query, "0,0") + fmt.Sprintf("%d,0", 1+s.random.Intn(stepWrites))
			return s.whole(t, query, body)
		})
		s.stop(t, "instructions used up", func(query, body string) result {
			s.set(t, "user.webserver.maxInstructions", objectdb.Number(0.001+0.02*s.random.Float64()))
			defer s.set(t, "user.webserver.maxInstructions", objectdb.Number(1000))
			return s.whole(t, query, body)
		})
		s.stop(t, "the body breaks off", func(query, body string) result {
			head := len(request(true, "step", query, body)) - len(stream(recStdin, body))
			return s.cut(t, query, body, head+s.random.Intn(len(stream(recStdin, body))))
		})
		s.stop(t, "the request breaks off", func(query, body string) result {
			return s.cut(t, query, body, s.random.Intn(len(request(true, "step", query, body))))
		})
		s.stop(t, "the peer leaves in the answer", func(query, body string) result {
			return s.leaves(t, query, body, s.random.Intn(300_000))
		})
		s.stop(t, "the body of a CGI program breaks off", func(query, body string) result {
			return s.process(t, query, body, alone, s.random.Intn(len(body)+1), nil)
		})
		s.stop(t, "a CGI program is killed", func(query, body string) result {
			return s.process(t, query, body, alone, len(body), time.After(time.Duration(s.random.Intn(15_000))*time.Microsecond))
		})
	}
	for range tries / 3 {
		s.stop(t, "a CGI program that hands its request over is killed", func(query, body string) result {
			kill := time.After(time.Duration(s.random.Intn(15_000)) * time.Microsecond)
			got := s.process(t, query, body, byResident, len(body), kill)
			s.quiet(t)
			return got
		})
		s.stop(t, "the peer leaves while it runs", func(query, body string) result {
			nc := s.r.dial(t)
			_, err := nc.Write(request(true, "step", strings.TrimSuffix(query, "0")+"40", body))
			require.NoError(t, err)
			time.Sleep(time.Duration(s.random.Intn(300)) * time.Millisecond)
			nc.Close()
			s.quiet(t)
			return result{}
		})
	}
	for range tries {
		s.stop(t, "the daemon is killed", func(query, body string) result {
			return s.killed(t, query, body)
		})
	}
	for how, n := range s.stood {
		t.Logf("%s: %d", how, n)
	}
	for _, how := range []string{
		"not stopped: as after", "a write fails: as before", "instructions used up: as before",
		"the body breaks off: as before",
		"the request breaks off: as before", "the peer leaves in the answer: as after",
		"the peer leaves while it runs: as before", "a CGI program is killed: as before",
	} {
		assert.NotZero(t, s.stood[how], how)
	}
	p.check(t)
}

// whole makes the step and takes the whole answer.
func (s *stepper) whole(t *testing.T, query, body string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	status, text, err := s.r.ask(ctx, "step", query, body)
	require.NoError(t, err)
	return result{status, true, text}
}

// cut sends the first n bytes of the request, and takes what comes.
func (s *stepper) cut(t *testing.T, query, body string, n int) result {
	t.Helper()
	nc := s.r.dial(t)
	defer nc.Close()
	_, err := nc.Write(request(true, "step", query, body)[:n])
	require.NoError(t, err)
	require.NoError(t, nc.(*net.UnixConn).CloseWrite())
	out, _, err := receive(bufio.NewReader(nc))
	if err != nil {
		return result{begun: out != ""}
	}
	status, text, err := parseAnswer(out)
	require.NoError(t, err)
	return result{status, true, text}
}

// leaves takes n bytes of the answer at most.
func (s *stepper) leaves(t *testing.T, query, body string, n int) result {
	t.Helper()
	nc := s.r.dial(t)
	_, err := nc.Write(request(true, "step", query, body))
	require.NoError(t, err)
	got, _ := io.ReadFull(nc, make([]byte, n))
	nc.Close()
	if got == 0 {
		s.quiet(t)
	}
	return result{begun: got > 0}
}

// quiet waits until nothing is written any more: the requests of peers that
// left have ended one way or the other.
func (s *stepper) quiet(t *testing.T) {
	t.Helper()
	s.r.serves(t)
	last, same := "", 0
	eventually(t, func() bool {
		now := s.dump(t, objectdb.Address{"scratchpad", "step"})["number"]
		if same++; now != last {
			last, same = now, 0
		}
		time.Sleep(100 * time.Millisecond)
		return same > 8
	}, "the root does not come to rest")
}

// process makes the step with a CGI program that gets the first n bytes of the
// body, and is killed when kill says so.
func (s *stepper) process(t *testing.T, query, body, resident string, n int, kill <-chan time.Time) result {
	t.Helper()
	cmd := exec.Command(s.program("scripter-cgi"))
	cmd.Env = []string{"SCRIPTER_ROOT=" + s.root, "SCRIPTER_RESIDENT=" + resident}
	for name, value := range variables("step", query, len(body)) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = strings.NewReader(body[:n]), &out
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-kill:
		cmd.Process.Kill()
		<-done
	case <-done:
	}
	status, text, err := parseAnswer(out.String())
	if err != nil {
		return result{begun: out.Len() > 0}
	}
	return result{status, true, text}
}

// killed makes the step with a daemon that is killed at a random moment, with
// all processes of its group, and starts another.
func (s *stepper) killed(t *testing.T, query, body string) result {
	t.Helper()
	nc := s.r.dial(t)
	_, err := nc.Write(request(true, "step", query, body))
	require.NoError(t, err)
	time.Sleep(time.Duration(s.random.Intn(40_000)) * time.Microsecond)
	require.NoError(t, syscall.Kill(-s.r.Pid(), syscall.SIGKILL))
	out, _, err := receive(bufio.NewReader(nc))
	<-s.r.Done()
	s.r = s.start(t, "unix")
	if err != nil {
		return result{begun: out != ""}
	}
	status, text, err := parseAnswer(out)
	require.NoError(t, err)
	return result{status, true, text}
}

// TestStoppedAfterAPiece: what sendPartial committed stays, what came behind it
// is there wholly or not at all, and who got the piece can rely on the former.
func TestStoppedAfterAPiece(t *testing.T) {
	p := newPlace(t, map[string]string{"partial": partialScript, "hello": wireScripts["hello"]})
	random := rand.New(rand.NewSource(2))
	r := p.start(t, "unix")
	first, second := "0", "0"
	most := 40 * time.Millisecond
	for i := 1; i <= 25; i++ {
		if i%5 == 0 && first == "0" {
			most *= 2 // no piece has come in time: the machine is slow
		}
		nc := r.dial(t)
		_, err := nc.Write(request(true, "partial", fmt.Sprint(i), ""))
		require.NoError(t, err)
		wait := time.Duration(random.Int63n(int64(most)))
		nc.SetReadDeadline(time.Now().Add(wait))
		out, _, end := receive(bufio.NewReader(nc))
		require.NoError(t, syscall.Kill(-r.Pid(), syscall.SIGKILL))
		<-r.Done()
		got := p.dump(t, objectdb.Address{"scratchpad"})
		if out != "" {
			require.Equal(t, fmt.Sprint(i), got["first"], "the piece has been seen")
		}
		if end == nil {
			require.Equal(t, fmt.Sprint(i), got["second"], "the end has been seen")
		}
		if got["first"] != fmt.Sprint(i) {
			require.Equal(t, first, orZero(got["first"]))
		}
		if got["second"] != fmt.Sprint(i) {
			require.Equal(t, second, orZero(got["second"]))
		} else {
			require.Equal(t, fmt.Sprint(i), got["first"])
		}
		first, second = orZero(got["first"]), orZero(got["second"])
		r = p.start(t, "unix")
	}
	require.NotEqual(t, "0", first)
	p.check(t)
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}
