package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"scripter/objectdb"
	"scripter/script"
	verbjson "scripter/verbs/json"
)

// What an author asks at his desk, without a request from the net.

// atDesk is the request of scripts that no request runs.
func atDesk() *Request {
	return &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}, Developer: true, bodyRead: true, kept: true}
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
	err := g.outside(ctx, atDesk(), func(c *call) error {
		e = Evaluated{}
		values, err := c.thread.Eval("typed", typed)
		if err != nil {
			return err
		}
		for _, v := range values {
			text, err := c.thread.Text(v)
			if err != nil {
				return err
			}
			if v == nil {
				text = "nil"
			}
			j, err := verbjson.Encode(c.thread, v)
			if err != nil {
				j, err = verbjson.Encode(c.thread, strings.ToValidUTF8(text, "�"))
			}
			if err != nil {
				return err
			}
			e.Texts, e.JSON = append(e.Texts, text), append(e.JSON, j)
		}
		e.Written, err = c.writtenText()
		return err
	})
	return e, err
}

// writtenText gives all that write has added.
func (c *call) writtenText() (string, error) {
	if c.written == nil {
		return "", nil
	}
	rest, err := c.written.rest()
	if err != nil || rest == nil {
		return c.written.head.String(), err
	}
	more, err := io.ReadAll(rest)
	if err != nil {
		return "", fmt.Errorf("read what was written: %w", err)
	}
	return c.written.head.String() + string(more), nil
}

// Linted is what Lint has found.
type Linted struct {
	Scripts  int // looked at
	Findings []script.Finding
}

// Lint looks for likely mistakes in the script at a, or in all scripts of the
// table at a, and in user.webserver.limits. Nothing is run.
func (g *Gateway) Lint(ctx context.Context, a objectdb.Address) (Linted, error) {
	var l Linted
	err := g.inside(ctx, func(c *call) error {
		err := c.tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
			if n.Kind() != objectdb.KindScript {
				return nil
			}
			v, err := c.tx.Value(n)
			if err != nil {
				return err
			}
			found, err := c.thread.Lint(at.String(), string(v.(objectdb.Script)))
			l.Scripts++
			l.Findings = append(l.Findings, found...)
			return err
		})
		if err == nil {
			var found []script.Finding
			found, err = lintRows(c.settings, a)
			l.Findings = append(l.Findings, found...)
		}
		return err
	})
	return l, err
}

// Types writes what an editor with lua-language-server needs to know: file name
// to content. See script.Thread.Types.
func (g *Gateway) Types(ctx context.Context) (map[string]string, error) {
	var files map[string]string
	err := g.inside(ctx, func(c *call) error {
		var err error
		files, err = c.thread.Types(paramTypes)
		return err
	})
	return files, err
}

// inside runs fn in a transaction that changes nothing.
func (g *Gateway) inside(ctx context.Context, fn func(c *call) error) error {
	return g.db.View(ctx, func(tx *objectdb.Tx) error {
		r := atDesk()
		c := g.newCall(tx.Context(), tx, r, newAnswer(nil, r))
		defer c.close()
		c.target, _ = dispatch(r, c.tables)
		if err := c.begin(); err != nil {
			return err
		}
		return fn(c)
	})
}
