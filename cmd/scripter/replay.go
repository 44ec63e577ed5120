package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/history"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/textdiff"
	"scripter/valuetext"
)

// replay is one run of "scripter replay".
type replay struct {
	then, now     bool
	commit, diff  bool
	fields, datas []string
	variableFlags
}

func (t *tool) replayCommand() *cobra.Command {
	var f replay
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

func (t *tool) replay(ctx context.Context, which requestlog.Name, f replay) error {
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
	if f.diff {
		return t.replayDiff(ctx, db, r, f)
	}
	var response strings.Builder
	w := t.raw()
	if t.json {
		w = &response
	}
	run, err := t.replayOn(ctx, db, r, f, f.then, w)
	if err != nil {
		return err
	}
	if t.json {
		if err := t.printJSON(map[string]any{"number": r.Number, "status": run.out.Status,
			"response": response.String(), "masked": append([]string{}, r.Masked...)}); err != nil {
			return err
		}
	}
	if run.out.Status >= 500 || run.out.Broken {
		return fmt.Errorf("request %d was answered with status %d", r.Number, run.out.Status)
	}
	return nil
}

// replayed is one run of a recorded request.
type replayed struct {
	out     gateway.Outcome
	answer  *requestlog.Answer
	written string // what it has written in the root: one or more lines for each object
}

// replayOn runs a recorded request on today's root, or on the root as it was. The response goes to w.
func (t *tool) replayOn(
	ctx context.Context, db *objectdb.DB, r *requestlog.Request, f replay, then bool, w io.Writer,
) (run replayed, err error) {
	if then {
		generation, err := seenBy(ctx, db, r)
		if err != nil {
			return run, err
		}
		p := history.NewPast(db, generation)
		defer t.tellOf(ctx, p)
		db = p.DB
	}
	log := t.log(slog.LevelWarn)
	if then && f.diff { // that the request failed at that time is known
		log = nil
	}
	g, err := t.gateway(db, log)
	if err != nil {
		return run, err
	}
	defer t.tellOfFiles(g)
	o := gateway.ReplayOptions{Commit: f.commit, Developer: !f.diff}
	given := slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(p, "DOCUMENT_ROOT=") })
	if given || !f.commit {
		// No script sees the response of a run that keeps nothing.
		o.DocumentRoot = r.Variables["DOCUMENT_ROOT"]
	}
	if f.diff {
		o.Inspect = func(tx *objectdb.Tx) (err error) {
			run.written, err = history.Pending(tx)
			return err
		}
	}
	request := *r // a run changes its variables
	request.Variables = maps.Clone(r.Variables)
	run.out, run.answer = g.Replay(ctx, &request, w, o)
	if run.out.Status == 0 {
		return run, fmt.Errorf("request %d was not answered: %w", r.Number, run.out.Err)
	}
	return run, nil
}

// seenBy returns the generation of the root that a recorded request has seen.
func seenBy(ctx context.Context, db *objectdb.DB, r *requestlog.Request) (generation int64, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		if generation = r.Generation; generation > 0 {
			return history.IsRemembered(tx, generation)
		}
		generation, err = history.GenerationAt(tx, r.Time, valuetext.Time(r.Time))
		return err
	})
	return generation, err
}

// replayDiff prints what differs between two runs of a recorded request, or between a run and
// the recorded answer, and fails when something does.
func (t *tool) replayDiff(ctx context.Context, db *objectdb.DB, r *requestlog.Request, f replay) error {
	recorded := f.then || f.now
	if recorded && r.Answer == nil {
		return fmt.Errorf("the answer of request %d is not known", r.Number)
	}
	before := replayed{answer: r.Answer}
	var err error
	if !recorded {
		if before, err = t.replayOn(ctx, db, r, f, true, io.Discard); err != nil {
			return err
		}
	}
	after, err := t.replayOn(ctx, db, r, f, f.then, io.Discard)
	if err != nil {
		return err
	}
	if recorded {
		before.written = after.written // it is not recorded what the request has written
	}
	return t.printDiff(r, before, after)
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
func (f *replay) complete(r *requestlog.Request, stdin io.Reader) error {
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

// printDiff prints what differs between two runs, and fails when something does.
func (t *tool) printDiff(r *requestlog.Request, before, after replayed) error {
	then, now := before.answer, after.answer
	head := changedLines(withoutLength(then.Head), withoutLength(now.Head))
	body := []string{}
	switch {
	case then.Whole() && now.Whole():
		body = changedLines(then.Body, now.Body)
	case then.Size != now.Size || then.SHA256 != now.SHA256:
		body = []string{bodyLine("-", then), bodyLine("+", now)}
	}
	written := changedLines(before.written, after.written)
	if t.json {
		if err := t.printJSON(map[string]any{
			"number": r.Number, "same": len(head)+len(body)+len(written) == 0,
			"head": head, "body": body, "written": written, "then": then.Fields(), "now": now.Fields(),
		}); err != nil {
			return err
		}
	} else {
		if len(head)+len(body) > 0 {
			t.printDifference(strings.Join(append(head, body...), "\n"))
		}
		if len(written) > 0 {
			fmt.Fprintln(t.out, "written in the root:")
			t.printDifference(strings.Join(written, "\n"))
		}
	}
	if len(head)+len(body)+len(written) > 0 {
		return fmt.Errorf("the answer to request %d is not that of %s", r.Number, valuetext.Time(r.Time))
	}
	if !t.json {
		fmt.Fprintf(t.out, "request %d: the answer is the same\n", r.Number)
	}
	return nil
}

// changedLines returns the lines that differ between two texts, with "-" before those of the
// first and "+" before those of the second.
func changedLines(then, now string) []string {
	lines := []string{}
	end := strings.HasSuffix(then, "\n") != strings.HasSuffix(now, "\n")
	for _, h := range textdiff.Hunks(then, now, 0) {
		for _, line := range h.Lines {
			text, whole := strings.CutSuffix(line.Text, "\n")
			lines = append(lines, string(rune(line.Op))+text)
			if end && !whole {
				lines = append(lines, textdiff.NoNewline)
			}
		}
	}
	return lines
}

// withoutLength takes Content-Length off: bodies are compared themselves, and
// a masked one has another length.
func withoutLength(head string) string {
	lines := strings.Split(head, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(strings.ToLower(l), "content-length:")
	}), "\n")
}

func bodyLine(sign string, r *requestlog.Answer) string {
	if r.Whole() {
		return fmt.Sprintf("%s(a body of %d bytes)", sign, r.Size)
	}
	return fmt.Sprintf("%s(a body of %d bytes, SHA-256 %s)", sign, r.Size, r.SHA256)
}
