package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// powerScript takes one step and tells its visitor. It writes so much that the WAL
// is folded into the root now and then.
const powerScript = `
local who = (...).httpSearchArgs
local t = user.torture
if not t [who] then
	t [who] = {n = 0, twice = 0}
end
local mine = t [who]
mine.n = mine.n + 1
mine.twice = mine.n * 2
mine.much = (who .. " " .. mine.n .. " "):rep (8000)
t.total = t.total + 1
return "acknowledged " .. who .. " " .. mine.n .. "."`

var acknowledged = regexp.MustCompile(`acknowledged (\w+) (\d+)\.`)

// TestPowerLoss: whenever the power fails, every step that a visitor was told of
// is in the root, which is whole, and so is every saved copy. The programs run
// under strace, which tells the order of their writes, syncs and answers; then the
// disk is made as it may be at many moments: without anything that was not synced,
// or with any part of it, down to single sectors.
//
// Catalogue: P3
func TestPowerLoss(t *testing.T) {
	d, calls := tracedDisk(t, "")
	acks := readAnswers(calls)
	require.Greater(t, len(acks), 60, "acknowledged steps")
	random := d.cutPower(t, calls, acks)

	// Without its syncs the same disk loses steps, so the test would find lost steps.
	for _, f := range d.files {
		f.unsync()
	}
	end := calls[len(calls)-1].ended
	assert.NotEmpty(t, d.problem(t, acks, end, keepsNothing, random))
}

// TestPowerLossAfterFailedSync is TestPowerLoss on a disk whose syncs sometimes fail,
// each for one process only: the data is not on the disk, and no later sync reports
// that.
//
// Catalogue: P15
func TestPowerLossAfterFailedSync(t *testing.T) {
	d, calls := tracedDisk(t, "fsync,fdatasync:error=EIO:when=5+9")
	failed := 0
	for _, c := range calls {
		if c.failed {
			failed++
		}
	}
	require.Greater(t, failed, 5, "failed syncs")
	acks := readAnswers(calls)
	require.Greater(t, len(acks), 30, "acknowledged steps")
	d.cutPower(t, calls, acks)
	t.Logf("%d syncs failed", failed)
}

// tracedDisk runs visitors who take steps, and returns the disk with what they wrote.
// inject is the fault that strace injects into calls.
func tracedDisk(t *testing.T, inject string) (*disk, []call) {
	t.Helper()
	mayTrace(t)
	p := newPlace(t, map[string]string{"hello": wireScripts["hello"], "power": powerScript})
	p.set(t, "user.torture.total", objectdb.Number(0))
	// Each step is kept, and the oldest are soon dropped.
	p.set(t, "user.webserver.historyInterval", objectdb.Number(0))
	p.set(t, "user.webserver.historySize", objectdb.Number(2))
	ours := func(name string) bool {
		return strings.HasPrefix(name, "torture.") && !strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, "-lock") &&
			!strings.Contains(name, "-unsynced")
	}
	d := newDisk(t, p.dir, ours)
	calls := readTrace(t, p.traceVisitors(t, inject))
	d.apply(calls, ours)
	return d, calls
}

// cutPower cuts the power at many moments, and checks the root after each.
func (d *disk) cutPower(t *testing.T, calls []call, acks []answer) *rand.Rand {
	t.Helper()
	random := rand.New(rand.NewSource(5000))
	cuts := 150
	if os.Getenv("SCRIPTER_TORTURE") != "" {
		cuts = 1000
	}
	for i := range cuts {
		when := calls[random.Intn(len(calls))].begun
		if i%2 == 0 { // a visitor is told at that moment
			when = acks[random.Intn(len(acks))].when
		}
		if problem := d.problem(t, acks, when, i%powerCuts, random); problem != "" {
			require.Fail(t, problem, "cut %d, line %d, keeps %d", i, when, i%powerCuts)
		}
	}
	t.Logf("%d calls, %d answers, %d power cuts", len(calls), len(acks), cuts)
	return random
}

// mayTrace skips the test where processes cannot be traced: some containers do not
// let anybody.
func mayTrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
			t.Fatal("strace is not installed; make test installs it")
		}
		t.Skip("strace is not installed")
	}
	command := traceCommand(filepath.Join(t.TempDir(), "none"), "", "true")
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("the system lets nobody trace processes: %v: %s", err, out)
	}
}

