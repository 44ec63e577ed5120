package admin

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
	"scripter/valuetext"
)

const (
	tableRows   = 100  // rows of a page
	gridColumns = 24   // columns of a grid; a record with more cells is not shown whole
	sortRows    = 5000 // rows of the largest table that is sorted by its values
	countMost   = 10_000
)

// tableData is what the page of a table shows, beside what that of every object has.
type tableData struct {
	View    string    `json:"view"` // "list" or "grid"
	Count   int       `json:"count"`
	Many    bool      `json:"many,omitempty"` // there are more than Count
	Objects []object  `json:"objects,omitempty"`
	Columns []column  `json:"columns,omitempty"`
	Rows    []gridRow `json:"rows,omitempty"`
	// Next and Previous are the parameters of the pages beside this one, or nil.
	Next     []string `json:"next,omitempty"`
	Previous []string `json:"previous,omitempty"`
	Sort     string   `json:"sort,omitempty"`
	Down     bool     `json:"down,omitempty"` // the greatest first
	Masked   bool     `json:"-"`              // the page masks a value that the person may see
}

// column is a column of a grid: the cells with one name.
type column struct {
	Name string `json:"name"`
	fold string
}

// SortName is the name of the column in a URL.
func (c column) SortName() string { return "." + c.Name }

// AriaSort returns the attribute that tells by which column the rows are sorted.
func (data *tableData) AriaSort(name string) template.HTMLAttr {
	switch {
	case cmp.Or(data.Sort, "name") != name:
		return ""
	case data.Down:
		return ` aria-sort="descending"`
	}
	return ` aria-sort="ascending"`
}

// sorter is a link in the head of a column.
type sorter struct {
	Link, Text string
	Up, Down   bool // the rows are sorted by it
}

// Sorter returns the link that sorts the table by a column, the other way if it is sorted by it.
func (data *tableData) Sorter(f *frame, a objectdb.Address, name, text string) sorter {
	by := cmp.Or(data.Sort, "name") == name
	order := ""
	if by && !data.Down {
		order = "down"
	}
	return sorter{Text: text, Up: by && !data.Down, Down: by && data.Down,
		Link: f.linkTo("at", a, "view", data.View, "sort", name, "order", order)}
}

// gridRow is an object of a table as a row: a table with its cells, or a value in one cell.
type gridRow struct {
	object
	Cells []gridCell `json:"cells"`
}

// gridCell is a value in a grid. A record need not have all cells.
type gridCell struct {
	Address objectdb.Address `json:"-"`
	Column  string           `json:"column"`
	Kind    string           `json:"kind,omitempty"` // "" if there is none
	Version int64            `json:"version,omitempty"`
	Value   string           `json:"value,omitempty"`
	Edit    bool             `json:"-"` // can be changed in place
	value   objectdb.Value
	masked  bool
}

// readTable fills in the page of a table.
func (c *call) readTable(tx *objectdb.Tx, a objectdb.Address, t *objectdb.Node, data *tableData) error {
	count, err := tx.CountUpTo(t, "", "", countMost+1)
	if err != nil {
		return err
	}
	if data.Count, data.Many = count, count > countMost; data.Many {
		data.Count = countMost
	}
	data.Sort, data.Down = c.query("sort"), c.query("order") == "down"
	sorts := data.Sort != "" && data.Sort != "name"
	if sorts && count > sortRows {
		return bad("table.unsorted", thousands(sortRows))
	}
	nodes, err := c.tablePage(tx, t, data, sorts)
	if err != nil {
		return err
	}
	records, err := areRecords(tx, nodes)
	if err != nil {
		return err
	}
	if data.View = c.query("view"); data.View != "list" && data.View != "grid" {
		if data.View = "list"; records {
			data.View = "grid"
		}
	}
	if data.View == "grid" {
		err = c.readGrid(tx, a, nodes, data)
	}
	for _, n := range nodes {
		if data.View == "list" {
			o := c.describe(tx, a.Child(n.Name()), n)
			data.Objects, data.Masked = append(data.Objects, o), data.Masked || o.Secret
		}
	}
	data.Masked = data.Masked && c.role.Kind == site.RoleOwner
	if err == nil && sorts {
		page, _ := strconv.Atoi(c.query("page"))
		data.sortRows(page)
	}
	return err
}

