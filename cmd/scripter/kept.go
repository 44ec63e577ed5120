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
	return &cobra.Command{
		Use:   "requests [N | INCIDENT]",
		Short: "list the requests that Debugging has kept, or show one",
		Long: `Requests lists the requests that Debugging has kept, the last one at the end:
number, time (UTC), status, milliseconds, incident, method and URL. With the
number N, or the incident number that a visitor saw, it shows one in full.`,
		Args: args(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return t.view(c.Context(), t.listRequests)
			}
			which, err := keptFrom(args)
			if err != nil {
				return err
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error {
				k, err := which.find(tx)
				if err != nil {
					return err
				}
				if t.json {
					return t.printJSON(jsonKept(k, true))
				}
				t.showKept(k)
				return nil
			})
		},
	}
}

// keptName names a kept request: by its number, 0 for the last one, or by its incident
// number.
type keptName struct {
	number   int
	incident string
}

// keptFrom returns the kept request that args name; without args, the last one.
func keptFrom(args []string) (keptName, error) {
	if len(args) == 0 {
		return keptName{}, nil
	}
	n, err := strconv.Atoi(args[0])
	incident := strings.ToLower(args[0])
	switch {
	case gateway.IsIncident(incident):
		return keptName{n, incident}, nil
	case err != nil || n < 1:
		return keptName{}, usageError{fmt.Errorf("%q is neither the number of a kept request nor an incident number", args[0])}
	}
	return keptName{number: n}, nil
}

func (n keptName) find(tx *objectdb.Tx) (*requestlog.Request, error) {
	if n.incident == "" {
		k, err := requestlog.Find(tx, n.number)
		return k, keptHint(err, keepHint)
	}
	k, err := requestlog.FindIncident(tx, n.incident)
	if err != nil && n.number > 0 { // digits only
		if k, err := requestlog.Find(tx, n.number); err == nil {
			return k, nil
		}
	}
	return k, keptHint(err, fmt.Sprintf("the log of the program that answered says what failed, in a line with id=%s; %s", n.incident, keepHint))
}

const keepHint = `"scripter settings flDebug true" keeps requests from now on, "scripter requests" lists them`

func keptHint(err error, hint string) error {
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
		for _, k := range list {
			objects = append(objects, jsonKept(k, false))
		}
		return t.printJSON(objects)
	}
	if len(list) == 0 {
		fmt.Fprintln(t.out, `no requests are kept; "scripter settings flDebug true" keeps requests from now on`)
		return nil
	}
	var rows [][]string
	for _, k := range list {
		status, ms := "", ""
		if k.Answer != nil {
			status, ms = strconv.Itoa(k.Answer.Status), fmt.Sprintf("%.1f", milliseconds(k))
		}
		rows = append(rows, []string{strconv.Itoa(k.Number), keptTime(k), status, ms, k.Incident, visible(firstLine(k.Line(), 120))})
	}
	return t.columns(rows)
}

func keptTime(k *requestlog.Request) string { return k.Time.UTC().Format("2006-01-02 15:04:05") }

func milliseconds(k *requestlog.Request) float64 {
	return float64(k.Duration) / float64(time.Millisecond)
}

func (t *tool) showKept(k *requestlog.Request) {
	p := func(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }
	p("request %d, %s UTC\n%s\n", k.Number, keptTime(k), visible(k.Line()))
	if len(k.Masked) > 0 {
		p("masked: %s\n", visible(strings.Join(k.Masked, ", ")))
	}
	if len(k.Cut) > 0 {
		p("too long to be kept: %s\n", visible(strings.Join(k.Cut, ", ")))
	}
	p("\n")
	for _, name := range slices.Sorted(maps.Keys(k.Variables)) {
		p("%s=%s\n", visible(name), visible(k.Variables[name]))
	}
	if k.Body != "" {
		p("\nbody, %d bytes:\n%s", k.BodySize, endLine(visible(k.Body)))
	}
	if k.Answer == nil {
		p("\nno answer is known: it was not finished when the root was read, or the program was killed\n")
		return
	}
	p("\nanswered with status %d in %.1f ms", k.Answer.Status, milliseconds(k))
	if k.Incident != "" {
		p(", incident %s", k.Incident)
	}
	p("\n")
	if k.Error != "" {
		p("%s", endLine(visible(k.Error)))
	}
	p("\n%s\n", endLine(visible(k.Answer.Head)))
	switch {
	case !k.Answer.Whole():
		p("(a body of %d bytes, SHA-256 %s)\n", k.Answer.Size, k.Answer.SHA256)
	case k.Answer.Body != "":
		p("%s", endLine(visible(k.Answer.Body)))
	}
}

func endLine(s string) string { return strings.TrimSuffix(s, "\n") + "\n" }

// jsonKept is what --json prints of a kept request.
func jsonKept(k *requestlog.Request, whole bool) map[string]any {
	m := map[string]any{"number": k.Number, "time": k.Time.UTC(), "request": k.Line(), "masked": append([]string{}, k.Masked...)}
	if a := k.Answer; a != nil {
		m["status"], m["milliseconds"] = a.Status, milliseconds(k)
	}
	if k.Incident != "" {
		m["incident"] = k.Incident
	}
	if !whole {
		return m
	}
	m["variables"], m["body"], m["bodySize"], m["cut"] = k.Variables, k.Body, k.BodySize, append([]string{}, k.Cut...)
	if k.Error != "" {
		m["error"] = k.Error
	}
	if a := k.Answer; a != nil {
		m["response"] = jsonRecorded(a)
	}
	return m
}

func jsonRecorded(a *requestlog.Answer) map[string]any {
	m := map[string]any{"status": a.Status, "head": a.Head, "size": a.Size}
	if a.Whole() {
		m["body"] = a.Body
	} else {
		m["sha256"] = a.SHA256
	}
	return m
}
