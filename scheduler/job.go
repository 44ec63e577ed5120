package scheduler

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// A Job is a script that an agent has claimed: of a row of the outbox, or of the schedule.
type Job struct {
	By   string `json:"by"`             // the agent
	Key  string `json:"key,omitempty"`  // of the row
	Name string `json:"name,omitempty"` // of the schedule
	// Due and Began are those of the Run of a schedule.
	Due   int64 `json:"due,omitempty"`
	Began int64 `json:"began,omitempty"`
}

// A Result says how a job went.
type Result struct {
	Err    string `json:"err,omitempty"`    // "" = the script has ended and its changes are committed
	Detail string `json:"detail,omitempty"` // the error with the line of the script, for the log
	Lost   bool   `json:"lost,omitempty"`   // the job was not the agent's any more; nothing was changed
	Text   string `json:"text,omitempty"`   // what the script has written and returned, clipped
}

// maxText is how much of the output of a script is kept, in bytes.
const maxText = 500

// optimistic is how often a job that has lost a race begins again without holding the writer's lock. A script
// that holds it has two seconds, which is little for a report.
const optimistic = 4

var errAgain = errors.New("begin again")

// RunJob runs a job in this process. The script and the note that it has run are one transaction. describe
// makes the Detail of an error.
func RunJob(ctx context.Context, r *runner.Runner, db *objectdb.DB, j Job, describe func(error) string) Result {
	what, err := readJob(ctx, db, j)
	text := ""
	for n := 1; err == nil; n++ {
		o := runner.Options{Origin: what.origin, MaxTime: site.MaxScheduledTime}
		if n < optimistic {
			o.Prepare = func(run *runner.Run) error {
				if run.Again && !run.HasAsked() {
					return errAgain
				}
				return nil
			}
		}
		text, err = r.CallWith(ctx, o, what.script, runner.With{Args: what.args, Names: what.names, Then: what.done})
		if !errors.Is(err, errAgain) {
			break
		}
		err = nil
	}
	if len(text) > maxText {
		text = text[:maxText]
	}
	result := Result{Text: strings.ToValidUTF8(text, ""), Lost: errors.Is(err, outbox.ErrLost)}
	if err != nil {
		result.Err, result.Detail = err.Error(), err.Error()
		if describe != nil {
			result.Detail = describe(err)
		}
	}
	return result
}

// job is what is run for a Job.
type job struct {
	script objectdb.Address
	args   []script.Value
	names  map[string]script.Value
	origin objectdb.Origin
	// done notes in the transaction of the script that it has run.
	done func(run *runner.Run, text string) error
}

// readJob reads what is to be run.
func readJob(ctx context.Context, db *objectdb.DB, j Job) (w *job, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) (err error) {
		w = &job{}
		about := script.NewTable()
		var args objectdb.List
		if j.Key != "" {
			cells, err := outbox.Content(tx, j.Key)
			if err != nil {
				return err
			}
			if cells == nil {
				return outbox.ErrLost
			}
			if w.script, args, err = outbox.ReadScript(cells); err != nil {
				return err
			}
			w.origin = objectdb.Origin{Why: "later", Path: w.script.String()}
			w.done = func(run *runner.Run, _ string) error {
				return outbox.Delivered(run.Tx, j.Key, j.By, run.Now())
			}
			about.Set("key", j.Key)
		} else {
			e, err := findEntry(tx, j.Name)
			if err != nil {
				return err
			}
			if e.Err != nil {
				return e.Err
			}
			w.script, args = e.Script, e.Args
			w.origin = objectdb.Origin{Why: "schedule", Path: e.Name}
			w.done = func(run *runner.Run, text string) error {
				return finish(run.Tx, e.Name, j.By, j.Began, func(r *Run) {
					r.Result, r.Text, r.Took = RunOK, text, run.Now().UnixMilli()-j.Began
				})
			}
			about.Set("name", e.Name)
			about.Set("due", objectdb.Date{Time: time.UnixMilli(j.Due).UTC()})
		}
		for _, v := range args {
			w.args = append(w.args, v)
		}
		w.names = map[string]script.Value{"job": about}
		return nil
	})
	return w, err
}

const (
	// killAfter is how much longer than its limit a process may take: it opens the root, waits for others
	// to commit, and ends.
	killAfter = 20 * time.Second
	// memoryMargin is how much memory a process may have beside what the limit of its scripts allows.
	memoryMargin = 256 << 20
	watchMemory  = 200 * time.Millisecond
)

// Processes returns a function for [Options.Run] that runs each job in a process of its own, which command
// makes: so a script that kills its process harms neither the agent nor other scripts. The process reads the
// job from its standard input and calls [ServeJob].
func Processes(command func() *exec.Cmd) func(context.Context, Job, Limits) Result {
	return func(ctx context.Context, j Job, limits Limits) Result {
		r, err := runProcess(ctx, command(), j, limits)
		if err != nil {
			return Result{Err: err.Error(), Detail: err.Error()}
		}
		return r
	}
}

func runProcess(ctx context.Context, c *exec.Cmd, j Job, limits Limits) (r Result, err error) {
	in, err := json.Marshal(j)
	if err != nil {
		return r, err
	}
	limit, memory := limits.Time+killAfter, limits.Memory+memoryMargin
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was killed: it took more than %v", limit))
	defer cancel()
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(in), &out, &errs
	if err := c.Start(); err != nil {
		return r, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	ticks := time.NewTicker(watchMemory)
	defer ticks.Stop()
	var killed error
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = json.Unmarshal(out.Bytes(), &r)
			}
			if err != nil {
				err = fmt.Errorf("its process ended: %w%s", cmp.Or(killed, err), lastLine(errs.String()))
			}
			return r, err
		case <-ctx.Done():
			killed = cmp.Or(killed, context.Cause(ctx))
			c.Process.Kill()
			ticks.Stop()
			err := <-ended
			return r, fmt.Errorf("its process ended: %w", cmp.Or(killed, err))
		case <-ticks.C:
			if killed == nil && memoryOf(c.Process.Pid) > memory {
				killed = fmt.Errorf("it was killed: it had more than %d MB of memory", memory>>20)
				c.Process.Kill()
			}
		}
	}
}

// lastLine returns the last line of a text after a colon, or "".
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] == "" {
		return ""
	}
	return ": " + strings.ToValidUTF8(lines[0][:min(len(lines[0]), 200)], "")
}

// memoryOf returns the memory of a process in bytes, 0 where it is not known.
func memoryOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// InProcess returns a function for [Options.Run] that runs each job in this process.
func InProcess(
	r *runner.Runner, db *objectdb.DB, describe func(error) string,
) func(context.Context, Job, Limits) Result {
	return func(ctx context.Context, j Job, _ Limits) Result { return RunJob(ctx, r, db, j, describe) }
}

// ServeJob runs the job that a process of [Processes] reads, and writes its result.
func ServeJob(
	ctx context.Context, in io.Reader, out io.Writer, r *runner.Runner, db *objectdb.DB, describe func(error) string,
) error {
	var j Job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	return json.NewEncoder(out).Encode(RunJob(ctx, r, db, j, describe))
}

// runLater runs the script of a row.
func (a *Agent) runLater(ctx context.Context, r outbox.Row, limits Limits) error {
	result := a.o.Run(ctx, Job{By: a.name, Key: r.Key}, limits)
	switch {
	case result.Lost:
		return outbox.ErrLost
	case result.Err != "":
		a.o.Log.Error("script failed", "key", r.Key, "addr", r.To, "err", result.Detail)
		return errors.New(result.Err)
	}
	return nil
}
