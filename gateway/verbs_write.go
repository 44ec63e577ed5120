package gateway

import (
	"errors"

	"scripter/script"
)

var writeVerbs = []script.Verb{
	{
		Name:    "write",
		Doc:     "Adds the texts of its arguments to the response. What the script returns, if anything, comes after them.",
		Params:  []script.Param{script.Arg("…", "any", "any number of values; each is made a text")},
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
		text, err := textForVisitor(v, i)
		if err == nil {
			err = c.written.write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
