package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/requestlog"
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
				r, err := which.find(tx)
				if err != nil {
					return err
				}
				if t.json {
					return t.printJSON(jsonRequest(r, true))
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

// recordedName names a recorded request: by its number, 0 for the last one, or by its incident
// number.
type recordedName struct {
	number   int
	incident string
}

// recordedFrom returns the recorded request that args name; without args, the last one.
func recordedFrom(args []string) (recordedName, error) {
	if len(args) == 0 {
		return recordedName{}, nil
	}
	n, err := strconv.Atoi(args[0])
	incident := strings.ToLower(args[0])
	switch {
	case gateway.IsIncident(incident):
		return recordedName{n, incident}, nil
	case err != nil || n < 1:
		err := fmt.Errorf("%q is neither the number of a recorded request nor an incident number", args[0])
		return recordedName{}, usageError{err}
	}
	return recordedName{number: n}, nil
}

func (n recordedName) find(tx *objectdb.Tx) (*requestlog.Request, error) {
	if n.incident == "" {
		r, err := requestlog.Find(tx, n.number)
		return r, notRecordedHint(err, debugHint)
	}
	r, err := requestlog.FindIncident(tx, n.incident)
	if err != nil && n.number > 0 { // digits only
		if r, err := requestlog.Find(tx, n.number); err == nil {
			return r, nil
		}
	}
	const hint = "the log of the program that answered says what failed, in a line with id=%s; %s"
	return r, notRecordedHint(err, fmt.Sprintf(hint, n.incident, debugHint))
}

const debugHint = `"scripter settings flDebug true" records requests from now on, "scripter requests" lists them`

func notRecordedHint(err error, hint string) error {
	if errors.Is(err, requestlog.ErrNotFound) {
		return hintError{err, hint}
	}
	return err
}

func (t *tool) listRequests(tx *objectdb.Tx) error {
	list, err := requestlog.All(tx)
	if err != nil {
		return err
	}
	if t.json {
		objects := []any{}
		for _, r := range list {
			objects = append(objects, jsonRequest(r, false))
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
			status, ms = strconv.Itoa(r.Answer.Status), fmt.Sprintf("%.1f", milliseconds(r))
		}
		rows = append(rows, []string{
			strconv.Itoa(r.Number), recordedTime(r), status, ms, r.Incident, firstLine(r.Line(), 120),
		})
	}
	return t.columns(rows)
}

func recordedTime(r *requestlog.Request) string { return r.Time.UTC().Format("2006-01-02 15:04:05") }

func milliseconds(r *requestlog.Request) float64 {
	return float64(r.Duration) / float64(time.Millisecond)
}

func (t *tool) showRequest(r *requestlog.Request) {
	p := func(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }
	p("request %d, %s UTC\n%s\n", r.Number, recordedTime(r), r.Line())
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
	if r.Answer == nil {
		p("\nno answer is known: it was not finished when the root was read, or the program was killed\n")
		return
	}
	p("\nanswered with status %d in %.1f ms", r.Answer.Status, milliseconds(r))
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

func endLine(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }

// jsonRequest returns what --json prints of a recorded request.
func jsonRequest(r *requestlog.Request, whole bool) map[string]any {
	m := map[string]any{
		"number": r.Number, "time": r.Time.UTC(), "request": r.Line(), "masked": append([]string{}, r.Masked...),
	}
	if a := r.Answer; a != nil {
		m["status"], m["milliseconds"] = a.Status, milliseconds(r)
	}
	if r.Incident != "" {
		m["incident"] = r.Incident
	}
	if !whole {
		return m
	}
	m["generation"] = r.Generation
	m["variables"], m["body"], m["bodySize"], m["cut"] = r.Variables, r.Body, r.BodySize, append([]string{}, r.Cut...)
	if r.Error != "" {
		m["error"] = r.Error
	}
	if a := r.Answer; a != nil {
		m["response"] = jsonAnswer(a)
	}
	return m
}

func jsonAnswer(a *requestlog.Answer) map[string]any {
	m := map[string]any{"status": a.Status, "head": a.Head, "size": a.Size}
	if a.Whole() {
		m["body"] = a.Body
	} else {
		m["sha256"] = a.SHA256
	}
	return m
}
