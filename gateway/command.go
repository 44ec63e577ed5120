package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// outside returns the parameters and the host of the scripts that a command runs: those of
// GET / without a client. So a script that uses parameters, or verbs such as write and
// webserver.expandPage, can be tried from the command line.
func (g *Gateway) outside(run *runner.Run) (names *script.Table, host any, err error) {
	r := &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}, Developer: true}
	x := g.newExchange(r, nil)
	if run.IsTest() {
		x.test, x.answers = run, &fetchAnswers{}
		r.Params["DOCUMENT_ROOT"] = g.testSite
	}
	c := x.newDispatched(run)
	c.command = true
	if err = c.makeParams(); err == nil {
		c.params.Set("job", script.NewTable()) // of an agent
	}
	return c.params, c, err
}

// Types returns what an editor with lua-language-server needs to know, as file names and
// contents: see [runner.Runner.Types].
func (g *Gateway) Types(ctx context.Context) (map[string]string, error) {
	return g.runner.Types(ctx, paramTypes)
}

// ExpandFile expands the markers of a file as the MACRO action would for the request r. A
// marker that fails shows why. The file may lie anywhere.
func (g *Gateway) ExpandFile(ctx context.Context, r *Request, file string) (string, error) {
	shown := *r
	shown.Developer = true
	x := g.newExchange(&shown, nil)
	text := ""
	_, err := g.runner.Run(ctx, runner.Options{}, func(run *runner.Run) error {
		c := x.newDispatched(run)
		c.command = true
		if err := c.begin(); err != nil {
			return err
		}
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

// SetSetting checks a value of a setting and stores it. Beside the warnings of [site.Setting.Warnings]
// it returns those about what reach does not list, and about a server name that is not that of the
// last recorded request.
func SetSetting(tx *objectdb.Tx, s *site.Setting, v objectdb.Value, reach site.Reach) (warnings []string, err error) {
	if err = s.Set(tx, v); err != nil {
		return nil, err
	}
	now, err := site.Read(tx)
	if err != nil {
		return nil, err
	}
	return SettingWarnings(tx, now, s, v, reach), nil
}

// SettingWarnings returns warnings about a valid value of a setting, as SetSetting does; now are
// the settings of the root.
func SettingWarnings(
	tx *objectdb.Tx, now *site.Snapshot, s *site.Setting, v objectdb.Value, reach site.Reach,
) []string {
	warnings := s.Warnings(now, v)
	if s == site.ServerName {
		if w := requestlog.ServerNameWarning(tx, string(v.(objectdb.String))); w != "" {
			warnings = append(warnings, w)
		}
	}
	for _, u := range reach.Unlisted(now) {
		if u.Setting == s.Name {
			warnings = append(warnings, u.Error())
		}
	}
	return warnings
}

// ExpandText expands the markers of a text as if it were a page that the request r asks for. What
// the markers change in the root is undone. A marker that fails shows why.
func (g *Gateway) ExpandText(ctx context.Context, r *Request, name, text string) (string, error) {
	shown := *r
	shown.Developer = true
	x := g.newExchange(&shown, nil)
	x.replay = &ReplayOptions{} // nothing outside of the root is changed either
	expanded := ""
	_, err := g.runner.Run(ctx, runner.Options{Discard: true}, func(run *runner.Run) error {
		c := x.newDispatched(run)
		c.command = true
		if err := c.begin(); err != nil {
			return err
		}
		var err error
		expanded, err = c.expand(newCachedPage(text), name, nil)
		return err
	})
	return expanded, err
}

// Explanation says what would answer a request.
type Explanation struct {
	Target Target
	Status int    // of the refusal; 0 when something would answer
	Answer string // one sentence
	Limits []site.Limit
}

// Explain returns what would answer r, without running anything. It calls r.Trace with each
// rule and address on the way.
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
			corsOf(r, c.target, c.Site()) // for its trace
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

// explain follows the steps of [attempt.answer] without running scripts.
func (c *attempt) explain() (string, error) {
	if c.g.answersAdmin(c.target, c.Site()) {
		c.request.trace("%s is below the path of the web page (user.webserver.adminPath)", c.target.Path)
		return "the web page for people answers", nil
	}
	switch {
	case c.target.Action == "":
		return "", &Error{Status: 404, Message: "nothing binds " + c.target.Path + " to an action; the web server serves it"}
	case c.target.moved != "":
		return fmt.Sprintf("a redirect to %s, which has %s", c.target.moved, c.target.Rule), nil
	case c.target.allow != "" && c.request.Params["REQUEST_METHOD"] != http.MethodOptions:
		return "", c.notAllowed()
	case c.target.allow != "":
		return "the methods of its routes: " + c.target.allow, nil
	}
	if err := c.requirePath(); err != nil {
		return "", err
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
		if strings.EqualFold(c.target.Action, macroAction) {
			file, err := c.findFile(c.pageFiles())
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the script user.webserver.actions.%s expands the markers of %s", n.Name(), file.real), nil
		}
		return fmt.Sprintf("the %s user.webserver.actions.%s answers", n.Kind(), n.Name()), nil
	}
	if c.target.Route != nil {
		return c.explainRoute(c.target.Route)
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

func (c *attempt) explainRoute(route *site.Route) (string, error) {
	if route.Object == nil {
		file, err := c.routePage(route, c.documentRoot())
		if err != nil {
			return "", err
		}
		if a := c.actionObject(macroAction); a != nil {
			if err := c.require(a); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("the markers of %s are expanded", file.real), nil
	}
	n, a, err := c.routeObject(route)
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

// DecodePath decodes each %XX of a URL's path. It leaves an invalid code unchanged.
func DecodePath(p string) string {
	s, _ := httpform.Unescape(p, false)
	return s
}

// Describe returns all that is known of an error, for a developer: message, object, line, the
// text of the line, traceback.
func Describe(err error) string { return developerMessage(err) }
