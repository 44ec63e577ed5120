package gateway

import (
	"errors"
	"fmt"
	"slices"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/site"
)

// limitSettings are the settings of the limits that package lua has, by its names.
var limitSettings = map[string]*site.Setting{
	"time": site.MaxTime, "instructions": site.MaxInstructions, "memory": site.MaxMemory,
	"string": site.MaxString, "patterns": site.MaxPatternSteps, "coroutines": site.MaxCoroutines, "depth": site.MaxDepth,
	"source": site.MaxSource,
}

// scriptLimits returns the limits as package lua has them.
func scriptLimits(l site.Limits) lua.Limits {
	number := func(set *site.Setting) float64 { return l.Get(set).Value }
	s := lua.DefaultLimits()
	s.Time = secondsOf(number(site.MaxTime))
	s.Instructions = int64(number(site.MaxInstructions) * 1e6)
	s.MemoryBytes = int64(number(site.MaxMemory) * (1 << 20))
	s.StringBytes = int(int64(number(site.MaxString) * (1 << 20)))
	s.CallDepth = int(number(site.MaxDepth))
	s.PatternSteps = int64(number(site.MaxPatternSteps) * 1e6)
	s.Coroutines = int(number(site.MaxCoroutines))
	s.SourceBytes = int(number(site.MaxSource) * (1 << 10))
	return s
}

// SourceLimit returns the bytes that the source of a script at a may have.
func SourceLimit(tx *objectdb.Tx, a objectdb.Address) (int, error) {
	s, err := site.Read(tx)
	if err != nil {
		return 0, err
	}
	return scriptLimits(s.Limits(a)).SourceBytes, nil
}

// limitsFor returns the limits of the object that answers for a target.
func limitsFor(tx *objectdb.Tx, s *site.Snapshot, t Target) site.Limits {
	if !s.HasLimits() {
		return s.Limits(nil)
	}
	return s.Limits(answering(tx, s, t))
}

// limits returns the limits of the attempt.
func (c *attempt) limits() site.Limits {
	switch s := c.site(); {
	case c.limitsOf == s:
	case c.plan != nil:
		c.own, c.limitsOf = limitsFor(c.Tx, s, c.target), s
	default:
		c.own, c.limitsOf = s.Limits(c.script), s
	}
	return c.own
}

func (c *attempt) count(set *site.Setting) bound { return countLimit(c.limits(), set) }
func (c *attempt) most(set *site.Setting) bound  { return sizeLimit(c.limits(), set) }

// countLimit returns a limit of things.
func countLimit(l site.Limits, set *site.Setting) bound {
	limit := l.Get(set)
	return bound{limit, int64(limit.Value)}
}

// sizeLimit returns a limit of megabytes, in bytes.
func sizeLimit(l site.Limits, set *site.Setting) bound {
	limit := l.Get(set)
	return bound{limit, int64(limit.Value * (1 << 20))}
}

// bound is one limit, for those who count.
type bound struct {
	limit site.Limit
	most  int64
}

// fixed returns a bound that nobody has set.
func fixed(set *site.Setting, most int64) bound { return bound{site.Limit{Setting: set}, most} }

// error returns the error of the limit: a text, and where the limit was set.
func (b bound) error(format string, args ...any) error {
	return &limitError{b.limit.Setting, fmt.Sprintf(format, args...) + " (" + b.limit.From().String() + ")"}
}

// tooLarge is error for a visitor whose request is the reason: 413.
func (b bound) tooLarge(format string, args ...any) error {
	err := b.error(format, args...)
	return &Error{Status: 413, Message: err.Error(), Err: err}
}

// limitError says that a limit was reached, which, and where it was set.
type limitError struct {
	set  *site.Setting
	text string
}

func (e *limitError) Error() string { return e.text }

// limitFrom returns where a limit was set, by the name that package lua has for it.
func (c *attempt) limitFrom(limit string) string {
	set := limitSettings[limit]
	if set == nil {
		return ""
	}
	return c.limits().Get(set).From().String()
}

// traceLimits traces the limits that differ from the settings.
func (c *attempt) traceLimits(list []site.Limit) {
	for _, l := range list {
		if l.Row != "" {
			c.request.trace("limit %s %v (%s)", l.Setting.Name, l.Value, l.From())
		}
	}
}

// answering returns the address of the object that answers for a target: the
// script of its action, or what its path names. It need not be there; nil when
// nothing can be.
func answering(tx *objectdb.Tx, s *site.Snapshot, t Target) objectdb.Address {
	if a, _ := s.Action(t.Action); a.Object != nil {
		return a.Object
	}
	names, err := namesOf(tx, s, t.Path)
	if err != nil {
		return nil
	}
	return append(slices.Clone(site.Scripts), names...)
}

// LimitOf gives the name of the setting whose limit has ended a request with
// err, "" when none has.
func LimitOf(err error) string {
	if set := limitSettings[lua.LimitName(err)]; set != nil {
		return set.Name
	}
	var own *limitError
	if errors.As(err, &own) {
		return own.set.Name
	}
	var crowd *busyError
	if errors.As(err, &crowd) {
		return crowd.setting
	}
	return ""
}