// tablePage returns the objects of the page that the URL asks for. To sort by values, it returns
// all.
func (c *call) tablePage(tx *objectdb.Tx, t *objectdb.Node, data *tableData, all bool) ([]*objectdb.Node, error) {
	if all {
		return tx.Page(t, "", "", false, sortRows)
	}
	from, before := c.query("from"), c.query("before")
	backward := data.Down || before != ""
	nodes, err := tx.Page(t, objectdb.Fold(from), objectdb.Fold(before), backward, tableRows+1)
	if err != nil || len(nodes) == 0 {
		return nodes, err
	}
	more := len(nodes) > tableRows
	if more && backward {
		nodes = nodes[1:]
	} else if more {
		data.Next, nodes = []string{"from", nodes[tableRows].Name()}, nodes[:tableRows]
	}
	first := []string{"before", nodes[0].Name()}
	switch {
	case data.Down:
		if slices.Reverse(nodes); more {
			data.Next = append(first, "sort", "name", "order", "down")
		}
		return nodes, nil
	case backward:
		data.Next = []string{"from", before}
	}
	if more && backward || from != "" {
		data.Previous = first
	}
	return nodes, nil
}

// areRecords reports whether all objects are tables of values.
func areRecords(tx *objectdb.Tx, nodes []*objectdb.Node) (bool, error) {
	for _, n := range nodes[:min(len(nodes), 10)] {
		if n.Kind() != objectdb.KindTable {
			return false, nil
		}
		cells, err := tx.Page(n, "", "", false, gridColumns+1)
		if err != nil {
			return false, err
		}
		if len(cells) == 0 || len(cells) > gridColumns ||
			slices.ContainsFunc(cells, func(n *objectdb.Node) bool { return n.Kind() == objectdb.KindTable }) {
			return false, nil
		}
	}
	return len(nodes) > 0, nil
}

// readGrid makes rows of objects.
func (c *call) readGrid(tx *objectdb.Tx, a objectdb.Address, nodes []*objectdb.Node, data *tableData) error {
	rows := make([]map[string]gridCell, len(nodes))
	for i, n := range nodes {
		rows[i] = map[string]gridCell{}
		at := a.Child(n.Name())
		row := gridRow{object: object{Address: at, Dotted: at.String(), Name: n.Name(), Kind: n.Kind().String(),
			Version: n.Version(), Modified: n.Modified()}}
		data.Rows = append(data.Rows, row)
		cells := []*objectdb.Node{n}
		if n.Kind() == objectdb.KindTable {
			cells = nil
			if c.role.MaySee(at) {
				var err error
				if cells, err = tx.Page(n, "", "", false, gridColumns); err != nil {
					return err
				}
			}
		}
		for _, cell := range cells {
			col, at := "", at
			if cell != n {
				col, at = cell.Name(), at.Child(cell.Name())
			}
			fold := objectdb.Fold(col)
			if !slices.ContainsFunc(data.Columns, func(c column) bool { return c.fold == fold }) {
				data.Columns = append(data.Columns, column{col, fold})
			}
			made, err := c.cell(tx, at, cell)
			if err != nil {
				return err
			}
			rows[i][fold] = made
			data.Masked = data.Masked || made.masked
		}
	}
	slices.SortStableFunc(data.Columns, func(a, b column) int { // values of the table itself first
		return cmp.Compare(min(len(a.fold), 1), min(len(b.fold), 1))
	})
	if len(data.Columns) > gridColumns {
		data.Columns = data.Columns[:gridColumns]
	}
	for i := range data.Rows {
		row := &data.Rows[i]
		for _, col := range data.Columns {
			cell, ok := rows[i][col.fold]
			if !ok && row.Kind == "table" && col.Name != "" {
				cell = gridCell{Address: row.Address.Child(col.Name), Edit: true}
			}
			cell.Column = col.Name
			cell.Edit = cell.Edit && !c.inPast && c.role.MayChange(cell.Address)
			row.Cells = append(row.Cells, cell)
		}
	}
	return nil
}

// cell returns an object as a cell of a grid. Long texts are shortened, and edited elsewhere.
func (c *call) cell(tx *objectdb.Tx, a objectdb.Address, n *objectdb.Node) (gridCell, error) {
	cell := gridCell{Address: a, Kind: n.Kind().String(), Version: n.Version()}
	switch {
	case n.Kind() == objectdb.KindTable:
		return cell, nil
	case !c.maySeeValue(a, n.Kind()):
		cell.Value, cell.masked = text("object.masked"), true
		return cell, nil
	case n.Size() > maxPreview:
		cell.Value = byteSize(n.Size())
		return cell, nil
	}
	v, err := tx.Value(n)
	if err != nil {
		return cell, err
	}
	cell.value = v
	cell.Value = preview(v)
	switch n.Kind() {
	case objectdb.KindString, objectdb.KindNumber, objectdb.KindBoolean, objectdb.KindDate, objectdb.KindAddress:
		whole := valuetext.Format(v)
		cell.Edit = len(whole) <= 2000 && !strings.ContainsAny(whole, "\r\n")
		if cell.Edit {
			cell.Value = whole
		}
	}
	return cell, nil
}

