package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// requestRoutes lists the pages of recorded requests.
func (s *Server) requestRoutes() {
	s.page("GET /requests", readers, (*call).requestsPage)
	s.page("POST /requests", owners, (*call).switchDebugging)
	s.page("GET /requests/{number}", readers, (*call).requestPage)
	s.page("POST /requests/{number}", readers, (*call).changeRequest)
}

// requestRow is a recorded request in the list.
type requestRow struct {
	Number       int       `json:"number"`
	Time         time.Time `json:"time"`
	Method       string    `json:"method"`
	URL          string    `json:"url"`
	Answered     bool      `json:"answered"`
	Status       int       `json:"status,omitempty"`
	Milliseconds float64   `json:"milliseconds,omitempty"`
	User         string    `json:"user,omitempty"`
	From         string    `json:"from,omitempty"` // the client's address
	Incident     string    `json:"incident,omitempty"`
}

func newRequestRow(h *requestlog.Head) requestRow {
	r := requestRow{Number: h.Number, Time: h.Time, Answered: h.Answered, Status: h.Status,
		Milliseconds: h.Milliseconds(), User: h.User, From: h.Address, Incident: h.Incident}
	r.Method, r.URL, _ = strings.Cut(h.Line, " ")
	return r
}

// Class returns the colour of a status.
func (r *requestRow) Class() string { return statusClass(r.Status) }

func statusClass(status int) string {
	switch {
	case status < 200 || status > 599:
		return ""
	case status < 300:
		return "good"
	case status < 400:
		return "accent"
	case status < 500:
		return "warn"
	}
	return "bad"
}

// Took returns how long the request took, in milliseconds.
func (r *requestRow) Took() string { return tookText(r.Milliseconds) }

func tookText(milliseconds float64) string { return strconv.FormatFloat(milliseconds, 'f', 1, 64) }

// matches reports whether the row has a text, in lower case, and a status that begins as wanted.
func (r *requestRow) matches(text, status string) bool {
	switch {
	case status == notAnswered && r.Answered, status != notAnswered && status != "" && !r.Answered:
		return false
	case r.Answered && !strings.HasPrefix(strconv.Itoa(r.Status), status):
		return false
	}
	for _, s := range []string{r.Method + " " + r.URL, r.User, r.From, r.Incident} {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	return false
}

// debugging is the state of Debugging.
type debugging struct {
	On      bool       `json:"on"`
	Ends    *time.Time `json:"ends,omitempty"` // nil: it does not end by itself
	Minutes float64    `json:"minutes"`        // for which it stays on; 0 = until it is switched off
	Secrets bool       `json:"secrets"`        // secrets are recorded as they are
	Most    int        `json:"most"`           // how many requests are kept
}

func (c *call) debugging(tx *objectdb.Tx) (d debugging, err error) {
	d.Minutes, d.Secrets, d.Most = c.site.Number(site.DebugMinutes), c.site.Flag(site.FlDebugSecrets),
		int(c.site.Number(site.MaxRequests))
	on, ends, err := c.site.Debugging(tx, c.Now())
	if d.On = on; on && !ends.IsZero() {
		d.Ends = &ends
	}
	return d, err
}

// notAnswered is the status by which requests without an answer are chosen.
const notAnswered = "none"

// requestsData is the list of recorded requests.
type requestsData struct {
	Debugging debugging    `json:"debugging"`
	Text      string       `json:"text,omitempty"`
	Status    string       `json:"status,omitempty"`
	Requests  []requestRow `json:"requests"`
	Next      string       `json:"next,omitempty"`   // the parameter "before" of the next page
	Looked    int          `json:"looked,omitempty"` // the filter has looked through so many, and there may be more
	Older     bool         `json:"-"`                // it is not the first page
	Maybe     string       `json:"-"`                // the text, if it may be an incident number
}

// IsFiltered reports whether only some requests are asked for.
func (d *requestsData) IsFiltered() bool { return d.Text != "" || d.Status != "" }

// Statuses are the statuses by which the list can be filtered.
func (d *requestsData) Statuses() []string { return []string{"2", "3", "4", "5", notAnswered} }

const (
	requestRows = 50
	requestLook = 250 // recorded requests that a filter looks through for one page
)

// requestsPage lists the recorded requests, the newest first. With "incident" it goes to the request
// that failed with that number.
func (c *call) requestsPage() (*result, error) {
	if incident := strings.TrimSpace(c.query("incident")); incident != "" {
		return c.toIncident(incident)
	}
	data := &requestsData{Text: strings.TrimSpace(c.query("text")), Status: c.query("status"), Requests: []requestRow{}}
	before, _ := strconv.Atoi(c.query("before"))
	data.Older = before > 0
	wanted := strings.ToLower(data.Text)
	if requestlog.IsIncident(wanted) {
		data.Maybe = wanted
	}
	var found *requestlog.Request
	err := c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) { // what is recorded has no history
		if data.Debugging, err = c.debugging(tx); err != nil {
			return err
		}
		if data.Maybe != "" && c.query("part") == "" {
			found, err = requestlog.FindIncident(tx, data.Maybe)
			if !errors.Is(err, requestlog.ErrNotFound) {
				return err
			}
		}
		return data.read(tx, before, wanted)
	})
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return c.redirect(c.link(fmt.Sprintf("requests/%d", found.Number)), "", 0), nil
	}
	res := &result{template: "requests", title: text("nav.requests"), data: data}
	if c.query("part") != "" {
		res.part = "requestList"
	}
	return res, nil
}

// read reads a page of the list.
func (d *requestsData) read(tx *objectdb.Tx, before int, wanted string) error {
	looked, last := 0, 0
	for h, err := range requestlog.Heads(tx, before) {
		if err != nil {
			return err
		}
		if looked == requestLook || len(d.Requests) == requestRows {
			d.Next = strconv.Itoa(last)
			if looked == requestLook {
				d.Looked = looked
			}
			return nil
		}
		looked, last = looked+1, h.Number
		if r := newRequestRow(h); r.matches(wanted, d.Status) {
			d.Requests = append(d.Requests, r)
		}
	}
	return nil
}

// toIncident goes to the request that failed with an incident number.
func (c *call) toIncident(incident string) (*result, error) {
	incident = strings.ToLower(incident)
	if !requestlog.IsIncident(incident) {
		return nil, bad("requests.noIncident", incident)
	}
	var r *requestlog.Request
	err := c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) {
		r, err = requestlog.FindIncident(tx, incident)
		return err
	})
	if errors.Is(err, requestlog.ErrNotFound) {
		return nil, newProblem(http.StatusNotFound, "requests.incidentNotKept", err, incident)
	}
	if err != nil {
		return nil, err
	}
	return c.redirect(c.link(fmt.Sprintf("requests/%d", r.Number)), "", 0), nil
}

// switchDebugging switches Debugging on or off.
func (c *call) switchDebugging() (*result, error) {
	on, key := true, "debugOn"
	switch do := c.field("do"); do {
	case "on":
	case "off":
		on, key = false, "debugOff"
	default:
		return nil, unknownAction(do)
	}
	change, err := c.update(fmt.Sprintf("setting flDebug %v", on), func(tx *objectdb.Tx) error {
		return site.FlDebug.Set(tx, objectdb.Boolean(on))
	})
	if err != nil {
		return nil, err
	}
	return c.redirect(c.link("requests"), key, change), nil
}

// minutes returns a number of minutes for people.
func minutes(n float64) string {
	if n == 1 {
		return text("requests.minute")
	}
	return text("requests.minutes", strconv.FormatFloat(n, 'f', -1, 64))
}
