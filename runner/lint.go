package runner

import (
	"errors"
	"strings"

	"scripter/objectdb"
	"scripter/script/lint"
	"scripter/site"
)

// lintRows returns findings for the tables whose rows are named by addresses, if a is
// such a table or one above it.
func lintRows(tx *objectdb.Tx, a objectdb.Address) ([]lint.Finding, error) {
	var list []lint.Finding
	find := func(at objectdb.Address, rule, prefix string, err error) {
		if err != nil {
			list = append(list, lint.Finding{Name: at.String(), Rule: rule, Message: prefix + err.Error()})
		}
	}
	if isAbove(a, site.LimitRows) {
		rows, err := site.ReadLimitRows(tx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			at := site.LimitRows.Child(r.Address)
			find(at, "limit", "", r.Why)
			for _, c := range r.Cells {
				find(at.Child(c.Name), "limit", "", c.Why)
			}
		}
	}
	if isAbove(a, site.CORSRows) {
		rows, err := site.ReadCORSRows(tx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			find(site.CORSRows.Child(r.Prefix), "cors", "it lets nobody in: ", r.Why)
		}
	}
	if isAbove(a, site.RequireRows) {
		rows, err := site.ReadRequireRows(tx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			at := site.RequireRows.Child(r.Address)
			find(at, "requires", "it admits nobody: ", r.Closed)
			find(at, "requires", "", r.Idle)
		}
	}
	if isAbove(a, site.RouteRows) {
		s, err := site.Read(tx)
		if err != nil {
			return nil, err
		}
		for _, r := range s.Routes().All() {
			notes, err := s.RouteNotes(tx, r)
			if err != nil {
				return nil, err
			}
			for _, note := range notes {
				find(r.Address(), "route", "", errors.New(note))
			}
		}
	}
	if isAbove(a, site.Roles) {
		people, err := site.People(tx)
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			find(site.Roles.Child(p.Name), "role", "it gives no rights: ", p.Role.Err)
		}
	}
	if isAbove(a, site.HistoryRows) {
		rows, err := site.ReadHistoryRows(tx)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			find(site.HistoryRows.Child(r.Address), "history", "", r.Why)
		}
	}
	return list, nil
}

// isAbove reports whether a is the table or contains it.
func isAbove(a, table objectdb.Address) bool {
	return len(a) <= len(table) && strings.EqualFold(table[:len(a)].String(), a.String())
}