// sortRows sorts a grid or list by the values of the column that data names, and keeps one page,
// counted from 0.
func (data *tableData) sortRows(page int) {
	fold := objectdb.Fold(strings.TrimPrefix(data.Sort, "."))
	i := slices.IndexFunc(data.Columns, func(c column) bool { return c.fold == fold })
	order := func(n int) int { return n }
	if data.Down {
		order = func(n int) int { return -n }
	}
	if i >= 0 {
		slices.SortStableFunc(data.Rows, func(a, b gridRow) int { return order(compareCells(a.Cells[i], b.Cells[i])) })
	}
	slices.SortStableFunc(data.Objects, func(a, b object) int {
		switch data.Sort {
		case "kind":
			return order(cmp.Compare(a.Kind, b.Kind))
		case "size":
			return order(cmp.Compare(a.Size, b.Size))
		case "modified":
			return order(a.Modified.Compare(b.Modified))
		}
		return 0
	})
	n := max(len(data.Rows), len(data.Objects))
	low := min(max(page, 0)*tableRows, n)
	high := min(low+tableRows, n)
	beside := func(page int) []string {
		return []string{"view", data.View, "sort", data.Sort, "order", map[bool]string{true: "down"}[data.Down],
			"page", strconv.Itoa(page)}
	}
	if high < n {
		data.Next = beside(page + 1)
	}
	if page > 0 {
		data.Previous = beside(page - 1)
	}
	if len(data.Rows) > 0 {
		data.Rows = data.Rows[low:high]
	} else {
		data.Objects = data.Objects[low:high]
	}
}

// compareCells compares numbers as numbers, dates as dates and everything else as text. Missing cells come last.
func compareCells(a, b gridCell) int {
	switch x := a.value.(type) {
	case objectdb.Number:
		if y, ok := b.value.(objectdb.Number); ok {
			return cmp.Compare(x, y)
		}
	case objectdb.Date:
		if y, ok := b.value.(objectdb.Date); ok {
			return x.Compare(y.Time)
		}
	}
	if (a.Kind == "") != (b.Kind == "") {
		return cmp.Compare(b.Kind, a.Kind)
	}
	return cmp.Compare(strings.ToLower(a.Value), strings.ToLower(b.Value))
}

// saveCell stores a value that was edited in place. The address is that of the table or of the cell
// itself; the field "cell" is the address of the cell.
func (c *call) saveCell(a objectdb.Address) (*result, error) {
	at, err := c.parseAddress(c.field("cell"))
	if err != nil {
		return nil, err
	}
	if len(at) <= len(a) || !at[:len(a)].Equal(a) {
		return nil, bad("table.elsewhere", at.String(), name(a))
	}
	if err := c.mayChange(at); err != nil {
		return nil, err
	}
	change, err := c.update("cell "+at.String(), func(tx *objectdb.Tx) error {
		k := objectdb.KindString // of a cell that is not there yet
		n, err := tx.Find(at)
		switch {
		case errors.Is(err, objectdb.ErrNotFound):
			if c.field("version") != "" {
				return newProblem(http.StatusConflict, "table.gone", at.String())
			}
		case err != nil:
			return err
		default:
			if c.field("version") != strconv.FormatInt(n.Version(), 10) {
				return c.changedCell(tx, at, n)
			}
			k = n.Kind()
		}
		v, err := valuetext.Parse(k, c.field("value"))
		if err != nil {
			return badInput(err)
		}
		return tx.Put(at, v)
	})
	if err != nil {
		return nil, err
	}
	var saved gridCell
	err = c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(at)
		if err == nil {
			saved, err = c.cell(tx, at, n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res := c.redirect(c.linkTo("at", a, "view", "grid"), "saved", change)
	res.data = map[string]any{"saved": true, "version": saved.Version, "value": saved.Value, "change": change,
		"message": text("said.saved")}
	return res, nil
}

// changedCell returns the problem of a cell that was changed meanwhile.
func (c *call) changedCell(tx *objectdb.Tx, at objectdb.Address, n *objectdb.Node) error {
	theirs := ""
	if n.Kind() != objectdb.KindTable && c.role.MaySee(at) && !requestlog.IsSecret(at, n.Kind()) {
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		theirs = preview(v)
	}
	return &problem{Status: http.StatusConflict, Text: text("table.changed", at.String(), theirs),
		Data: map[string]any{"conflict": map[string]any{"theirs": theirs, "version": n.Version()}}}
}
