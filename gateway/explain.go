package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scripter/httpform"
	"scripter/runner"
	"scripter/site"
)

// Explanation tells what would answer a request.
type Explanation struct {
	Target Target
	Status int    // of the refusal; 0 when something would answer
	Answer string // one sentence
	Limits []site.Limit
}

// Explain finds out what would answer r without running anything; r.Trace is
// told each rule and address on the way.
func (g *Gateway) Explain(ctx context.Context, r *Request) (Explanation, error) {
	var e Explanation
	if err := r.Check(); err != nil {
		return e, err
	}
	x := g.newExchange(r, nil)
	_, err := g.runner.Run(ctx, runner.Options{ReadOnly: true}, func(run *runner.Run) error {
		c := x.newAttempt(run)
		run.Script = c.answering
		var err error
		if c.target, err = dispatch(r, c.Site()); err == nil {
			e.Target = c.target
			e.Answer, err = c.explain()
			e.Limits = c.Limits().All()
			c.traceLimits(e.Limits)
		}
		var refused *Error
		if errors.As(err, &refused) {
			e.Status, e.Answer, err = refused.Status, fmt.Sprintf("status %d: %s", refused.Status, refused.Message), nil
		}
		return err
	})
	return e, err
}

// explain goes the way of [attempt.answer] without running scripts.
func (c *attempt) explain() (string, error) {
	if c.target.Action == "" {
		return "", &Error{Status: 404, Message: "nothing binds " + c.target.Path + " to an action; the web server serves it"}
	}
	if c.Site().Flag(site.FlScriptTrap) {
		if a, ok := c.Site().Trap(); ok {
			c.request.trace("trap %s gets the parameters first (user.webserver.flScriptTrap)", a)
		} else {
			c.request.trace("there is no trap at %s: the built-in route is taken", c.Site().TrapAddress())
		}
	}
	if a := c.actionObject(c.target.Action); a != nil {
		if err := c.require(a); err != nil {
			return "", err
		}
		n, err := c.Tx.Find(a)
		if err != nil {
			return "", err
		}
		if strings.EqualFold(c.target.Action, "MACRO") {
			file, err := c.findFile(c.pageFiles())
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the script user.webserver.actions.%s expands the markers of %s", n.Name(), file.real), nil
		}
		return fmt.Sprintf("the %s user.webserver.actions.%s answers", n.Kind(), n.Name()), nil
	}
	c.request.trace("there is no user.webserver.actions.%s: the path names an object", c.target.Action)
	n, a, err := c.scriptObject(c.target.Path)
	if err == nil {
		err = c.require(a)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the %s %s answers", n.Kind(), a), nil
}

// traceLimits traces the limits that differ from the settings.
func (c *attempt) traceLimits(list []site.Limit) {
	for _, l := range list {
		if l.Row != "" {
			c.request.trace("limit %s %v (%s)", l.Setting.Name, l.Value, l.From())
		}
	}
}

// DecodePath decodes the percent signs of a URL's path; those that cannot be
// decoded stay.
func DecodePath(p string) string {
	s, _ := httpform.Unescape(p, false)
	return s
}

// Describe tells a developer all of an error: message, object, line, its
// text, traceback.
func Describe(err error) string { return developerMessage(err) }
