// Package doctor finds what is wrong between a web server and a root. [Run] asks the web
// server for scripts and pages, with requests of package probe, and compares what arrives at
// Scripter and what comes back with what should. It prints nothing.
//
//	ask.go        requests, sent as bytes
//	name.go       which web server answers
//	actions.go    scripts and pages: do they reach Scripter?
//	unreached.go  why they do not
//	routes.go     URLs that are no files
//	fields.go     variables and fields of a request
//	answers.go    bodies, pieces and responses
//	exposed.go    what visitors must not see
//	protected.go  a folder that needs a password
//	background.go the outbox, mail servers
//	rights.go     files of the root, settings that name what is not listed
//	changes.go    the lines to change, for each web server
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/probe"
	"scripter/rootname"
	"scripter/site"
)

// The states of a finding.
const (
	OK      = "ok"
	Note    = "note" // for information only
	Warning = "warning"
	Fault   = "fault"
)

// Finding is the outcome of one check.
type Finding struct {
	State  string   `json:"state"`
	Check  string   `json:"check"`
	Reason string   `json:"reason"`
	Change []string `json:"change,omitempty"` // lines for the web server's configuration, or commands
}

// Report is what a run has found.
type Report struct {
	Checks   []Finding `json:"checks"`
	Faults   int       `json:"faults"`   // the number of findings with this state
	Name     string    `json:"name"`     // what the web server calls itself
	Server   string    `json:"server"`   // apache, nginx, lighttpd, caddy, scripter; "" = another one
	URL      string    `json:"url"`      // the address that was asked
	Warnings int       `json:"warnings"` // the number of findings with this state
	Way      string    `json:"way"`      // cgi, nph, fcgid, proxy-fcgi, fastcgi, fcgiwrap; "" = not known
}

// Root is the root that is examined: an [*objectdb.DB], or something that opens it only for
// each transaction.
type Root interface {
	Path() string
	View(ctx context.Context, fn func(*objectdb.Tx) error) error
	Update(ctx context.Context, fn func(*objectdb.Tx) error) error
}

// Options say what is examined.
type Options struct {
	Root Root
	// URL is the site's address. The requests to it carry a token, so it must be the owner's
	// own. If it is "", nobody is asked: the report has only what this process sees in the
	// root and on the disk.
	URL       string
	Page      string     // path of a page with macros, such as /welcome.mcro; "" = one is looked for
	Protected string     // folder of URLs that needs a password, such as /members/; "" = none
	Headers   []string   // fields "Name: value" of all requests
	Reach     site.Reach // what the root may use, for a report without requests
	// Outside says what of Reach can be reached, for a report without requests.
	Outside []probe.Outside
	// MailServers are those that scripter.conf lists. The caller has asked them.
	MailServers []MailServer
}

// OptionError is the error for an option that is invalid.
type OptionError struct{ Option, Value, Why string }

func (e *OptionError) Error() string { return fmt.Sprintf("%s %q is %s", e.Option, e.Value, e.Why) }

// Run examines a root and its web server. It writes a token into the root and removes it at
// the end; nothing of the site runs. When the deadline of ctx has passed, Run returns what it
// has found until then, with a warning that it has not finished.
func Run(ctx context.Context, o Options) (Report, error) {
	d, err := newDoctor(ctx, o)
	if err != nil {
		return Report{}, err
	}
	if o.URL == "" {
		err = d.lookAround(ctx, o)
	} else {
		err = d.askServer(ctx, o.Root)
	}
	return d.report(), err
}

// doctor is one run.
type doctor struct {
	ask   *asker
	over  func() error // not nil: no more findings are added
	root  string       // file of the root
	local string       // path of its files on this host
	page  string       // path of a page with macros; "" = none is known

	setName   string // user.webserver.serverName
	setFolder string // user.webserver.websiteFolderPath
	maxBody   int64  // bytes
	protected protection
	history   []site.HistoryRow

	background  background
	mailServers []MailServer
	replicas    *objectdb.Replication // nil: the root is a file

	shown  string // what the web server calls itself
	fcgid  bool   // /server-status speaks of mod_fcgid
	server string // see Report
	way    string // see Report
	reply  *probe.Reply
	works  string   // a path that reaches Scripter; "" = none does
	pages  []string // the paths of pages that were found
	routes []routeURL

	findings []Finding
	missed   string // the first check with a finding that came too late
}

func newDoctor(ctx context.Context, o Options) (*doctor, error) {
	folder, err := protectedFolder(o.Protected)
	if err != nil {
		return nil, err
	}
	a := &asker{base: &url.URL{}}
	if o.URL != "" {
		if a, err = newAsker(o.URL, o.Headers); err != nil {
			return nil, err
		}
	}
	local, err := rootname.LocalPath(o.Root.Path())
	if err != nil {
		return nil, err
	}
	return &doctor{
		ask: a, over: ctx.Err, root: o.Root.Path(), local: local, page: o.Page, protected: protection{path: folder},
		mailServers: o.MailServers,
	}, nil
}

// add adds a finding. After the end of the context it adds none: what the checks find then
// is only that nobody answers them any more.
func (d *doctor) add(state, check, reason string, change ...string) {
	if d.over() == nil {
		d.findings = append(d.findings, Finding{state, check, reason, change})
	} else if d.missed == "" {
		d.missed = check
	}
}

