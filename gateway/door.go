package gateway

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"scripter/fcgi"
)

// DoorPath gives the place of the socket at which the resident server of a root
// takes requests from scripter-cgi: beside the root, as SQLite's -wal and -shm, so
// that both find it by the root alone and only those who may change the root can
// put anything there.
func DoorPath(root string) (string, error) {
	real, err := realPath(root)
	return real + "-door", err
}

// realPath is the absolute path of a root, links resolved.
func realPath(root string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// Door answers the requests that scripter-cgi hands over to a resident server, and
// those of web servers.
type Door struct {
	gateway *Gateway
	root    string // real path
	used    func()
}

// NewDoor makes the door of g, which answers from root. It calls used, which may
// be nil, for each request that it takes up.
func NewDoor(g *Gateway, root string, used func()) (*Door, error) {
	real, err := realPath(root)
	if err != nil {
		return nil, err
	}
	return &Door{g, real, used}, nil
}

// doorVariable begins the names of what scripter-cgi says beside a request's
// variables. It lets no variable of such a name through, and no web server makes
// one: the names of fields begin with HTTP_.
const doorVariable = "scripter."

// doorTaken is the first byte of FCGI_STDERR: the request is taken up, and
// scripter-cgi must not answer it by itself any more.
const doorTaken = "\x06"

// ServeFCGI answers one request; it is an [fcgi.Handler]. One that scripter-cgi
// hands over is answered as the CGI process would. It is not taken up when it is
// for another root, nor when scripter-cgi has lost patience, which the failing of the
// flush tells.
func (d *Door) ServeFCGI(ctx context.Context, f *fcgi.Request) {
	asked, handed := f.Params[doorVariable+"root"]
	if !handed {
		d.gateway.ServeFCGI(ctx, f)
		return
	}
	c := CGI{
		Stdin: f.Stdin, Stdout: f.Stdout,
		Program: f.Params[doorVariable+"program"], NPH: f.Params[doorVariable+"nph"],
		vars: f.Params,
	}
	script := f.Params[doorVariable+"script"]
	if script != "" {
		c.HandlerNames = append(c.HandlerNames, filepath.Base(script))
	}
	c.HandlerNames = append(c.HandlerNames, filepath.Base(f.Params[doorVariable+"executable"]))
	if asked != d.root {
		f.AppStatus = 1
		return
	}
	for name := range f.Params {
		if strings.HasPrefix(name, doorVariable) {
			delete(f.Params, name)
		}
	}
	if _, err := io.WriteString(f.Stderr, doorTaken); err != nil || f.Flush() != nil {
		return
	}
	if d.used != nil {
		d.used()
	}
	g := d.gateway
	f.Broken = g.serveCGI(ctx, c.request(), f.Stdout).Broken
}
