package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/valuetext"
)

func (t *tool) requestsCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "requests [N | INCIDENT]",
		Short: "list the requests that Debugging has recorded, or show one",
		Long: `Requests lists the requests that Debugging has recorded, the last one at the end:
number, time (UTC), status, milliseconds, incident, method and URL. With the
number N, or the incident number that a visitor saw, it shows one in full.

With --save-test it makes a test of the request, which "scripter test" runs: a
script that makes the request again and expects the recorded answer. NAME is an
address, or the name of a script in suites.tests. Secrets are masked in it.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(recordedNumbers),
		RunE: func(c *cobra.Command, args []string) error {
			if name != "" {
				return t.saveTest(c, args, name)
			}
			if len(args) == 0 {
				return t.view(c.Context(), t.listRequests)
			}
			which, err := recordedFrom(args)
			if err != nil {
				return err
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error {
				r, err := findRecorded(tx, which)
				if err != nil {
					return err
				}
				if t.json {
					return t.printJSON(r.Fields(true))
				}
				t.showRequest(r)
				return nil
			})
		},
	}
	c.Flags().StringVar(&name, "save-test", "", "make a test of the request, with this NAME")
	t.flag(c, "save-test", nothing)
	return c
}

// recordedFrom returns the recorded request that args name; without args, the last one.
func recordedFrom(args []string) (n requestlog.Name, err error) {
	if len(args) == 0 {
		return n, nil
	}
	if n, err = requestlog.ParseName(args[0]); err != nil {
		return n, usageError{err}
	}
	return n, nil
}

// findRecorded returns a recorded request.
func findRecorded(tx *objectdb.Tx, n requestlog.Name) (*requestlog.Request, error) {
	r, err := n.Find(tx)
	switch {
	case !errors.Is(err, requestlog.ErrNotFound):
		return r, err
	case n.Incident == "":
		return nil, hintError{err, debugHint}
	}
	const hint = "the log of the program that answered says what failed, in a line with id=%s; %s"
	return nil, hintError{err, fmt.Sprintf(hint, n.Incident, debugHint)}
}

const debugHint = `"scripter settings flDebug true" records requests from now on, "scripter requests" lists them`

func (t *tool) listRequests(tx *objectdb.Tx) error {
	list, err := requestlog.All(tx)
	if err != nil {
		return err
	}
	if t.json {
		objects := []any{}
		for _, r := range list {
			objects = append(objects, r.Fields(false))
		}
		return t.printJSON(objects)
	}
	if len(list) == 0 {
		fmt.Fprintln(t.out, `no requests are recorded; "scripter settings flDebug true" records requests from now on`)
		return nil
	}
	var rows [][]string
	for _, r := range list {
		status, ms := "", ""
		if r.Answer != nil {
			status, ms = strconv.Itoa(r.Answer.Status), fmt.Sprintf("%.1f", r.Milliseconds())
		}
		rows = append(rows, []string{
			strconv.Itoa(r.Number), valuetext.Time(r.Time), status, ms, r.Incident, firstLine(r.Line(), 120),
		})
	}
	return t.columns(rows)
}

func (t *tool) showRequest(r *requestlog.Request) {
	p := func(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }
	p("request %d, %s UTC\n%s\n", r.Number, valuetext.Time(r.Time), r.Line())
	if len(r.Masked) > 0 {
		p("masked: %s\n", strings.Join(r.Masked, ", "))
	}
	if len(r.Cut) > 0 {
		p("too long to be recorded: %s\n", strings.Join(r.Cut, ", "))
	}
	p("\n")
	for _, name := range slices.Sorted(maps.Keys(r.Variables)) {
		p("%s=%s\n", name, r.Variables[name])
	}
	if r.Body != "" {
		p("\nbody, %d bytes:\n%s", r.BodySize, endLine(r.Body))
	}
	t.showFetches(r.Fetches)
	t.showReads(r.Reads)
	if r.Answer == nil {
		p("\nno answer is known: it was not finished when the root was read, or the program was killed\n")
		return
	}
	p("\nanswered with status %d in %.1f ms", r.Answer.Status, r.Milliseconds())
	if r.Incident != "" {
		p(", incident %s", r.Incident)
	}
	p("\n")
	if r.Error != "" {
		p("%s", endLine(r.Error))
	}
	p("\n%s\n", endLine(r.Answer.Head))
	switch {
	case !r.Answer.Whole():
		p("(a body of %d bytes, SHA-256 %s)\n", r.Answer.Size, r.Answer.SHA256)
	case r.Answer.Body != "":
		p("%s", endLine(r.Answer.Body))
	}
}

// showFetches prints what a request has asked other hosts.
func (t *tool) showFetches(list []requestlog.Fetch) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(t.out, "\nfetched:\n")
	for _, f := range list {
		fmt.Fprintln(t.out, f)
	}
}

// showReads prints what a request has read, if that is known.
func (t *tool) showReads(r *requestlog.Reads) {
	if r == nil {
		return
	}
	p := func(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }
	p("\nread in the root:\n")
	for _, a := range r.Values {
		p("%s\n", a)
	}
	for _, a := range r.Tables {
		p("%s (the names in the table)\n", cmp.Or(a.String(), "the root"))
	}
	if r.More > 0 {
		p("and %d objects more\n", r.More)
	}
	if len(r.Values)+len(r.Tables)+r.More == 0 {
		p("nothing\n")
	}
}

func endLine(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }
