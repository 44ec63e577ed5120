// Package after has the verbs after and at, which run scripts later.
package after

import (
	"errors"
	"fmt"
	"math"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/script"
)

// longest is how far in the future a script may run, in seconds: ten years.
const longest = 10 * 365 * 24 * 3600

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "after",
		Doc: "Runs a script so many seconds after the request's changes are committed, in a transaction of its own. " +
			"A request that fails runs nothing later.",
		Params: []script.Param{
			script.Arg("seconds", "number", "0 to ten years"),
			script.Arg("script", "any", "a script of the root, or its address"),
			script.Opt("…", "any", "", "what the script gets as its arguments"),
		},
		Results: script.Returns("string", "the key of the run, for outbox.state and outbox.drop"),
		Errors:  "an object that is no script, an argument that the root cannot hold, a full outbox",
		Example: `user.remind = odb.script ("user.reminded = ...")
return outbox.state (after (3600, user.remind, "Ada"))`,
		Gives: "waiting",
		Func:  after,
	},
	{
		Name: "at",
		Doc:  "Runs a script at a date, as after does; at once if the date has passed.",
		Params: []script.Param{
			script.Arg("date", "date", "at most ten years from now"),
			script.Arg("script", "any", "a script of the root, or its address"),
			script.Opt("…", "any", "", "what the script gets as its arguments"),
		},
		Results: script.Returns("string", "the key of the run, for outbox.state and outbox.drop"),
		Errors:  "an object that is no script, an argument that the root cannot hold, a full outbox",
		Example: `user.remind = odb.script ("user.reminded = ...")
return outbox.state (at (date.parse ("2020-01-31 09:00", "Europe/Paris"), user.remind, "Ada"))`,
		Gives: "waiting",
		Func:  at,
	},
}

func after(c *script.Call) error {
	seconds := c.Number(1)
	if !(seconds >= 0 && seconds <= longest) {
		c.Bad(1, "0 to %d seconds", int64(longest))
	}
	// Rounded up: a script never runs too early.
	return add(c, c.Thread().Now().Add(time.Duration(math.Ceil(seconds*1000))*time.Millisecond))
}

func at(c *script.Call) error {
	d, ok := c.Value(1).(objectdb.Date)
	if !ok {
		c.Bad(1, "date expected")
	}
	if d.Sub(c.Thread().Now()) > longest*time.Second {
		c.Bad(1, "at most ten years from now")
	}
	return add(c, d.Time)
}

// add writes the row of a script that is to run at a time.
func add(c *script.Call, when time.Time) error {
	a := address(c, 2)
	n, err := c.Thread().Tx().Find(a)
	switch {
	case objectdb.IsMissing(err):
		return fmt.Errorf("there is no script at %s", a)
	case err != nil:
		return err
	case n.Kind() != objectdb.KindScript:
		return fmt.Errorf("%s is a %s, not a script", a, n.Kind())
	}
	host, ok := c.Thread().Host().(outbox.Host)
	if !ok {
		return errors.New("this verb works only while a request is answered")
	}
	args := objectdb.List{}
	for i := 3; i <= c.NArgs(); i++ {
		if c.Value(i) == nil {
			c.Bad(i, "an argument cannot be nil")
		}
		args = append(args, c.Item(i))
	}
	row, cells := outbox.ScriptRow(a, args)
	row.Next = when.UnixMilli()
	key, err := host.Batch().Add(c.Thread().Tx(), host.Site(), c.Thread().Now(), row, cells)
	c.Return(key)
	return err
}

// address returns the address that argument i names.
func address(c *script.Call, i int) objectdb.Address {
	switch v := c.Value(i).(type) {
	case *script.Object:
		return v.Address()
	case objectdb.Address:
		return v
	case string:
		a, err := objectdb.ParseAddress(v)
		if err != nil || len(a) == 0 {
			c.Bad(i, "%.80q is no address", v)
		}
		return a
	}
	c.Bad(i, "a script of the root or its address expected")
	return nil
}
