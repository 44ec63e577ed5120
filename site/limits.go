package site

import (
	"slices"

	"scripter/objectdb"
)

// The settings that limit what requests may use, and their defaults.
var (
	MaxBody = &Setting{Name: "maxBody", Default: objectdb.Number(16), Title: "Largest body",
		Meaning: "megabytes of a request's body; more is answered 413", Check: between(0, 1<<12)}
	MaxFields = &Setting{Name: "maxFields", Default: objectdb.Number(1000), Title: "Most form fields",
		Meaning: "fields and parts of a form; more is answered 413", Check: whole(1, 1<<20)}
	MaxFile = &Setting{Name: "maxFile", Default: objectdb.Number(0), Title: "Largest file of a form",
		Meaning: "megabytes of one file in a form; more is answered 413; 0 = as much as maxBody", Check: between(0, 1<<12)}
	MaxResponse = &Setting{Name: "maxResponse", Default: objectdb.Number(64), Title: "Largest response",
		Meaning: "megabytes of a response that is held until the commit; sendPartial is not bound by it",
		Check:   between(1, 1<<12)}
	MaxTime = &Setting{Name: "maxTime", Default: objectdb.Number(10), Title: "Longest run",
		Meaning: "seconds that all scripts of one request may take together", Check: between(0.01, 3600)}
	MaxInstructions = &Setting{Name: "maxInstructions", Default: objectdb.Number(1000), Title: "Most instructions",
		Meaning: "millions of Lua instructions that all scripts of one request may take together",
		Check:   between(0.001, 1<<20)}
	MaxMemory = &Setting{Name: "maxMemory", Default: objectdb.Number(64), Title: "Most memory",
		Meaning: "megabytes that the scripts of one request may hold", Check: between(1, 1<<14)}
	MaxString = &Setting{Name: "maxString", Default: objectdb.Number(16), Title: "Longest string",
		Meaning: "megabytes of the longest string that a script can make", Check: between(0.001, 1<<9)}
	MaxDepth = &Setting{Name: "maxDepth", Default: objectdb.Number(10000), Title: "Deepest calls",
		Meaning: "calls of Lua functions within one another", Check: whole(10, 1<<20)}
	MaxPatternSteps = &Setting{Name: "maxPatternSteps", Default: objectdb.Number(20), Title: "Most pattern steps",
		Meaning: "millions of steps that one search for a pattern may take", Check: between(0.001, 1<<14)}
	MaxCoroutines = &Setting{Name: "maxCoroutines", Default: objectdb.Number(1000), Title: "Most coroutines",
		Meaning: "coroutines that the scripts of one request may have at a time; one that has ended does not count",
		Check:   whole(1, 1<<20)}
	MaxSource = &Setting{Name: "maxSource", Default: objectdb.Number(256), Title: "Longest source",
		Meaning: "kilobytes of the source of one script, or of a text for load", Check: between(1, 1<<10)}
	MaxMacros = &Setting{Name: "maxMacros", Default: objectdb.Number(10000), Title: "Most markers",
		Meaning: "markers that one request may expand", Check: whole(1, 1<<24)}
	MaxFetches = &Setting{Name: "maxFetches", Default: objectdb.Number(10), Title: "Most fetches",
		Meaning: "calls of http.fetch that one request may make", Check: whole(0, 10000)}
	MaxFetchSize = &Setting{Name: "maxFetchSize", Default: objectdb.Number(4), Title: "Largest fetched body",
		Meaning: "megabytes of one answer to http.fetch, uncompressed", Check: between(0.001, 1<<9)}
	MaxFetchTime = &Setting{Name: "maxFetchTime", Default: objectdb.Number(5), Title: "Longest fetch",
		Meaning: "seconds that one http.fetch may take; the time counts for maxTime, too", Check: between(0.01, 3600)}
	MaxSQLRows = &Setting{Name: "maxSqlRows", Default: objectdb.Number(10000), Title: "Most rows",
		Meaning: "rows of one answer of a database (sql.open)", Check: whole(1, 1<<24)}
	MaxSQLSize = &Setting{Name: "maxSqlSize", Default: objectdb.Number(4), Title: "Largest answer of a database",
		Meaning: "megabytes of one answer of a database (sql.open)", Check: between(0.001, 1<<9)}
	MaxSQLTime = &Setting{Name: "maxSqlTime", Default: objectdb.Number(5), Title: "Longest statement",
		Meaning: "seconds that one statement of a database (sql.open) may take; the time counts for maxTime, too",
		Check:   between(0.01, 3600)}
	MaxRunning = &Setting{Name: "maxRunning", Default: objectdb.Number(0), Title: "Most requests at once",
		Meaning: "requests that run at one time, others wait for their turn; 0 = what the program finds right",
		Check:   whole(0, 1<<16)}
	MaxWaiting = &Setting{Name: "maxWaiting", Default: objectdb.Number(256), Title: "Most requests waiting",
		Meaning: "requests that wait for their turn, at most maxTime seconds; more are answered 503",
		Check:   whole(0, 1<<20)}
)

// LimitRows is the table of the limits of single scripts. The name of a row is the
// address of a script, or of a table: then the row applies to everything in the table.
// Its cells have the names of settings. For each setting the row with the nearest
// address applies.
var LimitRows = home.Child("limits")

// limitSettings are the settings that limit one request.
var limitSettings = []*Setting{
	MaxTime, MaxInstructions, MaxMemory, MaxString, MaxDepth, MaxPatternSteps, MaxCoroutines, MaxSource,
	MaxMacros, MaxBody, MaxFields, MaxFile, MaxResponse, MaxFetches, MaxFetchSize, MaxFetchTime, MaxSQLRows,
	MaxSQLSize, MaxSQLTime, SlowLog,
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