// traceVisitors runs visitors who take steps, with a daemon with workers and with CGI
// programs, while copies are saved, and returns the trace. inject is the fault that
// strace injects into calls.
func (p *place) traceVisitors(t *testing.T, inject string) (trace string) {
	t.Helper()
	trace = filepath.Join(t.TempDir(), "trace")
	r := &responder{network: "unix", addr: filepath.Join(p.dir, "s")}
	daemon := fmt.Sprintf("%s --root %s --listen unix:%s --workers 2 & daemon=$!",
		p.program("scripter-fcgi"), p.root, r.addr)
	// Then the commands that come, each on a line.
	shell := daemon + `; while read -r line; do eval "$line"; done; kill $daemon; wait`
	command := traceCommand(trace, inject, "bash", "-c", shell)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	lines, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	eventually(t, func() bool {
		_, _, err := r.ask(t.Context(), "hello", "x", "")
		return err == nil
	}, "the daemon does not answer")

	var visitors sync.WaitGroup
	for i := range 4 {
		who := fmt.Sprint("visitor", i)
		visitors.Go(func() {
			for n := 1; n <= 16; n++ {
				ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
				status, body, err := r.ask(ctx, "power", who, "")
				cancel()
				if status == 503 { // rolled back, and said so: the lock was not to be had
					n--
					continue
				}
				// After a failed sync, a step that was answered 503 or 500 may have been made.
				want := fmt.Sprintf("200 acknowledged %s %d.", who, n)
				if !assert.NoError(t, err) || inject == "" && !assert.Equal(t, want, fmt.Sprint(status, " ", body)) {
					return
				}
			}
		})
	}
	for i := range 12 {
		var line strings.Builder
		fmt.Fprintf(&line, "env -i SCRIPTER_ROOT=%s SCRIPTER_RESIDENT=off", p.root)
		for name, value := range variables("power", fmt.Sprint("program", i%3), 0) {
			fmt.Fprintf(&line, " '%s=%s'", name, value)
		}
		fmt.Fprintf(&line, " %s > %s </dev/null\n", p.program("scripter-cgi"), filepath.Join(p.dir, fmt.Sprint("answer", i)))
		if i%4 == 1 {
			fmt.Fprintf(&line, "%s --root %s save > /dev/null\n", p.program("scripter"), p.root)
		}
		_, err := io.WriteString(lines, line.String())
		require.NoError(t, err)
	}
	visitors.Wait()
	require.NoError(t, lines.Close())
	select {
	case <-done:
	case <-time.After(2 * patience):
		require.Fail(t, "the programs do not end", out.String())
	}
	assert.NotRegexp(t, crashes, out.String())
	return trace
}

// answer is what a visitor was told, and when.
type answer struct {
	when int
	who  string
	step int
}

func readAnswers(calls []call) (answers []answer) {
	for _, c := range calls {
		m := acknowledged.FindSubmatch(c.data[:min(len(c.data), 1000)])
		if m != nil && c.off < 0 {
			n, _ := strconv.Atoi(string(m[2]))
			answers = append(answers, answer{c.begun, string(m[1]), n})
		}
	}
	return answers
}

// problem cuts the power at a moment, and tells what is wrong then: "" for nothing.
func (d *disk) problem(t *testing.T, answers []answer, when, keeps int, random *rand.Rand) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "cut")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	d.cut(t, dir, when, keeps, random)
	told := map[string]int{}
	for _, a := range answers {
		if a.when <= when {
			told[a.who] = max(told[a.who], a.step)
		}
	}
	path := filepath.Join(dir, "torture.root")
	copies, err := sqlitestore.Copies(path)
	require.NoError(t, err)
	for _, c := range copies {
		if problem := unsound(t, c.Path, nil); problem != "" {
			return filepath.Base(c.Path) + ": " + problem
		}
	}
	return unsound(t, path, told)
}

// unsound tells what is wrong with a root in which visitors were told of steps.
func unsound(t *testing.T, path string, told map[string]int) string {
	t.Helper()
	db, err := sqlitestore.Open(path, objectdb.Options{Relaxed: true, BusyTimeout: 2 * patience})
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	problems, err := db.Check(t.Context())
	if err != nil || len(problems) > 0 {
		return fmt.Sprint(err, problems)
	}
	var wrong []string
	var reach, last int64
	require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
		wrong = wrongSteps(t, tx, told)
		last = tx.Generation()
		reach, _, err = tx.Reach()
		return err
	}))
	// The last moments that the root remembers are whole too.
	for g := max(reach, last-10); g < last; g++ {
		inexact := false
		past := db.At(g, func(int64, int64) { inexact = true })
		require.NoError(t, past.View(t.Context(), func(tx *objectdb.Tx) error {
			if then := wrongSteps(t, tx, nil); len(then) > 0 && !inexact {
				wrong = append(wrong, fmt.Sprintf("in %d: %v", g, then))
			}
			return nil
		}))
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "; ")
}

// wrongSteps tells what is wrong with the steps that a transaction sees.
func wrongSteps(t *testing.T, tx *objectdb.Tx, told map[string]int) (wrong []string) {
	t.Helper()
	number := func(a ...string) int {
		v, err := tx.Get(append(objectdb.Address{"user", "torture"}, a...))
		if n, ok := v.(objectdb.Number); err == nil && ok {
			return int(n)
		}
		return 0
	}
	visitors, err := tx.List(objectdb.Address{"user", "torture"})
	if !errors.Is(err, objectdb.ErrNotFound) {
		require.NoError(t, err)
	}
	sum := 0
	for _, v := range visitors {
		if v.Name == "total" {
			continue
		}
		n := number(v.Name, "n")
		sum += n
		if twice := number(v.Name, "twice"); twice != 2*n {
			wrong = append(wrong, fmt.Sprintf("%s made %d steps, and twice that is %d", v.Name, n, twice))
		}
	}
	if total := number("total"); total != sum {
		wrong = append(wrong, fmt.Sprintf("%d steps were made, and %d were counted", sum, total))
	}
	for who, n := range told {
		if made := number(who, "n"); made < n {
			wrong = append(wrong, fmt.Sprintf("%s was told of step %d, and %d is there", who, n, made))
		}
	}
	return wrong
}
