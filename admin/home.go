package admin

import (
	"strings"
	"time"

	"scripter/history"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// homeData is the first page.
type homeData struct {
	Objects  int64        `json:"objects"` // in the root
	About    bool         `json:"about"`   // that number is an estimate
	Bytes    int64        `json:"bytes"`   // of the root's file
	Reach    time.Time    `json:"reach"`   // of the history
	Warnings []warning    `json:"warnings"`
	Changes  []changeRow  `json:"changes"` // the last ones of people
	Debug    debugging    `json:"debugging"`
	Failed   []requestRow `json:"failed"` // the last requests that failed, of those that are kept
	Next     []nextStep   `json:"-"`      // what to do in a root in which little was done yet
}

// warning is something that the people who look after a site should know.
type warning struct {
	Text    string           `json:"warning"`
	Address objectdb.Address `json:"-"` // of the setting
	Dotted  string           `json:"address"`
}

// nextStep is something that a person may want to do first.
type nextStep struct{ Title, Text, Link, Icon string }

// Bounds of what the first page shows and looks through.
const (
	homeRows     = 5
	homeRequests = 100 // recorded requests in which failed ones are looked for
	homeNew      = 20  // changes of people in a root in which little was done
)

// home shows the first page.
func (c *call) home() (*result, error) {
	data := &homeData{Warnings: []warning{}, Changes: []changeRow{}, Failed: []requestRow{}}
	err := c.view(func(tx *objectdb.Tx) (err error) {
		var exact bool
		if data.Objects, exact, err = tx.CountObjects(); err != nil {
			return err
		}
		data.About = !exact
		snapshot, err := site.Read(tx)
		if err != nil {
			return err
		}
		data.Warnings = warnings(tx, snapshot)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) {
		if _, data.Reach, err = tx.Reach(); err != nil {
			return err
		}
		if data.Debug, err = c.debugging(tx); err != nil {
			return err
		}
		few, err := c.lastChanges(tx, data)
		if err != nil {
			return err
		}
		if data.Debug.On && !c.inPast {
			if err := data.readFailed(tx); err != nil {
				return err
			}
		}
		if few && !c.inPast {
			data.Next, err = c.nextSteps(tx, data.Debug.On)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	size, err := c.DB.Size(c.ctx())
	if err != nil {
		return nil, err
	}
	data.Bytes = size.Data + size.WAL
	return &result{template: "home", title: text("nav.home"), data: data}, nil
}

// warnings returns warnings about the site: secrets are recorded, maintenance is on, a setting is refused.
func warnings(tx *objectdb.Tx, s *site.Snapshot) []warning {
	list := []warning{}
	add := func(set *site.Setting, text string) {
		list = append(list, warning{text, set.Address(), set.Address().String()})
	}
	if s.Flag(site.FlRefuseConnections) {
		add(site.FlRefuseConnections, text("home.maintenance"))
	}
	if s.Flag(site.FlDebug) && s.Flag(site.FlDebugSecrets) {
		add(site.FlDebugSecrets, text("home.secrets"))
	}
	for _, set := range site.Settings {
		if state := set.Read(tx); state.Why != nil && !set.Secret() {
			if state.From == "refused" {
				add(set, text("home.refused", set.Name, state.Why))
			} else {
				add(set, text("home.wrong", set.Name, state.Why))
			}
		}
	}
	return list
}

// lastChanges reads the last changes of people, and reports whether there are few of them.
func (c *call) lastChanges(tx *objectdb.Tx, data *homeData) (few bool, err error) {
	before, count := int64(0), 0
	if c.inPast {
		before = c.past + 1
	}
	for change, err := range tx.PersonChanges(before) {
		if err != nil {
			return false, err
		}
		if count++; count > homeNew {
			return false, nil
		}
		if count > homeRows {
			continue
		}
		summary, err := summarize(tx, change)
		if err != nil {
			return false, err
		}
		data.Changes = append(data.Changes, c.row(&history.Change{Change: change, Summary: summary}))
	}
	return true, nil
}

// readFailed reads the last recorded requests that failed.
func (data *homeData) readFailed(tx *objectdb.Tx) error {
	seen := 0
	for h, err := range requestlog.Heads(tx, 0) {
		if err != nil {
			return err
		}
		if h.Incident != "" || h.Status >= 500 {
			data.Failed = append(data.Failed, newRequestRow(h))
		}
		if seen++; seen == homeRequests || len(data.Failed) == homeRows {
			return nil
		}
	}
	return nil
}

// nextSteps returns what a person may want to do first, as far as it is there.
func (c *call) nextSteps(tx *objectdb.Tx, debugging bool) ([]nextStep, error) {
	var list []nextStep
	add := func(key, icon, link string) {
		title, why := "home.do."+key, "home.why."+key
		list = append(list, nextStep{text(title), text(why), link, icon})
	}
	for _, s := range []struct{ key, icon, address string }{
		{"script", "script", "suites.webserverScripts"},
		{"samples", "text", "suites.webserverScripts.samples"},
	} {
		a := objectdb.Address(strings.Split(s.address, "."))
		switch n, err := tx.Find(a); {
		case objectdb.IsMissing(err):
		case err != nil:
			return nil, err
		case n.Kind() == objectdb.KindTable:
			add(s.key, s.icon, c.linkTo("at", a))
		}
	}
	add("settings", "settings", c.link("settings"))
	if !debugging {
		add("requests", "requests", c.link("requests"))
	}
	return list, nil
}
