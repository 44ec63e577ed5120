// Package clock has the verbs that tell the time.
package clock

import (
	"scripter/objectdb"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:    "clock.now",
		Doc:     "The date and time, as a date.",
		Results: script.Returns("date", ""),
		Example: `clock.now () > odb.date ("2020-01-01")`,
		Gives:   "true",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(objectdb.Date{Time: v.Thread().Now().UTC()})
			return nil
		},
	},
	{
		Name:    "clock.ticks",
		Doc:     "Sixtieths of a second since 1970, as a number: the measure of Frontier's waits.",
		Results: script.Returns("number", ""),
		Example: "clock.ticks () / 60 > 1e9",
		Gives:   "true",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(float64(v.Thread().Now().UnixMicro()) * 60 / 1e6)
			return nil
		},
	},
}
