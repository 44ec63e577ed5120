package gateway

import (
	"errors"
	"fmt"

	"scripter/script"
)

var writeVerbs = []script.Verb{
	{
		Name:    "write",
		Doc:     "Adds the texts of its arguments to the response. What the script returns, if anything, comes after them.",
		Params:  []script.Param{arg("…", "any", "any number of values; each is made a text")},
		Errors:  "a response over maxResponse; outside a request",
		Example: `write ("1 + 1 = ", 1 + 1)`,
		Gives:   "1 + 1 = 2",
		Func:    verbWrite,
	},
}

func verbWrite(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.ended {
		return errors.New("the response has ended")
	}
	if c.written == nil {
		c.written = &spool{limit: c.limits.size(maxResponse)}
	}
	for i := 1; i <= v.NArgs(); i++ {
		if what := unsendable(v.Value(i)); what != "" {
			return fmt.Errorf("argument %d is %s, which is not for visitors", i, what)
		}
		if err := c.written.write(v.Text(i)); err != nil {
			return err
		}
	}
	return nil
}
