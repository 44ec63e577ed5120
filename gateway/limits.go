package gateway

import (
	"errors"
	"fmt"
	"slices"

	"scripter/lua"
	"scripter/objectdb"
)

// limitSettings are the settings that bound one request. user.webserver.limits
// may say otherwise for a script, or for all scripts of a table: its rows are
// tables under the addresses of what they are for, with cells under the names
// of the settings. The row of the nearest address counts, cell by cell.
var limitSettings = []*Setting{
	maxTime, maxInstructions, maxMemory, maxString, maxDepth, maxPatternSteps, maxCoroutines, maxSource, maxMacros, maxBody, maxFields, maxResponse,
	slowLog,
}

// LimitRows is where limits of single scripts are set.
var LimitRows = objectdb.Address{"user", "webserver", "limits"}

// FindLimit finds a setting that a row of [LimitRows] may have, by its name.
func FindLimit(name string) (*Setting, bool) {
	s, ok := FindSetting(name)
	return s, ok && slices.Contains(limitSettings, s)
}

// scriptLimits are the names that package script has for limits, and their settings.
var scriptLimits = map[string]*Setting{
	"time": maxTime, "instructions": maxInstructions, "memory": maxMemory,
	"string": maxString, "patterns": maxPatternSteps, "coroutines": maxCoroutines, "depth": maxDepth,
	"source": maxSource,
}

// limits are what one request may use.
type limits struct {
	settings settings
	rows     []limitRow // those of the script that answers, the nearest first
}

type limitRow struct {
	node *objectdb.Node
	name string // as the root spells it
}

// of gives the limits of the object at a; nil for what the settings say.
func (s settings) limitsOf(a objectdb.Address) limits {
	l := limits{settings: s}
	if r := s.known(); r != nil && !r.limited {
		return l
	}
	home := s.table(LimitRows.Name())
	if home == nil {
		return l
	}
	for ; len(a) > 0; a = a[:len(a)-1] {
		n, err := s.tx.Child(home, a.String())
		s.note(err)
		if err == nil && n.Kind() == objectdb.KindTable {
			l.rows = append(l.rows, limitRow{n, n.Name()})
		}
	}
	return l
}

// limitsFor returns the limits of the object that answers for a target.
func (s settings) limitsFor(t Target) limits {
	if r := s.known(); r != nil && !r.limited {
		return limits{settings: s}
	}
	return s.limitsOf(s.answering(t))
}

// find gives the value of a limit and the row that has it, "" for none. A value
// in a row that is no good counts as not there.
func (l limits) find(set *Setting) (value float64, row string) {
	for _, r := range l.rows {
		if v, err := l.settings.cell(r.node, set); err == nil {
			return float64(v.(objectdb.Number)), r.name
		}
	}
	return l.settings.number(set), ""
}

// limitAddress is where a limit was set: in a row, or as a setting.
func limitAddress(set *Setting, row string) objectdb.Address {
	if row == "" {
		return set.Address()
	}
	return LimitRows.Child(row).Child(set.Name)
}

// cell reads a setting from a row.
func (s settings) cell(row *objectdb.Node, set *Setting) (objectdb.Value, error) {
	n, err := s.tx.Child(row, set.Name)
	if err != nil {
		return nil, errNotSet
	}
	return s.checked(n, set)
}

func (l limits) number(set *Setting) float64 {
	n, _ := l.find(set)
	return n
}

// bytes reads a limit in megabytes.
func (l limits) bytes(set *Setting) int64 { return int64(l.number(set) * (1 << 20)) }

// count gives a limit of things.
func (l limits) count(set *Setting) bound {
	n, row := l.find(set)
	return bound{set, int64(n), row}
}

// size gives a limit of megabytes, in bytes.
func (l limits) size(set *Setting) bound {
	n, row := l.find(set)
	return bound{set, int64(n * (1 << 20)), row}
}

// bound is one limit, for those who count.
type bound struct {
	set  *Setting
	most int64
	row  string // that has it, see limits.find
}

// bound gives a bound that nobody has set.
func (s *Setting) bound(most int64) bound { return bound{s, most, ""} }

// error makes the error of the limit: text, and where it was set.
func (b bound) error(format string, args ...any) error {
	return &limitError{b.set, fmt.Sprintf(format, args...) + " (" + limitAddress(b.set, b.row).String() + ")"}
}

// tooLarge is error for a visitor whose request is the reason: 413.
func (b bound) tooLarge(format string, args ...any) error {
	err := b.error(format, args...)
	return &Error{Status: 413, Message: err.Error(), Err: err}
}

// limitError says that a limit was reached, which, and where it was set.
type limitError struct {
	set  *Setting
	text string
}

func (e *limitError) Error() string { return e.text }

// script gives what bounds the scripts.
func (l limits) script() lua.Limits {
	if r := l.settings.known(); r != nil && l.rows == nil {
		return r.limits
	}
	return l.read()
}

func (l limits) read() lua.Limits {
	s := lua.DefaultLimits()
	s.Time = secondsOf(l.number(maxTime))
	s.Instructions = int64(l.number(maxInstructions) * 1e6)
	s.MemoryBytes = l.bytes(maxMemory)
	s.StringBytes = int(l.bytes(maxString))
	s.CallDepth = int(l.number(maxDepth))
	s.PatternSteps = int64(l.number(maxPatternSteps) * 1e6)
	s.Coroutines = int(l.number(maxCoroutines))
	s.SourceBytes = int(l.number(maxSource) * (1 << 10))
	return s
}

// SourceLimit gives the bytes that the source of a script at a may have.
func SourceLimit(tx *objectdb.Tx, a objectdb.Address) int {
	return readSettings(tx).limitsOf(a).script().SourceBytes
}

// limitFrom tells where a limit was set, by the name that package script has for it.
func (c *attempt) limitFrom(limit string) string {
	set := scriptLimits[limit]
	if set == nil {
		return ""
	}
	_, row := c.limits.find(set)
	return limitAddress(set, row).String()
}

// answering returns the address of the object that answers for a target: the
// script of its action, or what its path names. It need not be there; nil when
// nothing can be.
func (s settings) answering(t Target) objectdb.Address {
	if n := s.node("actions", t.Action); n != nil {
		return objectdb.Address{"user", "webserver", "actions", n.Name()}
	}
	names, err := s.namesOf(t.Path)
	if err != nil {
		return nil
	}
	return append(slices.Clone(webserverScripts), names...)
}

// LimitOf gives the name of the setting whose limit has ended a request with
// err, "" when none has.
func LimitOf(err error) string {
	if set := scriptLimits[lua.LimitName(err)]; set != nil {
		return set.Name
	}
	var own *limitError
	if errors.As(err, &own) {
		return own.set.Name
	}
	var crowd *crowded
	if errors.As(err, &crowd) {
		return crowd.setting
	}
	return ""
}
