package gateway

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"scripter/fcgi"
	"scripter/rootname"
)

// ServeFCGI answers one FastCGI request; it is an [fcgi.Handler].
func (g *Gateway) ServeFCGI(ctx context.Context, f *fcgi.Request) {
	out := g.Answer(ctx, &Request{
		Params: f.Params, Body: f.Stdin, Form: Parsed, HandlerNames: g.names, Transport: "FastCGI", Yield: f.Yield,
	}, f.Stdout)
	f.Broken = out.Broken
	// mod_fcgid appends an error page to a response that breaks off, which may fill it
	// up to its Content-Length. It passes a response that is too short on unchanged.
	if out.Short && strings.HasPrefix(f.Params["SERVER_SOFTWARE"], "Apache") {
		f.Broken, f.AppStatus = false, 1
	}
}

// ResidentSocket returns the path of the socket where the resident server of a root takes
// requests from scripter-cgi. It lies beside the root, like SQLite's -wal and -shm: both
// programs find it by the root alone, and only users who may change the root can put
// anything there. The socket of a root in PostgreSQL lies in the folder for its files on this
// host (rootname.LocalPath), which ResidentSocket makes.
func ResidentSocket(root string) (string, error) {
	real, err := realPath(root)
	return real + ResidentSuffix, err
}

// realPath returns the absolute path of a root, or of its files on this host, with links resolved.
func realPath(root string) (string, error) {
	if !rootname.IsURL(root) {
		return realPathOf(root)
	}
	local, err := rootname.MakeLocalPath(root)
	if err != nil {
		return "", err
	}
	folder, err := realPathOf(filepath.Dir(local))
	return filepath.Join(folder, filepath.Base(local)), err
}

func realPathOf(file string) (string, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// Resident answers the requests that scripter-cgi hands over to a resident server, and those
// of web servers.
type Resident struct {
	gateway *Gateway
	root    string // real path
	used    func()
}

// NewResident returns the Resident of g, which answers from root. It calls used, which may
// be nil, for each request that scripter-cgi hands over.
func NewResident(g *Gateway, root string, used func()) (*Resident, error) {
	real, err := realPath(root)
	if err != nil {
		return nil, err
	}
	return &Resident{g, real, used}, nil
}

// ResidentVariable begins the names of the variables that scripter-cgi adds to those of a
// request. It passes no other variable with such a name on, and a client cannot send one: the
// variables of header fields begin with HTTP_.
const ResidentVariable = "scripter."

// ResidentSuffix is what the path of the resident socket has after that of the root.
const ResidentSuffix = "-door"

// residentAccepted is the first byte of FCGI_STDERR. It tells scripter-cgi that the request
// was accepted, and that it must not answer the request itself any more.
const residentAccepted = "\x06"

// ServeFCGI answers one request; it is an [fcgi.Handler]. A request that scripter-cgi hands
// over is answered as the CGI process would. It is not accepted if it is for another root,
// or if scripter-cgi has given up: then the flush fails.
func (s *Resident) ServeFCGI(ctx context.Context, f *fcgi.Request) {
	asked, handed := f.Params[ResidentVariable+"root"]
	if !handed {
		s.gateway.ServeFCGI(ctx, f)
		return
	}
	if asked != s.root {
		f.AppStatus = 1
		return
	}
	c := CGI{
		Stdin: f.Stdin, Stdout: f.Stdout,
		Program: f.Params[ResidentVariable+"program"], NPH: f.Params[ResidentVariable+"nph"],
		vars: f.Params, repeated: f.Params[ResidentVariable+"repeated"],
	}
	script := f.Params[ResidentVariable+"script"]
	if script != "" {
		c.HandlerNames = append(c.HandlerNames, filepath.Base(script))
	}
	c.HandlerNames = append(c.HandlerNames, filepath.Base(f.Params[ResidentVariable+"executable"]))
	for name := range f.Params {
		if strings.HasPrefix(name, ResidentVariable) {
			delete(f.Params, name)
		}
	}
	if _, err := io.WriteString(f.Stderr, residentAccepted); err != nil || f.Flush() != nil {
		return
	}
	if s.used != nil {
		s.used()
	}
	f.Broken = s.gateway.serveCGI(ctx, c.request(), f.Stdout).Broken
}
