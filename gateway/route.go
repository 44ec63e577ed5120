package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// This file answers URLs that no extension and no override binds to an action: the routes of
// user.webserver.routes. So the rules of 1998 answer what they have always answered.

// routeAction is the action of the requests that a route answers. It has no row in the action table.
// Web servers may name it to pass on URLs that are no files: then it is no override.
const routeAction = "ROUTE"

// findRoute looks for the route of a path that has no action. Routes know no path arguments: if the path
// has some, whole is the path with them, which routes must match.
func (d *Target) findRoute(r *Request, s *site.Snapshot, whole string) {
	if !s.Routes().Any() || d.Admin {
		return
	}
	p := d.Path
	if whole != "" {
		if CheckPath(whole) != nil {
			return
		}
		p = cleanWithSlash(whole)
	}
	host, method := r.Host(), r.Params["REQUEST_METHOD"]
	route, allowed := s.Routes().Match(host, method, p)
	if r.Trace != nil {
		r.traceRoutes(s.Routes(), route, p)
	}
	switch {
	case route != nil:
		d.Route, d.Rule = route, "the route "+route.Name
	case allowed != "":
		d.allow, d.Rule = allowed, "its routes"
	case method == http.MethodGet || method == http.MethodHead:
		other, slash := strings.CutSuffix(p, "/")
		if !slash {
			other += "/"
		}
		if route, _ = s.Routes().Match(host, method, other); route == nil {
			return
		}
		r.trace("route %s would match %q", route.Name, other)
		d.moved, d.Rule = other, "the route "+route.Name
	default:
		return
	}
	d.Action, d.Path, d.Extra, d.PathArgs = routeAction, p, "", ""
}

// traceRoutes traces the routes that match a path.
func (r *Request) traceRoutes(routes *site.Routes, winner *site.Route, p string) {
	found := false
	routes.Each(r.Host(), p, func(route *site.Route) bool {
		how := "matches"
		switch {
		case route == winner:
		case !route.Takes(r.Params["REQUEST_METHOD"]):
			how = "matches, but not the method " + r.Params["REQUEST_METHOD"]
		case winner != nil:
			how = "matches, too, but " + winner.Name + " goes before it"
		}
		r.trace("route %s (%s) %s: %s", route.Name, route.Address(), how, route.Methodic())
		found = true
		return true
	})
	if !found {
		r.trace("no route matches %q (%s)", p, site.RouteRows)
	}
	if winner != nil {
		winner.Pattern.Each(p, func(name, value string) { r.trace("path.%s is %q", name, value) })
	}
}

// routeParameters returns the parameters in a path, by their names; none without a route.
func routeParameters(route *site.Route, path string) *script.Table {
	t := script.NewTable()
	if route != nil {
		route.Pattern.Each(path, func(name, value string) { t.Set(name, value) })
	}
	return t
}

// routedPage is a page that a route names, and the path that it answers.
type routedPage struct {
	route *site.Route // nil: none
	path  string
}

// answerRoute answers a request for which no route runs anything: the methods of a path, or the
// redirect to the same path with or without a slash at the end. It reports whether it has.
func (c *attempt) answerRoute() (done bool, err error) {
	switch {
	case c.target.moved != "":
		return true, c.redirectAs(http.StatusMovedPermanently, c.withQuery(c.target.moved))
	case c.target.allow != "" && c.request.Params["REQUEST_METHOD"] != http.MethodOptions:
		return true, c.notAllowed()
	case c.target.allow != "":
		resp := &httpheader.Response{Status: http.StatusNoContent, Reason: http.StatusText(http.StatusNoContent)}
		resp.Add("Allow", c.target.allow)
		complete(c.request, resp)
		c.hold(held{resp: resp})
		return true, nil
	}
	return false, nil
}

// withQuery returns the URL of a path with the query of the request.
func (c *attempt) withQuery(path string) string {
	to := site.EscapePath(path)
	if q := c.request.Params["QUERY_STRING"]; q != "" {
		to += "?" + plainURL(q)
	}
	return to
}

// isFolder reports whether the request is for a folder of the document root, without the slash at the end.
// A web server that passes on all URLs that are no files does not redirect it, as others do.
func (c *attempt) isFolder() bool {
	p, root := c.target.Path, c.documentRoot()
	if m := c.request.Params["REQUEST_METHOD"]; m != http.MethodGet && m != http.MethodHead {
		return false
	}
	if root == "" || strings.HasSuffix(p, "/") || isHidden(p) || c.target.PathArgs != "" || !c.Site().Routes().Any() {
		return false
	}
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(p)))
	return err == nil && info.IsDir()
}

// notAllowed returns the error for a method that no route of the path answers.
func (c *attempt) notAllowed() error {
	return &Error{Status: 405, Allow: c.target.allow, Message: fmt.Sprintf("%s has routes for %s, not for %s",
		clip(c.target.Path, 200), c.target.allow, c.request.Params["REQUEST_METHOD"])}
}

// runRoute runs what the route of a parameter table names: an object below suites.webserverScripts, or
// a page, which the script of the action MACRO expands.
func (c *attempt) runRoute(params *script.Table) (script.Value, error) {
	p := tableText(params, "scriptName")
	route := c.target.Route
	if route == nil || p != c.target.Path { // a script has changed the parameters
		method := tableText(params, "method")
		if route, _ = c.Site().Routes().Match(c.request.Host(), method, p); route == nil {
			return nil, &Error{Status: 404, Message: fmt.Sprintf("no route answers %s %s", method, quote(p))}
		}
		params.Set("route", route.Name)
		params.Set("path", routeParameters(route, p))
	}
	if route.Object == nil {
		c.routed = routedPage{route, p}
		if c.acting == 1 {
			c.ownType, c.page = true, route.Page
		}
		return c.runMacro(params)
	}
	n, a, err := c.routeObject(route)
	if err == nil {
		err = c.require(a)
	}
	if err != nil {
		return nil, err
	}
	return c.serve(n, a, params)
}

// RequestHost returns the host that the request names, for the verb url.to.
func (c *attempt) RequestHost() string { return c.request.Host() }

// routeObject finds the object that answers for a route. The address has the spelling of the objects.
func (c *attempt) routeObject(route *site.Route) (*objectdb.Node, objectdb.Address, error) {
	n, a, err := c.servable(route.Object[len(site.Scripts):])
	if refused := (*Error)(nil); errors.As(err, &refused) {
		refused.Message += fmt.Sprintf(", and the route %s names it", route.Name)
		refused.warns = true
	}
	return n, a, err
}

// routePage finds the file of the page that a route names.
func (c *attempt) routePage(route *site.Route, folder string) (foundFile, error) {
	if !c.Site().IsPage(route.Page) {
		return foundFile{}, &Error{Status: 403, warns: true, Message: fmt.Sprintf(
			"%s is no page, but the route %s names it: its extension does not belong to the action MACRO",
			route.Page, route.Name)}
	}
	if folder == "" {
		return foundFile{}, &Error{Status: 404, Message: fmt.Sprintf(
			"the web server does not say where the document root is, so there is no page %s for the route %s",
			route.Page, route.Name)}
	}
	return c.findNamed(strings.TrimSuffix(folder, "/") + route.Page)
}
