package gateway

import (
	"errors"
	"fmt"

	"scripter/script"
	"scripter/site"
)

var writeVerbs = []script.Verb{
	{
		Name: "write",
		Doc: "Adds the texts of its arguments to the response. What the script returns, if anything, " +
			"comes after them.",
		Params:  []script.Param{script.Arg("…", "any", "any number of values; each is made a text")},
		Errors:  "a response over maxResponse; outside a request",
		Example: `write ("1 + 1 = ", 1 + 1)`,
		Gives:   "1 + 1 = 2",
		Func:    verbWrite,
	},
}

// checkOutput returns an error if what scripts write is longer than maxResponse.
func (c *attempt) checkOutput(size int64) error {
	if limit := c.Size(site.MaxResponse); size > limit.Most {
		return fmt.Errorf("%w; webserver.sendPartial has no such limit", limit.Error("the response is longer than %d bytes", limit.Most))
	}
	return nil
}

func verbWrite(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.ended {
		return errors.New("the response has ended")
	}
	output := c.Output()
	if output == nil {
		output = c.StartOutput(c.checkOutput)
	}
	for i := 1; i <= v.NArgs(); i++ {
		text, err := textForVisitor(v, i)
		if err == nil {
			err = output.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
