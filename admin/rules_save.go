package admin

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/site"
)

// longestCell is the number of bytes that a cell of a row may have.
const longestCell = 2000

// changeRules does what the form of a row asks for:
//
//	do=set     a field for each column; was=… with the keys of the row that it replaces, or none;
//	           before=… with the cells that the form showed at first, if others must not be overwritten
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

// setRule stores a row. If its keys have changed, it replaces the row with the old keys.
func (c *call) setRule(t *rules, was []string) (*result, error) {
	var cells []string
	for _, col := range t.columns {
		if col.Kind != "fixed" {
			cell := strings.TrimSpace(c.field(col.Name))
			if a, err := objectdb.ParseAddress(cell); col.Kind == "address" && err == nil {
				cell = a.String() // the form in which rows are named
			}
			cells = append(cells, cell)
		}
	}
	var mistake error
	what := "settings " + t.page + " " + short(strings.Join(cells[:t.keys], " "), 80)
	change, err := c.update(what, func(tx *objectdb.Tx) error {
		mistake = nil
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		if mistake, err = checkRule(tx, s, t, cells, was, c.r.PostForm["before"]); err != nil || mistake != nil {
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
	return errors.Is(err, objectdb.ErrConflict) || errors.Is(err, objectdb.ErrBusy) || objectdb.IsFailure(err) ||
		errors.Is(err, objectdb.ErrReadOnly)
}

// checkRule checks what the checks of package site do not: that no other row is overwritten, and that the row still
// exists and nobody has changed it meanwhile.
func checkRule(tx *objectdb.Tx, s *site.Snapshot, t *rules, cells, was, before []string) (mistake, err error) {
	for _, cell := range cells {
		if len(cell) > longestCell {
			return errors.New(text("rules.long", longestCell)), nil
		}
	}
	rows, err := t.rows(tx, s)
	if err != nil {
		return nil, err
	}
	equal := func(a, b string) bool { return objectdb.Fold(a) == objectdb.Fold(b) }
	find := func(keys []string) int {
		return slices.IndexFunc(rows, func(r ruleRow) bool {
			return !r.Free && slices.EqualFunc(r.Cells[:t.keys], keys, equal)
		})
	}
	old := -1
	if len(was) > 0 {
		if old = find(was); old < 0 {
			return errors.New(text("rules.gone", strings.Join(was, " "))), nil
		}
	}
	switch other := find(cells[:t.keys]); {
	case old >= 0 && len(before) > 0 && !slices.Equal(before, rows[old].Cells):
		return errors.New(text("rules.changed", strings.Join(rows[old].Cells, " "))), nil
	case other >= 0 && other != old:
		return errors.New(text("rules.exists", strings.Join(cells[:t.keys], " "))), nil
	}
	return nil, nil
}

// removeRule removes a row. If something still needs it, the person is asked first.
func (c *call) removeRule(t *rules, keys []string) (*result, error) {
	name := strings.Join(keys, " ")
	change, err := c.update("settings "+t.page+" remove "+short(name, 80), func(tx *objectdb.Tx) error {
		warnings, err := t.remove(tx, keys)
		if err == nil && len(warnings) > 0 && c.field("confirm") != "yes" {
			q := &confirmation{Title: text("rules.removeTitle", name), Button: text("rules.remove"), Danger: true,
				Cancel: c.link("settings/" + t.page)}
			for _, w := range warnings {
				q.Lines = append(q.Lines, text("rules.needed", w))
			}
			q.Lines = append(q.Lines, text("rules.mayUndo"))
			return q
		}
		return err
	})
	if err != nil {
		return c.orConfirm(err)
	}
	return c.redirect(c.link("settings/"+t.page), "removed", change), nil
}
