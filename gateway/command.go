package gateway

import (
	"context"
	"path/filepath"

	"scripter/runner"
	"scripter/script"
)

// What commands run for an author. Most of it is done by [runner.Runner].

// outside gives the scripts that a command runs what a request would give them: the
// parameters of an empty request, and a host that has no client.
func (g *Gateway) outside(run *runner.Run) (names *script.Table, host any, err error) {
	x := g.newExchange(&Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}, Developer: true}, nil)
	c := x.newAttempt(run)
	c.target, _ = dispatch(x.request, c.Site())
	err = c.makeParams()
	return c.params, c, err
}

// Types returns what an editor with lua-language-server needs to know, as file names and
// contents: see [runner.Runner.Types].
func (g *Gateway) Types(ctx context.Context) (map[string]string, error) {
	return g.runner.Types(ctx, paramTypes)
}

// ExpandFile expands the markers of a file, as the MACRO action would for
// the request r; a marker that fails shows why. The file may lie anywhere.
func (g *Gateway) ExpandFile(ctx context.Context, r *Request, file string) (string, error) {
	shown := *r
	shown.Developer = true
	text := ""
	err := g.runAs(ctx, &shown, runner.Options{}, func(c *attempt) error {
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

// runAs runs fn in one transaction in which scripts see the request.
func (g *Gateway) runAs(ctx context.Context, r *Request, o runner.Options, fn func(c *attempt) error) error {
	x := g.newExchange(r, nil)
	_, err := g.runner.Run(ctx, o, func(run *runner.Run) error {
		c := x.newAttempt(run)
		c.target, _ = dispatch(r, c.Site())
		if err := c.begin(); err != nil {
			return err
		}
		return fn(c)
	})
	return err
}
