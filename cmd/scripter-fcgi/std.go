package main

import (
	"context"
	"net"
	stdfcgi "net/http/fcgi"

	"scripter/gateway"
)

// serveStd serves with net/http/fcgi, which has no orderly shutdown: when ctx ends, the
// listener is closed and the process ends.
func serveStd(ctx context.Context, l net.Listener, g *gateway.Gateway) error {
	go func() {
		<-ctx.Done()
		l.Close()
	}()
	err := stdfcgi.Serve(l, g.StdHandler(stdfcgi.ProcessEnv))
	if ctx.Err() != nil {
		return nil
	}
	return err
}
