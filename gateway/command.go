package gateway

import (
	"context"
	"encoding/json"
	"strings"

	"scripter/objectdb"
	"scripter/runner"
	"scripter/script/lint"
	verbjson "scripter/verbs/json"
)

// What an author asks at his desk, without a request from the net.

// atDesk is the request of scripts that no request runs.
func atDesk() *Request {
	return &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}, Developer: true}
}

// Evaluated is what typed Lua has given.
type Evaluated struct {
	Written string            // by write
	Texts   []string          // of the values, nil as "nil"
	JSON    []json.RawMessage // the values as json.encode writes them, else their texts
}

// Eval runs typed Lua in one transaction: an expression gives its values,
// anything else what it returns. What it changes is kept unless it fails.
func (g *Gateway) Eval(ctx context.Context, typed string) (Evaluated, error) {
	var e Evaluated
	err := g.outside(ctx, atDesk(), runner.Options{}, nil, func(c *attempt) error {
		e = Evaluated{}
		values, err := c.Thread.Eval("typed", typed)
		if err != nil {
			return err
		}
		for _, v := range values {
			text, err := c.Thread.Text(v)
			if err != nil {
				return err
			}
			if v == nil {
				text = "nil"
			}
			j, err := verbjson.Encode(c.Thread, v)
			if err != nil {
				j, err = verbjson.Encode(c.Thread, strings.ToValidUTF8(text, "�"))
			}
			if err != nil {
				return err
			}
			e.Texts, e.JSON = append(e.Texts, text), append(e.JSON, j)
		}
		e.Written, err = c.Output().Text()
		return err
	})
	return e, err
}

// Linted is what Lint has found.
type Linted struct {
	Scripts  int // looked at
	Findings []lint.Finding
}

// Lint looks for likely mistakes in the script at a, or in all scripts of the
// table at a, and in user.webserver.limits. Nothing is run.
func (g *Gateway) Lint(ctx context.Context, a objectdb.Address) (Linted, error) {
	var l Linted
	err := g.outside(ctx, atDesk(), runner.Options{ReadOnly: true}, nil, func(c *attempt) error {
		err := c.Tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
			if n.Kind() != objectdb.KindScript {
				return nil
			}
			v, err := c.Tx.Value(n)
			if err != nil {
				return err
			}
			found, err := lint.Script(c.Thread, at.String(), string(v.(objectdb.Script)))
			l.Scripts++
			l.Findings = append(l.Findings, found...)
			return err
		})
		if err == nil {
			var found []lint.Finding
			found, err = lintRows(c.Tx, a)
			l.Findings = append(l.Findings, found...)
		}
		return err
	})
	return l, err
}

// Types writes what an editor with lua-language-server needs to know: file name
// to content. See lint.Types.
func (g *Gateway) Types(ctx context.Context) (map[string]string, error) {
	var files map[string]string
	err := g.outside(ctx, atDesk(), runner.Options{ReadOnly: true}, nil, func(c *attempt) error {
		var err error
		files, err = lint.Types(c.Thread, paramTypes)
		return err
	})
	return files, err
}

// outside runs fn in one transaction, outside a request from the net, with the limits of
// a script.
func (g *Gateway) outside(ctx context.Context, r *Request, o runner.Options, script objectdb.Address, fn func(c *attempt) error) error {
	x := g.newExchange(r, nil)
	_, err := g.runner.Run(ctx, o, func(run *runner.Run) error {
		c, err := x.newAttempt(run)
		if err != nil {
			return err
		}
		c.target, _ = dispatch(r, c.site())
		c.script = script
		if err := c.begin(); err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
		return c.view.Err()
	})
	return err
}