func (d *doctor) ok(check, format string, args ...any) {
	d.add(OK, check, fmt.Sprintf(format, args...))
}

// fault adds a fault, with the change for this web server.
func (d *doctor) fault(check, format string, args ...any) {
	d.add(Fault, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (d *doctor) note(check, format string, args ...any) {
	d.add(Note, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (d *doctor) warn(check, format string, args ...any) {
	d.add(Warning, check, fmt.Sprintf(format, args...), d.change(check)...)
}

func (d *doctor) report() Report {
	r := Report{Checks: d.findings, Name: d.shown, Server: d.server, URL: d.ask.base.String(), Way: d.way}
	for _, f := range d.findings {
		switch f.State {
		case Fault:
			r.Faults++
		case Warning:
			r.Warnings++
		}
	}
	return r
}

// askServer makes all checks, while a token lies in the root.
func (d *doctor) askServer(ctx context.Context, root Root) error {
	isLate := func() bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }
	err := root.Update(ctx, func(tx *objectdb.Tx) (err error) {
		if err := d.read(tx); err != nil {
			return err
		}
		d.ask.token, err = probe.NewToken(tx, time.Now())
		return err
	})
	if err != nil {
		if !isLate() {
			return err
		}
		d.tellLate("all checks")
		return nil
	}
	d.examine(ctx)
	err = root.Update(context.WithoutCancel(ctx), func(tx *objectdb.Tx) error {
		return probe.RemoveToken(tx, d.ask.token)
	})
	switch {
	case !isLate():
		err = errors.Join(ctx.Err(), err)
	case d.missed != "":
		d.tellLate(fmt.Sprintf("the check %q and those after it", d.missed))
	}
	return err
}

// tellLate adds the finding that there was no time for some checks.
func (d *doctor) tellLate(missing string) {
	how := "scripter doctor --url " + shellQuote(d.ask.base.String()) +
		" (in a shell, where it takes the time that it needs)"
	d.findings = append(d.findings,
		Finding{Warning, "time", "not finished in time: " + missing + " are missing", []string{how}})
}

// lookAround makes the checks for which nobody needs to be asked.
func (d *doctor) lookAround(ctx context.Context, o Options) error {
	var now *site.Snapshot
	err := o.Root.View(ctx, func(tx *objectdb.Tx) (err error) {
		if err := d.read(tx); err != nil {
			return err
		}
		now, err = site.Read(tx)
		return err
	})
	if err != nil {
		return err
	}
	d.reply = &probe.Reply{
		UID: os.Geteuid(), GID: os.Getegid(), Files: probe.RightsTo(d.local), Unlisted: o.Reach.Unlisted(now),
		Outside: o.Outside,
	}
	d.checkRights()
	d.checkListed()
	d.tellOutside()
	d.checkPlace()
	d.checkHistory()
	d.checkBackground()
	d.checkReplicas()
	return nil
}

// read reads from the root what the checks compare with.
func (d *doctor) read(tx *objectdb.Tx) error {
	d.setName = string(setValue(tx, site.ServerName).(objectdb.String))
	d.setFolder = string(setValue(tx, site.WebsiteFolderPath).(objectdb.String))
	d.maxBody = int64(setValue(tx, site.MaxBody).(objectdb.Number) * (1 << 20))
	if err := d.readProtection(tx); err != nil {
		return err
	}
	if err := d.readRoutes(tx); err != nil {
		return err
	}
	var err error
	if d.replicas, err = tx.Replication(); err != nil {
		return err
	}
	if d.background, err = readBackground(tx, time.Now()); err != nil {
		return err
	}
	d.history, err = site.ReadHistoryRows(tx)
	return err
}

// setValue returns the value of a setting as it stands in the root, checked for its kind alone.
func setValue(tx *objectdb.Tx, s *site.Setting) objectdb.Value {
	if v, err := tx.Get(s.Address()); err == nil && v.Kind() == s.Default.Kind() {
		return v
	}
	return s.Default
}

// examine asks the web server. Checks that others depend on come first.
func (d *doctor) examine(ctx context.Context) {
	if !d.checkName(ctx) {
		return // no server answers
	}
	d.checkScripter(ctx)
	d.checkMacro(ctx)
	d.checkIndex(ctx)
	if d.works != "" {
		d.checkRoutes(ctx)
		d.checkVariables(ctx)
		d.checkFields(ctx)
		d.checkBody(ctx)
		if !d.found("second answer") { // which would be seen again in each of these
			d.checkPieces(ctx)
			d.checkHead(ctx)
		}
		d.checkAnswers(ctx)
		d.checkRoot()
		d.checkRights()
		d.checkListed()
		d.checkOutside(ctx)
	}
	d.checkDirect(ctx)
	d.checkPublic(ctx)
	d.checkSource(ctx)
	d.checkNotUTF8(ctx)
	d.checkFolders(ctx)
	d.checkPurge(ctx)
	d.checkProtected(ctx)
	d.checkHistory()
	d.checkBackground()
	d.checkReplicas()
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

func quoted(s string) string { return `"` + s + `"` }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
