package doctor

import (
	"context"
	"strings"

	"scripter/objectdb"
	"scripter/site"
)

// maxRoutes is how many routes are asked for.
const maxRoutes = 20

// routeURL is a URL that a route answers.
type routeURL struct{ name, path string }

// readRoutes reads the routes that answer on the host that is asked, with a URL for each.
func (d *doctor) readRoutes(tx *objectdb.Tx) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	for _, r := range s.Routes().All() {
		notes, err := s.RouteNotes(tx, r)
		if err != nil {
			return err
		}
		path, below := strings.CutPrefix(r.Pattern.Example(), d.ask.prefix())
		isHere := r.Host == "*" || strings.EqualFold(r.Host, d.ask.base.Hostname())
		if len(notes) == 0 && below && isHere && len(d.routes) < maxRoutes {
			d.routes = append(d.routes, routeURL{r.Name, path})
		}
	}
	return nil
}

// checkRoutes asks for URLs that routes answer: the web server must pass on URLs that are no files.
func (d *doctor) checkRoutes(ctx context.Context) {
	if len(d.routes) == 0 {
		return
	}
	var lost []string
	var last *answered
	for _, route := range d.routes {
		r := d.probe(ctx, question{path: site.EscapePath(route.path)})
		switch {
		case r.Probe == nil:
			lost, last = append(lost, route.name+" ("+route.path+")"), r
		case r.Probe.Action != "ROUTE" && r.Probe.Action != "":
			d.fault("routes", "%s has the route %s, but its action is %s, by %s",
				route.path, route.name, r.Probe.Action, r.Probe.Rule)
			return
		}
	}
	switch {
	case len(lost) == len(d.routes):
		d.fault("routes", "there are routes, but the web server does not pass on URLs that are no files: "+
			"%s is answered %s", d.routes[0].path, last.outcome())
	case len(lost) > 0:
		d.warn("routes", "the web server does not pass on the URLs of these routes: %s", strings.Join(lost, ", "))
	default:
		d.ok("routes", "URLs that are no files reach Scripter")
	}
}
