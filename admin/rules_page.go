package admin

import (
	"net/url"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/site"
)

// rulesData is the page of a table of rules.
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
	Inputs  []ruleInput      `json:"-"` // the cells of the form for a new row, or for the row that is changed
	Typed   []string         `json:"-"` // the cells of a row that was not stored
	Editing bool             `json:"-"` // Typed belongs to the row Was
	Was     []string         `json:"-"` // the keys of that row
	Before  []string         `json:"-"` // the present cells of that row
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
	choices := map[string][]string{"limit": limitNames(), "keep": site.HistoryRuleTexts}
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
		if row.Always {
			m["supplied"] = true
		}
		data.List = append(data.List, m)
		row.Editing = data.Editing && slices.Equal(row.Cells[:t.keys], data.Was)
		if row.Editing {
			data.Before = row.Cells
		}
		if row.Editing && data.Typed == nil {
			data.Typed = row.Cells
		}
	}
	data.Inputs = data.inputs(choices)
	return &result{template: "rules", title: data.Title, data: data}, nil
}

// ruleInput is a cell in the form of a row.
type ruleInput struct {
	Name, Value, Example string
	Options              []string
	Choice, Number       bool
	Focus                bool // it has the focus when the page opens
}

// inputs returns the cells of the form.
func (data *rulesData) inputs(choices map[string][]string) (list []ruleInput) {
	focus := -1
	if data.Error != "" {
		focus = 0
	} else if data.Editing {
		focus = data.Keys // keys are changed less often
	}
	for i, col := range data.Columns {
		in := ruleInput{Name: col.Name, Example: col.Example, Options: slices.Clone(choices[col.Kind]), Choice: col.Choice,
			Number: col.Kind == "number", Focus: i == focus}
		if i < len(data.Typed) {
			in.Value = data.Typed[i]
		}
		if len(in.Options) > 0 && in.Value != "" && !slices.Contains(in.Options, in.Value) {
			in.Options = append(in.Options, in.Value)
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
	return f.link("settings/"+data.Page) + "?" + q.Encode()
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
