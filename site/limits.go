package site

import (
	"slices"

	"scripter/objectdb"
)

// LimitRows is the table of the limits of single scripts. The name of a row is the
// address of a script, or of a table: then the row applies to everything in the table.
// Its cells have the names of settings. For each setting the row with the nearest
// address applies.
var LimitRows = home.Child("limits")

// limitSettings are the settings that limit one request.
var limitSettings = []*Setting{
	MaxTime, MaxInstructions, MaxMemory, MaxString, MaxDepth, MaxPatternSteps, MaxCoroutines, MaxSource,
	MaxMacros, MaxBody, MaxFields, MaxResponse, SlowLog,
}

// FindLimit returns the setting with a name if a row of [LimitRows] may have it.
func FindLimit(name string) (*Setting, bool) {
	s, ok := Find(name)
	return s, ok && slices.Contains(limitSettings, s)
}

// A Limit is the value of a limit and where it was set.
type Limit struct {
	Setting *Setting
	Value   float64
	Row     string // the name of its row in LimitRows; "" = it is the value of the setting
}

// From returns the address where the limit was set.
func (l Limit) From() objectdb.Address {
	if l.Row == "" {
		return l.Setting.Address()
	}
	return LimitRows.Child(l.Row).Child(l.Setting.Name)
}

// limitCells is a row of LimitRows, without its invalid values.
type limitCells struct {
	name  string
	cells map[*Setting]float64
}

// Limits are the limits of the requests that one object answers.
type Limits struct {
	site *Snapshot
	rows []limitCells // the nearest first
}

// HasLimits reports whether any script may have limits of its own.
func (s *Snapshot) HasLimits() bool { return len(s.limits) > 0 }

// Limits returns the limits of the object at a. If a is nil, they are the settings.
func (s *Snapshot) Limits(a objectdb.Address) Limits {
	l := Limits{site: s}
	if len(s.limits) == 0 {
		return l
	}
	for ; len(a) > 0; a = a[:len(a)-1] {
		if row, ok := s.limits[objectdb.Fold(a.String())]; ok {
			l.rows = append(l.rows, row)
		}
	}
	return l
}

// Get returns the limit for a setting.
func (l Limits) Get(set *Setting) Limit {
	for _, r := range l.rows {
		if v, ok := r.cells[set]; ok {
			return Limit{set, v, r.name}
		}
	}
	return Limit{Setting: set, Value: l.site.Number(set)}
}

// All lists the limits.
func (l Limits) All() []Limit {
	var list []Limit
	for _, set := range limitSettings {
		list = append(list, l.Get(set))
	}
	return list
}

// Most returns the largest value that a limit has for any script.
func (s *Snapshot) Most(set *Setting) float64 {
	most := s.Number(set)
	for _, row := range s.limits {
		if v, ok := row.cells[set]; ok {
			most = max(most, v)
		}
	}
	return most
}

func (r *reader) limitRows() map[string]limitCells {
	rows := map[string]limitCells{}
	for _, n := range r.children(LimitRows.Name()) {
		if n.Kind() != objectdb.KindTable {
			continue
		}
		cells := map[*Setting]float64{}
		for _, c := range r.limitCells(n) {
			if c.Why == nil {
				cells[c.Setting] = float64(c.Value.(objectdb.Number))
			}
		}
		rows[objectdb.Fold(n.Name())] = limitCells{n.Name(), cells}
	}
	return rows
}

// limitNamed returns the limit with a name, or nil. It ignores case.
func limitNamed(name string) *Setting {
	for _, s := range limitSettings {
		if objectdb.Fold(s.Name) == objectdb.Fold(name) {
			return s
		}
	}
	return nil
}
