package runner

import (
	"errors"
	"fmt"
	"time"

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

// luaLimits returns the limits as package lua has them.
func luaLimits(l site.Limits) lua.Limits {
	number := func(set *site.Setting) float64 { return l.Get(set).Value }
	s := lua.DefaultLimits()
	s.Time = secondsOf(l.Get(site.MaxTime))
	s.Instructions = int64(number(site.MaxInstructions) * 1e6)
	s.MemoryBytes = int64(number(site.MaxMemory) * (1 << 20))
	s.StringBytes = int(number(site.MaxString) * (1 << 20))
	s.CallDepth = int(number(site.MaxDepth))
	s.PatternSteps = int64(number(site.MaxPatternSteps) * 1e6)
	s.Coroutines = int(number(site.MaxCoroutines))
	s.SourceBytes = int(number(site.MaxSource) * (1 << 10))
	return s
}

// Compiles returns the error of a script that does not compile under the limits at a: a
// [*lua.SyntaxError], or one for which [LimitOf] names the setting.
func Compiles(tx *objectdb.Tx, a objectdb.Address, source objectdb.Script) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	return lua.Check(a.String(), string(source), luaLimits(s.Limits(a)).SourceBytes)
}

// Limits returns the limits of the run: those of its script, as the transaction sees
// them now.
func (r *Run) Limits() site.Limits {
	if s := r.Site(); r.limitsOf != s {
		var a objectdb.Address
		if r.Script != nil && s.HasLimits() {
			a = r.Script()
		}
		r.limits, r.limitsOf = s.Limits(a), s
	}
	return r.limits
}

func secondsOf(l site.Limit) time.Duration { return time.Duration(l.Value * float64(time.Second)) }

// maxTime returns the limit of the time.
func (r *Run) maxTime() site.Limit { return TimeLimit(r.Limits(), r.options.MaxTime) }

// TimeLimit returns the limit of the time of a script with these limits: see Options.MaxTime, which may
// be nil.
func TimeLimit(limits site.Limits, instead *site.Setting) site.Limit {
	l := limits.Get(site.MaxTime)
	if instead != nil && l.Row == "" {
		return limits.Get(instead)
	}
	return l
}

// limitFrom returns where a limit was set, by the name that package lua has for it.
func (r *Run) limitFrom(limit string) string {
	set := limitSettings[limit]
	if set == nil {
		return ""
	}
	if set == site.MaxTime {
		return r.maxTime().From().String()
	}
	return r.Limits().Get(set).From().String()
}

// A Bound is a limit as a number of things or bytes.
type Bound struct {
	Limit site.Limit
	Most  int64
}

// Count returns a limit of the run that is a number of things.
func (r *Run) Count(set *site.Setting) Bound { return CountOf(r.Limits(), set) }

// Size returns a limit of the run in megabytes, as a number of bytes.
func (r *Run) Size(set *site.Setting) Bound { return SizeOf(r.Limits(), set) }

// CountOf returns a limit that is a number of things.
func CountOf(limits site.Limits, set *site.Setting) Bound {
	l := limits.Get(set)
	return Bound{l, int64(l.Value)}
}

// SizeOf returns a limit in megabytes, as a number of bytes.
func SizeOf(limits site.Limits, set *site.Setting) Bound {
	l := limits.Get(set)
	return Bound{l, int64(l.Value * (1 << 20))}
}

// Error returns the error of a limit that was reached: a text, and where it was set.
func (b Bound) Error(format string, args ...any) error {
	return &LimitError{b.Limit.Setting, fmt.Sprintf(format, args...) + " (" + b.Limit.From().String() + ")"}
}

// A LimitError says that a limit was reached, which, and where it was set.
type LimitError struct {
	Setting *site.Setting
	Message string
}

func (e *LimitError) Error() string { return e.Message }

// LimitOf returns the name of the setting whose limit caused err, or "".
func LimitOf(err error) string {
	if set := limitSettings[lua.LimitName(err)]; set != nil {
		return set.Name
	}
	var e *LimitError
	if errors.As(err, &e) {
		return e.Setting.Name
	}
	return ""
}
