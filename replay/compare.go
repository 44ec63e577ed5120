package replay

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"scripter/history"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/textdiff"
)

// Difference is what differs between two answers to a request: lines with "-" before those of the
// first and "+" before those of the second.
type Difference struct {
	Then, Now *requestlog.Answer
	Head      []string // without Content-Length
	Body      []string // or the size and checksum of a long body
	Written   []string // in the root
}

// IsEmpty reports whether nothing differs.
func (d *Difference) IsEmpty() bool { return len(d.Head)+len(d.Body)+len(d.Written) == 0 }

// Compare runs a recorded request on the root as it was and on today's, and compares the answers
// and what the runs have written. With recorded it compares one run, as the options say it, with
// the recorded answer; it is not known what was written for that.
func Compare(ctx context.Context, r *requestlog.Request, recorded bool, o Options) (*Difference, error) {
	if recorded && r.Answer == nil {
		return nil, fmt.Errorf("the answer of request %d is not known", r.Number)
	}
	before := &Result{Answer: r.Answer}
	var err error
	if !recorded {
		o.Then = true
		if before, err = inspected(ctx, r, o); err != nil {
			return nil, err
		}
		o.Then = false
	}
	after, err := inspected(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if recorded {
		before.written = after.written
	}
	return difference(before, after), nil
}

// inspected runs a request and notes what it writes. Errors are shown as in the recorded answer.
func inspected(ctx context.Context, r *requestlog.Request, o Options) (*Result, error) {
	written := ""
	o.Replay.Developer = false
	o.Replay.Inspect = func(tx *objectdb.Tx) (err error) {
		written, err = history.Pending(tx)
		return err
	}
	run, err := Run(ctx, r, io.Discard, o)
	run.written = written
	return run, err
}

func difference(before, after *Result) *Difference {
	d := &Difference{Then: before.Answer, Now: after.Answer, Body: []string{}}
	d.Head = changedLines(withoutLength(d.Then.Head), withoutLength(d.Now.Head))
	switch {
	case d.Then.Whole() && d.Now.Whole():
		d.Body = changedLines(d.Then.Body, d.Now.Body)
	case d.Then.Size != d.Now.Size || d.Then.SHA256 != d.Now.SHA256:
		d.Body = []string{bodyLine("-", d.Then), bodyLine("+", d.Now)}
	}
	d.Written = changedLines(before.written, after.written)
	return d
}

// changedLines returns the lines that differ between two texts.
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

func bodyLine(sign string, a *requestlog.Answer) string {
	if a.Whole() {
		return fmt.Sprintf("%s(a body of %d bytes)", sign, a.Size)
	}
	return fmt.Sprintf("%s(a body of %d bytes, SHA-256 %s)", sign, a.Size, a.SHA256)
}
