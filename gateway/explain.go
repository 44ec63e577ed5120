package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
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
		c, err := x.newAttempt(run)
		if err != nil {
			return err
		}
		if c.target, err = dispatch(r, c.site()); err == nil {
			e.Target = c.target
			e.Answer, err = c.explain()
			e.Limits = limitsFor(c.Tx, c.site(), c.target).All()
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
	if c.site().Flag(site.FlScriptTrap) {
		if a, ok := c.site().Trap(); ok {
			c.request.trace("trap %s gets the parameters first (user.webserver.flScriptTrap)", a)
		} else {
			c.request.trace("there is no trap at %s: the built-in route is taken", c.site().TrapAddress())
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

// DecodePath decodes the percent signs of a URL's path; those that cannot be
// decoded stay.
func DecodePath(p string) string {
	s, _ := httpform.Unescape(p, false)
	return s
}

// ExpandFile expands the markers of a file, as the MACRO action would for
// the request r; a marker that fails shows why. The file may lie anywhere.
func (g *Gateway) ExpandFile(ctx context.Context, r *Request, file string) (string, error) {
	shown := *r
	shown.Developer = true
	text := ""
	err := g.outside(ctx, &shown, runner.Options{}, nil, func(c *attempt) error {
		found, err := lookAt(file)
		if err != nil {
			return notFound(err)
		}
		found.base = filepath.Dir(found.real)
		page, err := g.pageOf(found)
		if err != nil {
			return err
		}
		text, err = c.expand(page, file, nil)
		return err
	})
	return text, err
}

// Run runs a script of the root with texts as arguments and gives what it has
// written and the text of what it returns.
func (g *Gateway) Run(ctx context.Context, a objectdb.Address, args []string) (string, error) {
	text := ""
	err := g.outside(ctx, atDesk(), runner.Options{}, a, func(c *attempt) error {
		values := make([]script.Value, len(args))
		for i, s := range args {
			values[i] = s
		}
		v, err := c.Thread.Run(a, values...)
		if err != nil {
			return err
		}
		if text, err = c.Output().Text(); err != nil {
			return err
		}
		result, err := c.Thread.Text(v)
		text += result
		return err
	})
	return text, err
}

// Describe tells a developer all of an error: message, object, line, its
// text, traceback.
func Describe(err error) string { return developerMessage(err) }
