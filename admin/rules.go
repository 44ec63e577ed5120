package admin

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	Kind    string // "" = text, "address", "action", "limit", "number", or "fixed": nobody types it
	Choice  bool   // may be empty
	Example string
}

// ruleRow is a row.
type ruleRow struct {
	Cells   []string
	Shown   []ruleText
	Notes   []string // what is wrong with it
	Free    bool     // its keys are not in the table itself, so it cannot be removed
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
			page: "requires", title: "rules.requires", about: "rules.requiresAbout", address: site.RequireRows, keys: 1,
			columns: []ruleColumn{
				{Name: "address", Text: "rules.address", Kind: "address", Example: "suites.webserverScripts"},
				{Name: "requires", Text: "rules.who", Example: "user"},
			},
			rows: requireRows, set: setRequire, remove: removeRequire,
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

// removeRequire removes a row by its name, which need not be an address.
func removeRequire(tx *objectdb.Tx, keys []string) ([]string, error) {
	return nil, tx.Delete(site.RequireRows.Child(keys[0]))
}

// rulesData is the page of such a table.
type rulesData struct {
	Page    string           `json:"page"`
	Keys    int              `json:"keys"` // how many columns, from the first, name a row
	Dotted  string           `json:"address"`
	Address objectdb.Address `json:"-"`
	Title   string           `json:"-"`
	About   string           `json:"about"`
	Columns []ruleColumn     `json:"-"`
	Rows    []ruleRow        `json:"-"`
	List    []map[string]any `json:"rows"`
	Inputs  []ruleInput      `json:"-"` // of the form for a new row, or for the row that is changed
	Typed   []string         `json:"-"` // of a row that was not stored
	Editing bool             `json:"-"` // Typed belongs to the row Was
	Was     []string         `json:"-"` // the keys of that row
	Error   string           `json:"error,omitempty"`
}

// rulesPage shows a table. The parameter "row", once for each key, names the row that is changed.
func (c *call) rulesPage() (*result, error) {
	t, err := c.ruleTable()
	if err != nil {
		return nil, err
	}
	data := &rulesData{}
	if keys := c.r.URL.Query()["row"]; len(keys) == t.keys && c.role.Kind == site.RoleOwner && !c.inPast {
		data.Was, data.Editing = keys, true
	}
	return c.showRules(t, data)
}

// ruleTable returns the table that the path names.
func (c *call) ruleTable() (*rules, error) {
	i := slices.IndexFunc(ruleTables(), func(t *rules) bool { return t.page == c.r.PathValue("table") })
	if i < 0 {
		return nil, c.notFound()
	}
	return ruleTables()[i], nil
}

func (c *call) showRules(t *rules, data *rulesData) (*result, error) {
	data.Page, data.Keys, data.Columns, data.Address, data.Dotted = t.page, t.keys, t.columns, t.address,
		t.address.String()
	data.Title, data.About = text(t.title), text(t.about)
	choices := map[string][]string{"limit": limitNames()}
	err := c.view(func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		data.Rows, err = t.rows(tx, s)
		for _, a := range s.Actions() {
			choices["action"] = append(choices["action"], a.Name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	data.List = []map[string]any{}
	for i := range data.Rows {
		row := &data.Rows[i]
		m := map[string]any{}
		for k, col := range t.columns {
			m[col.Name] = row.Cells[k]
			row.Shown = append(row.Shown, c.shown(row.Cells[k], col))
		}
		if len(row.Notes) > 0 {
			m["notes"] = row.Notes
		}
		data.List = append(data.List, m)
		row.Editing = data.Editing && slices.Equal(row.Cells[:t.keys], data.Was)
		if row.Editing && data.Typed == nil {
			data.Typed = row.Cells
		}
	}
	data.Inputs = data.inputs(choices)
	return &result{template: "rules", title: data.Title, data: data}, nil
}

// ruleInput is a cell in the form of a row.
type ruleInput struct {
	Name, Label, Value, Example string
	Form                        string // the id of the form, if the cell is not in it
	Options                     []string
	Choice, Number              bool
}

// inputs returns the cells of the form.
func (data *rulesData) inputs(choices map[string][]string) (list []ruleInput) {
	for i, col := range data.Columns {
		in := ruleInput{Name: col.Name, Label: text(col.Text), Example: col.Example, Options: slices.Clone(choices[col.Kind]),
			Choice: col.Choice, Number: col.Kind == "number"}
		if i < len(data.Typed) {
			in.Value = data.Typed[i]
		}
		if len(in.Options) > 0 && in.Value != "" && !slices.Contains(in.Options, in.Value) {
			in.Options = append(in.Options, in.Value)
		}
		if data.Editing {
			in.Form = "edit"
		}
		list = append(list, in)
	}
	return list
}

// ruleText is a cell that is shown.
type ruleText struct{ Text, Link string }

// shown returns a cell for people: an address is a link.
func (c *call) shown(cell string, col ruleColumn) ruleText {
	s := ruleText{Text: cell}
	if col.Kind == "address" || col.Kind == "fixed" {
		if a, err := objectdb.ParseAddress(cell); err == nil && len(a) > 0 {
			s.Link = c.linkTo("at", a)
		}
	}
	return s
}

// EditLink returns the URL of the page in which a row is changed.
func (data *rulesData) EditLink(f *frame, row ruleRow) string {
	q := url.Values{"row": row.Cells[:data.Keys]}
	return f.link("settings/"+data.Page) + "?" + q.Encode() + "#row"
}

// Name returns the keys of a row for people.
func (data *rulesData) Name(row ruleRow) string { return strings.Join(row.Cells[:data.Keys], " ") }

// WasKeys returns the keys of a row for the form that removes it.
func (data *rulesData) WasKeys(row ruleRow) []string { return row.Cells[:data.Keys] }

// SettingsTabs lists the pages of settings.
func (f *frame) SettingsTabs() []navItem {
	at := f.page()
	list := []navItem{{Page: "settings", Text: text("nav.settings"), Current: at == "settings"}}
	for _, t := range ruleTables() {
		page := "settings/" + t.page
		list = append(list, navItem{Page: page, Text: text(t.title), Current: at == page})
	}
	return list
}

func limitNames() (names []string) {
	for _, s := range site.Settings {
		if _, ok := site.FindLimit(s.Name); ok {
			names = append(names, s.Name)
		}
	}
	return names
}

// longestCell is the number of bytes that a cell of a row may have.
const longestCell = 2000

// changeRules does what the form of a row asks for:
//
//	do=set     a field for each column; was=… with the keys of the row that it replaces, or none
//	do=remove  was=… with the keys of the row
func (c *call) changeRules() (*result, error) {
	t, err := c.ruleTable()
	if err != nil {
		return nil, err
	}
	do := c.field("do")
	was := c.r.PostForm["was"]
	switch {
	case len(was) != t.keys && (len(was) > 0 || do == "remove"):
		return nil, bad("rules.keys", t.keys)
	case do == "remove":
		return c.removeRule(t, was)
	case do == "set":
		return c.setRule(t, was)
	}
	return nil, unknownAction(do)
}

// setRule stores a row. If its keys are others than before, it replaces the row with those.
func (c *call) setRule(t *rules, was []string) (*result, error) {
	var cells []string
	for _, col := range t.columns {
		if col.Kind != "fixed" {
			cell := strings.TrimSpace(c.field(col.Name))
			if a, err := objectdb.ParseAddress(cell); col.Kind == "address" && err == nil {
				cell = a.String() // as rows are named
			}
			cells = append(cells, cell)
		}
	}
	var mistake error
	change, err := c.update("settings "+t.page+" "+short(strings.Join(cells[:t.keys], " ")), func(tx *objectdb.Tx) error {
		mistake = nil
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		if mistake, err = checkRule(tx, s, t, cells, was); err != nil || mistake != nil {
			return cmp.Or(err, mistake)
		}
		if len(was) > 0 && !slices.Equal(was, cells[:t.keys]) {
			if _, err := t.remove(tx, was); err != nil {
				return err
			}
		}
		mistake = t.set(tx, cells)
		return mistake
	})
	if mistake != nil && err != nil && !isFailure(mistake) {
		message := text("rules.nothing", mistake)
		if c.json {
			return nil, &problem{Status: http.StatusBadRequest, Text: message}
		}
		res, err := c.showRules(t, &rulesData{Error: message, Typed: cells, Was: was, Editing: len(was) > 0})
		if err == nil {
			res.status = http.StatusBadRequest
		}
		return res, err
	}
	if err != nil {
		return nil, err
	}
	return c.redirect(c.link("settings/"+t.page), "saved", change), nil
}

// isFailure reports whether an error comes from the root, and not from what a person typed.
func isFailure(err error) bool {
	return errors.Is(err, objectdb.ErrConflict) || errors.Is(err, objectdb.ErrBusy) || errors.Is(err, objectdb.ErrDisk) ||
		errors.Is(err, objectdb.ErrDamaged) || errors.Is(err, objectdb.ErrReadOnly)
}

// checkRule checks what the checks of package site do not: that no other row is overwritten, and
// that the row which is changed is still there.
func checkRule(tx *objectdb.Tx, s *site.Snapshot, t *rules, cells, was []string) (mistake, err error) {
	for _, cell := range cells {
		if len(cell) > longestCell {
			return errors.New(text("rules.long", longestCell)), nil
		}
	}
	rows, err := t.rows(tx, s)
	if err != nil {
		return nil, err
	}
	has := func(keys []string) bool {
		return slices.ContainsFunc(rows, func(r ruleRow) bool {
			return !r.Free && slices.EqualFunc(r.Cells[:t.keys], keys,
				func(a, b string) bool { return objectdb.Fold(a) == objectdb.Fold(b) })
		})
	}
	same := slices.EqualFunc(was, cells[:t.keys], func(a, b string) bool { return objectdb.Fold(a) == objectdb.Fold(b) })
	switch {
	case len(was) > 0 && !has(was):
		return errors.New(text("rules.gone", strings.Join(was, " "))), nil
	case !same && has(cells[:t.keys]):
		return errors.New(text("rules.exists", strings.Join(cells[:t.keys], " "))), nil
	}
	return nil, nil
}

// removeRule removes a row. If something still needs it, the person is asked first.
func (c *call) removeRule(t *rules, keys []string) (*result, error) {
	name := strings.Join(keys, " ")
	change, err := c.update("settings "+t.page+" remove "+short(name), func(tx *objectdb.Tx) error {
		warnings, err := t.remove(tx, keys)
		if err == nil && len(warnings) > 0 && c.field("confirm") != "yes" {
			return &confirmation{Title: text("rules.removeTitle", name), Lines: warnings, Button: text("rules.remove"),
				Danger: true, Cancel: c.link("settings/" + t.page)}
		}
		return err
	})
	if err != nil {
		return c.orConfirm(err)
	}
	return c.redirect(c.link("settings/"+t.page), "removed", change), nil
}

// short returns the beginning of a text, for the history.
func short(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
