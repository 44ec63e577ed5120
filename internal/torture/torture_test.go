package torture

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// tortureScripts are what ordinary visitors ask for.
var tortureScripts = map[string]string{
	"hello": wireScripts["hello"],
	// One step of a visitor's own counter, of a total that all share, and of
	// values that must always agree with them.
	"step": `
local who = (...).httpSearchArgs
local t = scratchpad.torture
if not t [who] then
	t [who] = {n = 0, twice = 0}
end
local mine = t [who]
mine.n = mine.n + 1
t.total = t.total + 1
mine.twice = mine.n * 2
records.add (scratchpad.steps, {who = who, n = mine.n})
if mine.n % 20 == 1 then
	after (0, suites.webserverScripts.later, who, mine.n)
end
local visits = 0
if (...).headers ["x-session"] then
	session.visits = (session.visits or 0) + 1
	visits = session.visits
end
return who .. " " .. mine.n .. " " .. visits`,
	// What a step leaves for later. It runs once for each step that asks for it.
	"later": `
local who, n = ...
local key = who .. " " .. n
scratchpad.later [key] = (scratchpad.later [key] or 0) + 1`,
	// What the schedule runs: once for each time when it is due.
	"tick": `
local due = date.rfc3339 (job.due)
scratchpad.ticks [due] = (scratchpad.ticks [due] or 0) + 1`,
	// Looks at all of them in one state.
	"look": `
local t, sum = scratchpad.torture, 0
for name, counter in odb.pairs (t) do
	if name ~= "total" then
		sum = sum + counter.n
		if counter.twice ~= counter.n * 2 then
			return "a half step of " .. name
		end
	end
end
return sum == t.total and "whole" or "sum " .. sum .. ", total " .. t.total`,
}

const (
	cgiVisitors    = 16
	daemonVisitors = 64
)

// torture is everything at work on one root.
type torture struct {
	*place
	count  counts
	daemon *daemon
	bombs  []string // names of hostile scripts
}

// TestTorture runs sixteen visitors behind CGI, sixty-four behind a daemon, the
// command line and the save agent on one root, hostile scripts among them, and
// kills the processes at random. Every step that a visitor was told of is there,
// every answer to an ordinary request is right, and the root is whole.
func TestTorture(t *testing.T) {
	lasting := 12 * time.Second
	if s := os.Getenv("SCRIPTER_TORTURE"); s != "" {
		var err error
		lasting, err = time.ParseDuration(s)
		require.NoError(t, err)
	}
	bombs := readBombs(t)
	scripts := map[string]string{}
	for name, source := range tortureScripts {
		scripts[name] = source
	}
	w := &torture{}
	for i, source := range bombs {
		name := fmt.Sprintf("bombs.bomb%d", i)
		scripts[name] = source
		w.bombs = append(w.bombs, name)
	}
	w.place = newPlace(t, scripts)
	w.set(t, "scratchpad.torture.total", objectdb.Number(0))
	for _, table := range []string{"steps", "later", "ticks"} {
		w.set(t, "scratchpad."+table+".x", objectdb.Number(0))
		w.remove(t, objectdb.Address{"scratchpad", table, "x"})
	}
	w.set(t, "user.scheduler.tick.cron", objectdb.String("* * * * *"))
	w.set(t, "user.scheduler.tick.script", objectdb.String("suites.webserverScripts.tick"))
	w.set(t, "user.webserver.maxOutbox", objectdb.Number(1000000))
	// A busy machine may take seconds over an ordinary script.
	w.set(t, "user.webserver.maxTime", objectdb.Number(60))
	w.set(t, `user.webserver.limits.["suites.webserverScripts.bombs"].maxTime`, objectdb.Number(4))
	w.set(t, "user.webserver.maxSaves", objectdb.Number(3))
	w.set(t, "user.webserver.flAutoSave", objectdb.Boolean(true))
	w.set(t, "user.webserver.saveInterval", objectdb.Number(1))
	w.daemon = newDaemon(t, w.place, &w.count)

	ctx, cancel := context.WithTimeout(t.Context(), lasting)
	defer cancel()
	var wg sync.WaitGroup
	visitors := make([]*visitor, cgiVisitors+daemonVisitors)
	for i := range visitors {
		v := &visitor{torture: w, name: fmt.Sprintf("visitor%d", i), random: rand.New(rand.NewSource(int64(i)))}
		switch {
		case i >= cgiVisitors:
			v.ask = v.byDaemon
		case i%2 == 0:
			v.ask = v.byCGI
		default:
			v.ask = v.byResident
		}
		visitors[i] = v
		wg.Go(func() { v.visit(ctx) })
	}
	operator := &visitor{torture: w, name: "operator", random: rand.New(rand.NewSource(1000))}
	operator.ask = operator.byCommand
	visitors = append(visitors, operator)
	wg.Go(func() { operator.visit(ctx) })
	wg.Go(func() { w.operate(ctx) })
	wg.Go(func() { w.saveAgain(ctx) })
	wg.Go(func() { w.attack(ctx) })
	wg.Go(func() { w.daemon.killAgain(ctx) })
	wg.Wait()
	w.daemon.stop()

	w.check(t)
	stands := w.dump(t, objectdb.Address{"scratchpad", "torture"})
	for _, v := range visitors {
		v.account(stands)
	}
	w.accountLater(t, stands)
	w.checkCopies(t)
	w.count.print(t, lasting)
	for _, fault := range w.count.faults {
		t.Error(fault)
	}
	assert.NotZero(t, w.count.get("kills of the daemon"))
	assert.NotZero(t, w.count.get("steps told"))
	assert.NotZero(t, w.count.get("hostile requests"))
	assert.Zero(t, w.count.get(wrongAnswers))
	assert.Zero(t, w.count.get(lostSteps))
}

