package admin

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"scripter/objectdb"
)

// pasteMost is how many rows can be pasted at once.
const pasteMost = 20_000

// pasteData is the page that shows what was pasted before it is stored.
type pasteData struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	Text    string           `json:"-"`
	Header  bool             `json:"header"` // the first line has the names of the columns
	Key     string           `json:"key"`    // the column whose values are the names of the rows; "" = numbers
	Columns []string         `json:"columns"`
	Rows    [][]string       `json:"rows"` // the first ones
	Count   int              `json:"count"`
}

// pasted is a table of values that was pasted.
type pasted struct {
	columns []string
	names   []string // of the rows, or nil
	rows    [][]objectdb.Value
}

// parsePasted reads CSV, lines with tabs, or JSON: a list of records, or a record of records.
func parsePasted(s string, header bool) (*pasted, error) {
	s = strings.TrimPrefix(s, "\uFEFF")
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{") {
		return parsePastedJSON(t)
	}
	r := csv.NewReader(strings.NewReader(s))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	if line, _, _ := strings.Cut(s, "\n"); strings.Contains(line, "\t") {
		r.Comma = '\t'
	} else if strings.Count(line, ";") > strings.Count(line, ",") {
		r.Comma = ';'
	}
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	p := &pasted{}
	width := 0
	for _, l := range lines {
		width = max(width, len(l))
	}
	if header && len(lines) > 0 {
		p.columns, lines = lines[0], lines[1:]
	}
	for i := len(p.columns); i < width; i++ {
		p.columns = append(p.columns, fmt.Sprintf("column%d", i+1))
	}
	for _, l := range lines {
		row := make([]objectdb.Value, width)
		for i, cell := range l {
			row[i] = objectdb.String(cell)
		}
		p.rows = append(p.rows, row)
	}
	return p, nil
}

func parsePastedJSON(s string) (*pasted, error) {
	p := &pasted{}
	var list []map[string]any
	if strings.HasPrefix(s, "[") {
		if err := json.Unmarshal([]byte(s), &list); err != nil {
			return nil, err
		}
	} else {
		var named map[string]map[string]any
		if err := json.Unmarshal([]byte(s), &named); err != nil {
			return nil, err
		}
		for name := range named {
			p.names = append(p.names, name)
		}
		slices.Sort(p.names)
		for _, name := range p.names {
			list = append(list, named[name])
		}
	}
	seen := map[string]int{}
	for _, record := range list {
		for name := range record {
			seen[name] = 0
		}
	}
	for name := range seen {
		p.columns = append(p.columns, name)
	}
	slices.Sort(p.columns)
	for _, record := range list {
		row := make([]objectdb.Value, len(p.columns))
		for i, name := range p.columns {
			switch v := record[name].(type) {
			case nil:
			case string:
				row[i] = objectdb.String(v)
			case float64:
				row[i] = objectdb.Number(v)
			case bool:
				row[i] = objectdb.Boolean(v)
			default:
				return nil, fmt.Errorf("%s", text("paste.nested", name))
			}
		}
		p.rows = append(p.rows, row)
	}
	return p, nil
}

// readPasted reads the fields of the form.
func (c *call) readPasted(a objectdb.Address) (*pasted, *pasteData, error) {
	data := &pasteData{Address: a, Dotted: a.String(), Text: c.field("text"), Key: c.field("key"),
		Header: c.field("header") != "no"}
	p, err := parsePasted(data.Text, data.Header)
	if err != nil {
		return nil, nil, bad("paste.bad", err)
	}
	switch {
	case len(p.rows) == 0 || len(p.columns) == 0:
		err = bad("paste.empty")
	case len(p.rows) > pasteMost:
		err = bad("paste.many", len(p.rows), pasteMost)
	}
	if err == nil && p.names == nil {
		err = p.nameRows(data.Key)
	}
	data.Columns, data.Count = p.columns, len(p.rows)
	return p, data, err
}

// nameRows names the rows by the values of a column, or by numbers.
func (p *pasted) nameRows(key string) error {
	i := slices.Index(p.columns, key)
	if key != "" && i < 0 {
		return bad("paste.key", key)
	}
	digits := len(strconv.Itoa(len(p.rows)))
	seen := map[string]bool{}
	for n, row := range p.rows {
		name := fmt.Sprintf("%0*d", max(digits, 4), n+1)
		if i >= 0 {
			name = ""
			if row[i] != nil {
				name = preview(row[i])
			}
		}
		if err := objectdb.CheckName(name); err != nil {
			return bad("paste.name", n+1, err)
		}
		if seen[objectdb.Fold(name)] {
			return bad("paste.twice", name)
		}
		seen[objectdb.Fold(name)] = true
		p.names = append(p.names, name)
	}
	return nil
}

// pasteRows shows what was pasted, as the table that it would become.
func (c *call) pasteRows(a objectdb.Address) (*result, error) {
	if err := c.mayChange(a); err != nil {
		return nil, err
	}
	p, data, err := c.readPasted(a)
	if err != nil {
		return nil, err
	}
	for i, row := range p.rows[:min(len(p.rows), 10)] {
		cells := []string{p.names[i]}
		for _, v := range row {
			cell := ""
			if v != nil {
				cell = preview(v)
			}
			cells = append(cells, cell)
		}
		data.Rows = append(data.Rows, cells)
	}
	return &result{template: "paste", title: text("paste.title"), data: data}, nil
}

// importRows stores what was pasted: a table for each row. Nothing is overwritten.
func (c *call) importRows(a objectdb.Address) (*result, error) {
	if err := c.mayChange(a); err != nil {
		return nil, err
	}
	p, _, err := c.readPasted(a)
	if err != nil {
		return nil, err
	}
	change, err := c.update("paste into "+a.String(), func(tx *objectdb.Tx) error {
		t, err := tx.Find(a)
		if err != nil {
			return err
		}
		for i, row := range p.rows {
			if _, err := tx.Child(t, p.names[i]); err == nil {
				return newProblem(http.StatusConflict, "error.exists", a.Child(p.names[i]).String())
			}
			made, err := tx.SetTable(t, p.names[i])
			if err != nil {
				return err
			}
			for j, v := range row {
				if v == nil {
					continue
				}
				if err := tx.Set(made, p.columns[j], v); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.redirect(c.linkTo("at", a), "pasted", change), nil
}
