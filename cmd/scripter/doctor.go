package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/probe"
	"scripter/site"
)

func (t *tool) doctorCommand() *cobra.Command {
	var url, page, protected string
	var headers []string
	c := &cobra.Command{
		Use:   "doctor --url http://www.example.com/",
		Short: "find what is wrong between the web server and the root",
		Long: `Doctor asks the real web server for scripts and pages, and says what arrives
here, what is missing, and which line of the web server's configuration to
change. Its requests carry a token, whose hash lies in the root while it works
and for five minutes at most; nothing of the site runs.

Run it on the web server's machine, as a user who may write the root. The exit
status is 1 when there is a fault, and 0 with only warnings and notes.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if url == "" {
				return usageError{hintError{errors.New("doctor wants the address of the web server"),
					"scripter doctor --url http://localhost/"}}
			}
			folder, err := protectedFolder(protected)
			if err != nil {
				return err
			}
			return t.doctor(c.Context(), url, page, folder, headers)
		},
	}
	c.Flags().StringVar(&url, "url", "", "the site's address, http or https")
	c.Flags().StringVar(&page, "page", "", "path of a page with macros, such as /welcome.mcro; else one is looked for")
	c.Flags().StringVar(&protected, "protected", "",
		"folder of URLs that needs a password, such as /members/; requested without one")
	c.Flags().StringArrayVar(&headers, "header", nil, `header field "Name: value" of all requests; may be repeated`)
	t.flag(c, "url", nothing)
	t.flag(c, "page", nothing)
	t.flag(c, "protected", nothing)
	t.flag(c, "header", nothing)
	return c
}

// The states of a finding.
const (
	stateOK      = "ok"
	stateNote    = "note" // for information only
	stateWarning = "warning"
	stateFault   = "fault"
)

// finding is the outcome of one check.
type finding struct {
	State  string   `json:"state"`
	Check  string   `json:"check"`
	Reason string   `json:"reason"`
	Change []string `json:"change,omitempty"` // lines for the web server's configuration, or commands
}

// doctor is one run of the command.
type doctor struct {
	ask  *asker
	root string // file of the root
	page string // path of a page with macros; "" = none is known

	setName   string // user.webserver.serverName
	setFolder string // user.webserver.websiteFolderPath
	maxBody   int64  // bytes
	protected protection
	history   []site.HistoryRow

	shown  string // what the web server calls itself
	fcgid  bool   // /server-status speaks of mod_fcgid
	server string // apache, nginx, lighttpd, caddy, scripter; "" = another one
	way    string // cgi, nph, fcgid, proxy-fcgi, fastcgi, fcgiwrap; "" = not known
	reply  *probe.Reply
	works  string   // a path that reaches Scripter; "" = none does
	pages  []string // the paths of pages that were found

	findings []finding
}

func (d *doctor) add(state, check, reason string, change ...string) {
	d.findings = append(d.findings, finding{state, check, reason, change})
}

func (d *doctor) ok(check, format string, args ...any) {
	d.add(stateOK, check, fmt.Sprintf(format, args...))
}

// fault adds a fault, with the change for this web server.
func (d *doctor) fault(check, format string, args ...any) {
	d.add(stateFault, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (d *doctor) note(check, format string, args ...any) {
	d.add(stateNote, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (d *doctor) warn(check, format string, args ...any) {
	d.add(stateWarning, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (t *tool) doctor(ctx context.Context, url, page, protected string, headers []string) error {
	a, err := newAsker(url, headers)
	if err != nil {
		return err
	}
	d := &doctor{ask: a, root: t.rootFile(), page: page, protected: protection{path: protected}}
	err = t.update(ctx, func(tx *objectdb.Tx) error {
		d.readSettings(tx)
		if err := d.readProtection(tx); err != nil {
			return err
		}
		var err error
		if d.history, err = site.ReadHistoryRows(tx); err != nil {
			return err
		}
		a.token, err = probe.NewToken(tx, time.Now())
		return err
	})
	if errors.Is(err, objectdb.ErrReadOnly) {
		return hintError{err,
			"doctor leaves a token in the root; run it as a user who may write it, such as the root's owner: sudo -u …"}
	}
	if err != nil {
		return err
	}
	d.examine(ctx)
	err = t.update(context.WithoutCancel(ctx), func(tx *objectdb.Tx) error { return probe.RemoveToken(tx, a.token) })
	if err := errors.Join(ctx.Err(), err); err != nil {
		return err
	}
	return t.printFindings(d)
}

// readSettings reads the settings that the checks compare with.
func (d *doctor) readSettings(tx *objectdb.Tx) {
	for _, s := range site.Settings {
		v := s.Default
		if set, err := tx.Get(s.Address()); err == nil && set.Kind() == v.Kind() {
			v = set
		}
		switch s.Name {
		case "serverName":
			d.setName = valueText(v)
		case "websiteFolderPath":
			d.setFolder = valueText(v)
		case "maxBody":
			d.maxBody = int64(v.(objectdb.Number) * (1 << 20))
		}
	}
}

// examine makes all checks. Those that others depend on come first.
func (d *doctor) examine(ctx context.Context) {
	if !d.checkName(ctx) {
		return // no server answers
	}
	d.checkScripter(ctx)
	d.checkMacro(ctx)
	d.checkIndex(ctx)
	if d.works != "" {
		d.checkVariables(ctx)
		d.checkFields(ctx)
		d.checkBody(ctx)
		if !d.found("second answer") { // which would be seen again in each of these
			d.checkPieces(ctx)
			d.checkHead(ctx)
		}
		d.checkAnswers(ctx)
		d.checkRights()
		d.checkListed()
	}
	d.checkDirect(ctx)
	d.checkPublic(ctx)
	d.checkSource(ctx)
	d.checkNotUTF8(ctx)
	d.checkFolders(ctx)
	d.checkPurge(ctx)
	d.checkProtected(ctx)
	d.checkHistory()
}

func (t *tool) printFindings(d *doctor) error {
	faults, warnings := 0, 0
	for _, f := range d.findings {
		switch f.State {
		case stateFault:
			faults++
		case stateWarning:
			warnings++
		}
	}
	if t.json {
		err := t.printJSON(map[string]any{
			"url": d.ask.base.String(), "server": d.server, "way": d.way, "name": d.shown,
			"faults": faults, "warnings": warnings, "checks": d.findings,
		})
		if err != nil {
			return err
		}
	} else {
		for _, f := range d.findings {
			fmt.Fprintf(t.out, "%-7s  %-14s %s\n", f.State, f.Check, f.Reason)
			for _, line := range f.Change {
				fmt.Fprintf(t.out, "%-7s  %-14s %s\n", "", "  change:", line)
			}
		}
	}
	if faults > 0 {
		return fmt.Errorf("%s: %s, %s", d.ask.base, counted(faults, "fault"), counted(warnings, "warning"))
	}
	return nil
}

// change returns the lines to change for a check: those for the way in which the web
// server calls Scripter, else those for the web server, else those for all.
func (d *doctor) change(check string) []string {
	keys := []string{check + " " + d.server + "-" + d.way, check + " " + d.server, check}
	switch check {
	case "extra path", "arguments", "letters":
		keys = append(keys, "pattern "+d.server)
	}
	for _, key := range keys {
		if text, ok := changes[key]; ok {
			return strings.Split(text, "\n")
		}
	}
	return nil
}
