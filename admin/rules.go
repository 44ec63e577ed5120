package admin

import (
	"errors"
	"sync"

	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

// rules is a table of the site that people change row by row: limits of scripts, actions, types,
// and so on.
type rules struct {
	page    string // the last part of its path
	title   string // key of the text
	about   string // key of the text
	address objectdb.Address
	columns []ruleColumn
	keys    int // columns, from the first, that name a row
	rows    func(tx *objectdb.Tx, s *site.Snapshot) ([]ruleRow, error)
	set     func(tx *objectdb.Tx, cells []string) error
	// remove returns warnings about what still needs the row.
	remove func(tx *objectdb.Tx, keys []string) ([]string, error)
}

// ruleColumn is a column of such a table.
type ruleColumn struct {
	Name    string // in the JSON form, and of the field of the form
	Text    string // key of the text
	Kind    string // "" = text, "address", "action", "limit", "keep", "number", or "fixed": nobody types it
	Choice  bool   // may be empty
	Example string
}

// ruleRow is a row.
type ruleRow struct {
	Cells   []string
	Shown   []ruleText
	Notes   []string // what is wrong with it
	Free    bool     // its keys are not in the table itself, so it cannot be removed
	Always  bool     // the row applies although it is not in the table
	Editing bool
}

// ruleTables are all such tables, in the order of their tabs.
var ruleTables = sync.OnceValue(func() []*rules {
	return []*rules{
		{
			page: "limits", title: "rules.limits", about: "rules.limitsAbout", address: site.LimitRows, keys: 2,
			columns: []ruleColumn{
				{Name: "address", Text: "rules.address", Kind: "address", Example: "suites.webserverScripts"},
				{Name: "limit", Text: "rules.limit", Kind: "limit"},
				{Name: "value", Text: "rules.value", Kind: "number", Example: "30"},
			},
			rows: limitRows, set: setLimit, remove: removeLimit,
		},
		siteTable("actions", site.ActionRows, objectdb.Address{"user", "webserver", "actionTable"}, "rules.actions",
			"rules.actionsAbout",
			ruleColumn{Name: "name", Text: "rules.action", Example: "SCRIPTER"},
			ruleColumn{Name: "handler", Text: "rules.handler", Example: "/cgi-bin/Scripter.acgi"},
			ruleColumn{Name: "script", Text: "rules.script", Kind: "fixed"}),
		siteTable("types", site.MimeTypeRows, objectdb.Address{"user", "webserver", "mimeTable"}, "rules.types",
			"rules.typesAbout",
			ruleColumn{Name: "extension", Text: "rules.extension", Example: ".mcro"},
			ruleColumn{Name: "type", Text: "rules.type", Example: "text/html"},
			ruleColumn{Name: "action", Text: "rules.action", Kind: "action", Choice: true}),
		siteTable("overrides", site.OverrideRows, site.Overrides, "rules.overrides", "rules.overridesAbout",
			ruleColumn{Name: "host", Text: "rules.host", Example: "*"},
			ruleColumn{Name: "prefix", Text: "rules.prefix", Example: "/members/"},
			ruleColumn{Name: "action", Text: "rules.action", Kind: "action"}),
		siteTable("index", site.IndexRows, site.DirectoryIndex, "rules.index", "rules.indexAbout",
			ruleColumn{Name: "host", Text: "rules.host", Example: "*"},
			ruleColumn{Name: "prefix", Text: "rules.prefix", Example: "/members/"},
			ruleColumn{Name: "files", Text: "rules.files", Example: "index.html index.mcro"}),
		{
			page: "routes", title: "rules.routes", about: "rules.routesAbout", address: site.RouteRows, keys: 2,
			columns: []ruleColumn{
				{Name: "host", Text: "rules.host", Example: "*"},
				{Name: "name", Text: "rules.routeName", Example: "item"},
				{Name: "route", Text: "rules.route", Example: "GET /items/{id}"},
				{Name: "target", Text: "rules.target", Example: "shop.item"},
			},
			rows: routeRows, set: setRoute, remove: removeRoute,
		},
		{
			page: "requires", title: "rules.requires", about: "rules.requiresAbout", address: site.RequireRows, keys: 1,
			columns: []ruleColumn{
				{Name: "address", Text: "rules.address", Kind: "address", Example: "suites.webserverScripts"},
				{Name: "requires", Text: "rules.who", Example: "user"},
			},
			rows: requireRows, set: setRequire, remove: removeFrom(site.RequireRows),
		},
		{
			page: "history", title: "rules.history", about: "rules.historyAbout", address: site.HistoryRows, keys: 1,
			columns: []ruleColumn{
				{Name: "address", Text: "rules.address", Kind: "address", Example: "workspace.visitors"},
				{Name: "keep", Text: "rules.keep", Kind: "keep"},
			},
			rows: keptRows, set: setKept, remove: removeFrom(site.HistoryRows),
		},
	}
})

// siteTable returns the rules of a table of package site.
func siteTable(page string, t *site.Table, a objectdb.Address, title, about string, columns ...ruleColumn) *rules {
	return &rules{
		page: page, title: title, about: about, address: a, columns: columns, keys: t.Keys,
		rows: func(_ *objectdb.Tx, s *site.Snapshot) (list []ruleRow, err error) {
			for _, row := range t.Rows(s) {
				list = append(list, ruleRow{Cells: row, Notes: t.Notes(s, row), Free: t == site.ActionRows && row[1] == ""})
			}
			return list, nil
		},
		set: func(tx *objectdb.Tx, cells []string) error {
			_, err := t.Set(tx, cells) // its warnings are notes of the row
			return err
		},
		remove: t.Remove,
	}
}

func limitRows(tx *objectdb.Tx, _ *site.Snapshot) (list []ruleRow, err error) {
	rows, err := site.ReadLimitRows(tx)
	for _, r := range rows {
		cells := r.Cells
		if len(cells) == 0 {
			cells = []site.LimitCell{{}} // to show what is wrong with it
		}
		for _, cell := range cells {
			row := ruleRow{Cells: []string{r.Address, cell.Name, ""}}
			if cell.Value != nil {
				row.Cells[2] = valuetext.Format(cell.Value)
			}
			for _, why := range []error{r.Why, cell.Why} {
				if why != nil {
					row.Notes = append(row.Notes, why.Error())
				}
			}
			list = append(list, row)
		}
	}
	return list, err
}

func setLimit(tx *objectdb.Tx, cells []string) error {
	a, err := objectdb.ParseAddress(cells[0])
	if err != nil {
		return err
	}
	limit, ok := site.FindLimit(cells[1])
	if !ok {
		return errors.New(text("rules.noLimit", cells[1]))
	}
	v, err := valuetext.Parse(objectdb.KindNumber, cells[2])
	if err != nil {
		return err
	}
	return site.SetLimit(tx, a, limit, float64(v.(objectdb.Number)))
}

// removeLimit removes a limit, and one that means nothing too.
func removeLimit(tx *objectdb.Tx, keys []string) ([]string, error) {
	row := site.LimitRows.Child(keys[0])
	if keys[1] == "" {
		return nil, tx.Delete(row)
	}
	if err := tx.Delete(row.Child(keys[1])); err != nil {
		return nil, err
	}
	rest, err := tx.List(row)
	if err == nil && len(rest) == 0 {
		err = tx.Delete(row)
	}
	return nil, err
}

func routeRows(tx *objectdb.Tx, s *site.Snapshot) (list []ruleRow, err error) {
	for _, r := range s.Routes().All() {
		notes, err := s.RouteNotes(tx, r)
		if err != nil {
			return nil, err
		}
		list = append(list, ruleRow{Cells: r.Cells(), Notes: notes})
	}
	return list, nil
}

func setRoute(tx *objectdb.Tx, cells []string) error {
	_, _, err := site.SetRoute(tx, cells[0], cells[1], cells[2]+" "+cells[3]) // warnings are notes of the row
	return err
}

func removeRoute(tx *objectdb.Tx, keys []string) ([]string, error) {
	return nil, site.RemoveRoute(tx, keys[0], keys[1])
}

func requireRows(tx *objectdb.Tx, _ *site.Snapshot) (list []ruleRow, err error) {
	rows, err := site.ReadRequireRows(tx)
	for _, r := range rows {
		row := ruleRow{Cells: []string{r.Address, r.Text}}
		if r.Closed != nil {
			row.Notes = append(row.Notes, text("rules.closed", r.Closed))
		}
		if r.Idle != nil {
			row.Notes = append(row.Notes, r.Idle.Error())
		}
		list = append(list, row)
	}
	return list, err
}

func setRequire(tx *objectdb.Tx, cells []string) error {
	a, err := objectdb.ParseAddress(cells[0])
	if err != nil {
		return err
	}
	return site.SetRequirement(tx, a, cells[1])
}

func keptRows(tx *objectdb.Tx, _ *site.Snapshot) (list []ruleRow, err error) {
	rows, err := site.ReadHistoryRows(tx)
	for _, r := range rows {
		row := ruleRow{Cells: []string{r.Address, r.Text}, Free: r.Supplied, Always: r.Supplied}
		if r.Why != nil {
			row.Notes = append(row.Notes, r.Why.Error())
		}
		list = append(list, row)
	}
	return list, err
}

func setKept(tx *objectdb.Tx, cells []string) error {
	a, err := objectdb.ParseAddress(cells[0])
	if err != nil {
		return err
	}
	return site.SetHistoryRule(tx, a, cells[1])
}

// removeFrom returns a function that removes a row of a table by its name, which need not be an
// address.
func removeFrom(table objectdb.Address) func(*objectdb.Tx, []string) ([]string, error) {
	return func(tx *objectdb.Tx, keys []string) ([]string, error) { return nil, tx.Delete(table.Child(keys[0])) }
}
