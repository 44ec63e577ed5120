package gateway

import (
	"context"
	"strings"

	"scripter/fcgi"
)

// ServeFCGI answers one FastCGI request; it is an [fcgi.Handler].
func (g *Gateway) ServeFCGI(ctx context.Context, f *fcgi.Request) {
	out := g.Answer(ctx, &Request{Params: f.Params, Body: f.Stdin, Form: Parsed, HandlerNames: g.names, Transport: "FastCGI", Yield: f.Yield}, f.Stdout)
	f.Broken = out.Broken
	// mod_fcgid appends an error page to a response that breaks off, which may fill it
	// up to its Content-Length. It passes a response that is too short on unchanged.
	if out.Short && strings.HasPrefix(f.Params["SERVER_SOFTWARE"], "Apache") {
		f.Broken, f.AppStatus = false, 1
	}
}