// account holds the steps that a visitor was told of against what stands in the
// root.
func (v *visitor) account(stands map[string]string) {
	n, _ := strconv.Atoi(stands[v.name+".n"])
	v.count.add("steps told", v.told)
	v.count.add("steps made", n)
	if n < v.last {
		v.count.fault(lostSteps, "%s was told of step %d, and %d stands in the root", v.name, v.last, n)
	}
	if n > v.told+v.unknown {
		v.count.fault(wrongAnswers, "%s made %d steps and %d unknown ones, but the root has %d",
			v.name, v.told, v.unknown, n)
	}
}

// checkCopies looks at every saved copy that is finished: it is whole.
func (w *torture) checkCopies(t *testing.T) {
	copies, err := sqlitestore.Copies(w.root)
	require.NoError(t, err)
	for _, c := range copies {
		out, err := exec.Command(w.program("scripter"), "--root", c.Path, "check").CombinedOutput()
		assert.NoError(t, err, "%s: %s", filepath.Base(c.Path), out)
	}
	w.count.add("saved copies whole", len(copies))
}

// internals are what nobody but the owner may read, and what no process may
// ever say.
var (
	internals = regexp.MustCompile(`(?i)database is locked|SQLITE|goroutine \d|\.go:\d|panic`)
	crashes   = regexp.MustCompile(`(?i)database is locked|panic:|fatal error:|unexpected fault|DATA RACE`)
)

// attack has one hostile script a second run, on either transport in turn.
func (w *torture) attack(ctx context.Context) {
	random := rand.New(rand.NewSource(2000))
	var wg sync.WaitGroup
	for i := 0; sleep(ctx, time.Second); i++ {
		name := w.bombs[random.Intn(len(w.bombs))]
		wg.Go(func() {
			w.count.add("hostile requests", 1)
			long, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
			defer cancel()
			var status int
			var body string
			var err error
			if i%2 == 0 {
				status, body, err = w.daemon.current().ask(long, name, "", "")
			} else {
				status, body, err = w.cgi(long, name, "", "", alone, nil)
			}
			switch {
			case long.Err() != nil:
				w.count.fault(wrongAnswers, "the hostile script %s did not end", name)
			case err != nil:
				w.count.add("hostile scripts that ended their process, or were killed", 1)
			case status == 500 || status == 503:
				w.count.add("limits hit", 1)
			case status != 200:
				w.count.fault(wrongAnswers, "the hostile script %s got %d", name, status)
			}
			if internals.MatchString(body) {
				w.count.fault(wrongAnswers, "the hostile script %s was told %.300q", name, body)
			}
		})
	}
	wg.Wait()
}

// operate does what operators do, with a command at a time.
func (w *torture) operate(ctx context.Context) {
	for i := 0; sleep(ctx, 200*time.Millisecond); i++ {
		args := [][]string{
			{"check"}, {"ls", "scratchpad"}, {"get", "scratchpad.torture.total"}, {"settings"}, {"saves"},
			{"export", "scratchpad", filepath.Join(w.dir, "export")}, {"put", "scratchpad.operator", "x"},
		}[i%7]
		out, err := exec.Command(w.program("scripter"), append([]string{"--root", w.root}, args...)...).CombinedOutput()
		w.count.add("commands", 1)
		if err != nil && bytes.Contains(out, []byte("root is locked by another writer")) {
			w.count.add("commands whose turn did not come", 1) // where the disk is slow
			continue
		}
		if err != nil || crashes.Match(out) {
			w.count.fault(wrongAnswers, "scripter %s: %v: %.500s", strings.Join(args, " "), err, out)
		}
	}
}

// saveAgain saves copies, and kills every other command that does.
func (w *torture) saveAgain(ctx context.Context) {
	random := rand.New(rand.NewSource(3000))
	for i := 0; sleep(ctx, 300*time.Millisecond); i++ {
		cmd := exec.Command(w.program("scripter"), "--root", w.root, "save")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			w.count.fault(wrongAnswers, "scripter save: %v", err)
			return
		}
		if i%2 == 0 {
			if err := cmd.Wait(); err != nil {
				w.count.fault(wrongAnswers, "scripter save: %v: %s", err, out.String())
			}
			w.count.add("copies saved", 1)
			continue
		}
		time.Sleep(time.Duration(random.Intn(60)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		w.count.add("kills of a save", 1)
	}
}

// sleep waits, and reports whether the torture goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
