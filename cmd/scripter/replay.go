package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/replay"
	"scripter/requestlog"
	"scripter/valuetext"
)

// replayFlags are those of "scripter replay".
type replayFlags struct {
	then, now     bool
	commit, diff  bool
	fields, datas []string
	variableFlags
}

func (t *tool) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [N | INCIDENT]",
		Short: "run a recorded request again, on today's root or on the root as it was",
		Long: `Replay runs a request that Debugging has recorded again, and prints the complete
response: the last request, or number N, or that of an incident. It runs with the
present scripts and data, or with --then on the root as the request found it. Pages
are those of today's disk. The clock stands at the time of the request, and
math.random returns the same numbers. What the run changes in the root is not kept,
unless --commit is given.

With --diff it runs the request on the root as it was and on today's, and prints what
differs in the answers and in what the runs have written: old lines with "-", lines
of today with "+". With --then or --now too, it compares that run with the recorded
answer. The exit status is 1 when something differs.

What was masked has "(masked)" in its place. --param, --header and --field give
it its value again, --data the whole body.

Scripts can write recorded requests. So with --commit a page is read only below a
folder that scripter.conf lists, or that --pages or --param DOCUMENT_ROOT=FOLDER
names.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(recordedNumbers),
		RunE: func(c *cobra.Command, args []string) error {
			which, err := recordedFrom(args)
			if err != nil {
				return err
			}
			return t.replay(c.Context(), which, f)
		},
	}
	c.Flags().BoolVar(&f.commit, "commit", false, "keep what the run changes in the root")
	c.Flags().BoolVar(&f.then, "then", false, "run on the root as it was when the request came")
	c.Flags().BoolVar(&f.now, "now", false, "run on today's root, as without a flag")
	c.Flags().BoolVar(&f.diff, "diff", false, "print what differs between the runs on the root as it was and on today's")
	c.MarkFlagsMutuallyExclusive("then", "now")
	c.MarkFlagsMutuallyExclusive("then", "commit")
	c.MarkFlagsMutuallyExclusive("diff", "commit")
	f.variableFlags.add(t, c)
	c.Flags().StringArrayVar(&f.fields, "field", nil,
		"form field NAME=VALUE, in the query and the body; may be repeated")
	c.Flags().StringArrayVar(&f.datas, "data", nil, `body of the request; "@FILE" reads a file, "@-" stdin`)
	t.flag(c, "field", nothing)
	t.flag(c, "data", fileAfterAt)
	return c
}

func (t *tool) replay(ctx context.Context, which requestlog.Name, f replayFlags) error {
	o := forRequests
	if f.then {
		o = forReading
	}
	db, err := t.open(o)
	if err != nil {
		return err
	}
	defer db.Close()
	var r *requestlog.Request
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		r, err = findRecorded(tx, which)
		return err
	})
	if err != nil {
		return err
	}
	if err := f.complete(r, t.in); err != nil {
		return err
	}
	if err := r.Incomplete(); err != nil {
		return hintError{err, "--data @FILE gives it another body"}
	}
	for _, item := range r.Masked {
		t.warn("masked: %s (%s)", item, howToGive(item))
	}
	for _, item := range r.Cut {
		t.warn("too long to be recorded: %s (%s)", item, howToGive(item))
	}
	run := t.replayOptions(ctx, db, r, f)
	if f.diff {
		d, err := replay.Compare(ctx, r, f.then || f.now, run)
		if err != nil {
			return err
		}
		return t.printDiff(r, d)
	}
	var response strings.Builder
	w := t.raw()
	if t.json {
		w = &response
	}
	result, err := replay.Run(ctx, r, w, run)
	if err != nil {
		return err
	}
	out := result.Outcome
	if t.json {
		m := map[string]any{"number": r.Number, "status": out.Status,
			"response": response.String(), "masked": append([]string{}, r.Masked...)}
		result.Reads.AddTo(m)
		if err := t.printJSON(m); err != nil {
			return err
		}
	}
	if out.Status >= 500 || out.Broken {
		return fmt.Errorf("request %d was answered with status %d", r.Number, out.Status)
	}
	return nil
}

// replayOptions returns what the flags say. After each run it tells what is not as it was.
func (t *tool) replayOptions(
	ctx context.Context, db *objectdb.DB, r *requestlog.Request, f replayFlags,
) replay.Options {
	o := replay.Options{DB: db, Then: f.then, Replay: gateway.ReplayOptions{Commit: f.commit, Developer: true}}
	given := slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(p, "DOCUMENT_ROOT=") })
	if given || !f.commit {
		// No script sees the response of a run that keeps nothing.
		o.Replay.DocumentRoot = r.Variables["DOCUMENT_ROOT"]
	}
	o.Gateway = func(db *objectdb.DB) (*gateway.Gateway, error) {
		log := t.log(slog.LevelWarn)
		if f.diff && db.IsPast() { // that the request failed at that time is known
			log = nil
		}
		return t.gateway(db, log)
	}
	o.Ended = func(run *replay.Result) {
		if run.Gateway != nil {
			t.tellOfFiles(run.Gateway)
		}
		if run.Past != nil {
			t.tellOf(ctx, run.Past)
		}
	}
	return o
}

func howToGive(item string) string {
	if name, ok := strings.CutPrefix(item, "field "); ok {
		return fmt.Sprintf("--field '%s=…' gives it", name)
	}
	if name, ok := strings.CutPrefix(item, "HTTP_"); ok {
		return fmt.Sprintf("--header '%s: …' gives it", strings.ReplaceAll(strings.ToLower(name), "_", "-"))
	}
	return fmt.Sprintf("--param '%s=…' gives it", item)
}

// complete puts the values of the command line into a recorded request.
func (f *replayFlags) complete(r *requestlog.Request, stdin io.Reader) error {
	if err := f.each(r.SetVariable); err != nil {
		return err
	}
	if len(f.datas) > 1 {
		return usageError{errors.New("--data is given more than once")}
	}
	for _, d := range f.datas {
		body, err := readData(d, stdin)
		if err != nil {
			return err
		}
		r.SetBody(string(body))
	}
	values := map[string][]string{}
	var names []string
	for _, v := range f.fields {
		name, value, ok := strings.Cut(v, "=")
		if !ok {
			return usageError{fmt.Errorf("--field %q is not NAME=VALUE", v)}
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	for _, name := range names {
		if err := r.SetField(name, values[name]...); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// printDiff prints what differs between two answers, and fails when something does.
func (t *tool) printDiff(r *requestlog.Request, d *replay.Difference) error {
	if t.json {
		if err := t.printJSON(map[string]any{
			"number": r.Number, "same": d.IsEmpty(),
			"head": d.Head, "body": d.Body, "written": d.Written, "then": d.Then.Fields(), "now": d.Now.Fields(),
		}); err != nil {
			return err
		}
	} else {
		if len(d.Head)+len(d.Body) > 0 {
			t.printDifference(strings.Join(slices.Concat(d.Head, d.Body), "\n"))
		}
		if len(d.Written) > 0 {
			fmt.Fprintln(t.out, "written in the root:")
			t.printDifference(strings.Join(d.Written, "\n"))
		}
	}
	if !d.IsEmpty() {
		return fmt.Errorf("the answer to request %d is not that of %s", r.Number, valuetext.Time(r.Time))
	}
	if !t.json {
		fmt.Fprintf(t.out, "request %d: the answer is the same\n", r.Number)
	}
	return nil
}
