package gateway

import (
	"context"

	"scripter/fcgi"
)

// ServeFCGI answers one FastCGI request; it is an [fcgi.Handler].
func (g *Gateway) ServeFCGI(ctx context.Context, f *fcgi.Request) {
	out := g.Answer(ctx, &Request{Params: f.Params, Body: f.Stdin, Form: Parsed, HandlerNames: g.names, Road: "FastCGI", StepAside: f.StepAside}, f.Stdout)
	f.Broken = out.Broken
}
