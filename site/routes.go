package site

import (
	"fmt"
	"path"
	"strings"

	"scripter/objectdb"
)

// Routes are the routes of a site. Their order of precedence for a path is: routes of the host before
// those of every host; then, segment by segment from the left, text before {name:number} before {name}
// before *rest.
type Routes struct {
	rows  []*Route              // by host and name
	hosts map[string]*routeNode // by the folded host
	names map[routeKey]*Route
}

// routeKey names a route: its folded host and name.
type routeKey struct{ host, name string }

// routeNode is a place in the tree of the patterns of one host.
type routeNode struct {
	literals     map[string]*routeNode
	number, name *routeNode
	ends         []*Route // whose patterns end here, by name
	rests        []*Route // whose patterns end here with *rest, by name
}

// Routes returns the routes.
func (s *Snapshot) Routes() *Routes { return &s.routes }

// Any reports whether there is a route.
func (r *Routes) Any() bool { return len(r.hosts) > 0 }

// All lists the rows by host and name.
func (r *Routes) All() []*Route { return r.rows }

// Match returns the route that answers a method for a path, which is decoded and clean. If routes match
// the path but none of them the method, it returns nil and the methods that they answer.
func (r *Routes) Match(host, method, path string) (found *Route, allowed string) {
	if !r.Any() {
		return nil, ""
	}
	var others []*Route
	r.Each(host, path, func(route *Route) bool {
		if route.Takes(method) {
			found = route
			return false
		}
		others = append(others, route)
		return true
	})
	if found == nil && others != nil {
		allowed = allow(others)
	}
	return found, allowed
}

// Each calls fn with each route whose pattern matches a path, in the order of precedence, until it
// returns false.
func (r *Routes) Each(host, path string, fn func(*Route) bool) {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return
	}
	for i, h := range [...]string{objectdb.Fold(host), anyHost} {
		if n := r.hosts[h]; n != nil && (i == 1 || h != anyHost) && !n.each(rest, false, fn) {
			return
		}
	}
}

// each calls fn with each route below a node that matches the rest of a path, and reports whether it
// always returned true. No node is visited twice.
func (n *routeNode) each(rest string, end bool, fn func(*Route) bool) bool {
	if end {
		return eachOf(n.ends, fn)
	}
	segment, more, found := strings.Cut(rest, "/")
	if child := n.literals[segment]; child != nil && !child.each(more, !found, fn) {
		return false
	}
	if n.number != nil && partNumber.takes(segment) && !n.number.each(more, !found, fn) {
		return false
	}
	if n.name != nil && partName.takes(segment) && !n.name.each(more, !found, fn) {
		return false
	}
	return eachOf(n.rests, fn)
}

func eachOf(routes []*Route, fn func(*Route) bool) bool {
	for _, r := range routes {
		if !fn(r) {
			return false
		}
	}
	return true
}

// add adds a route to the tree of its host. If a route there has the same pattern and method, that one
// answers.
func (r *Routes) add(route *Route) {
	r.rows = append(r.rows, route)
	if route.Err != nil {
		return
	}
	if r.hosts == nil {
		r.hosts, r.names = map[string]*routeNode{}, map[routeKey]*Route{}
	}
	host := objectdb.Fold(route.Host)
	r.names[routeKey{host, objectdb.Fold(route.Name)}] = route
	n := r.hosts[host]
	if n == nil {
		n = &routeNode{}
		r.hosts[host] = n
	}
	list := n.place(route.Pattern.parts)
	for _, other := range *list {
		if other.overlaps(route) {
			route.Before = other
			break
		}
	}
	*list = append(*list, route)
}

// place returns where the routes of a pattern are, and makes the nodes that lead there.
func (n *routeNode) place(parts []patternPart) *[]*Route {
	for _, part := range parts {
		var next **routeNode
		switch part.kind {
		case partRest:
			return &n.rests
		case partNumber:
			next = &n.number
		case partName:
			next = &n.name
		case partLiteral:
			if n.literals == nil {
				n.literals = map[string]*routeNode{}
			}
			if n.literals[part.text] == nil {
				n.literals[part.text] = &routeNode{}
			}
			n = n.literals[part.text]
			continue
		}
		if *next == nil {
			*next = &routeNode{}
		}
		n = *next
	}
	return &n.ends
}

// Named returns the route with a name: that of the host, else that of every host; nil if there is none.
func (r *Routes) Named(host, name string) *Route {
	name = objectdb.Fold(name)
	if route := r.names[routeKey{objectdb.Fold(host), name}]; route != nil {
		return route
	}
	return r.names[routeKey{anyHost, name}]
}

// RoutePath returns the path, for a URL, that the route with a name has with these parameters. The path
// leads back to this route, with the same parameters.
func (s *Snapshot) RoutePath(host, name string, value func(string) (string, bool)) (string, error) {
	route := s.routes.Named(host, name)
	if route == nil {
		return "", fmt.Errorf("there is no route %.60q (%s)", name, RouteRows)
	}
	p, err := route.Pattern.Path(value)
	if err == nil {
		err = s.leadsTo(route, host, p)
	}
	if err != nil {
		return "", fmt.Errorf("the route %s (%s): %w", route.Name, route.Pattern, err)
	}
	return EscapePath(p), nil
}

// leadsTo returns an error unless a path leads to a route.
func (s *Snapshot) leadsTo(route *Route, host, p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if clean := CleanPath(p); p != clean && p != clean+"/" {
		return fmt.Errorf("the path %.200q has an empty segment or one that is a dot", p)
	}
	if why := s.goesBefore(host, p); why != "" {
		return fmt.Errorf("the path %.200q does not lead to it: %s", p, why)
	}
	method := "GET"
	if len(route.Methods) > 0 {
		method = route.Methods[0]
	}
	if found, _ := s.routes.Match(host, method, p); found != nil && found != route {
		return fmt.Errorf("the path %.200q leads to the route %s (%s)", p, found.Name, found.Pattern)
	}
	return nil
}

// goesBefore says what answers a path before routes are looked at, or "".
func (s *Snapshot) goesBefore(host, p string) string {
	if admin := s.String(AdminPath); admin != "" && (strings.HasPrefix(p, admin) || p+"/" == admin) {
		return fmt.Sprintf("%s is the path of the web page (user.webserver.adminPath)", admin)
	}
	for segment := range strings.SplitSeq(p, "/") {
		if IsHandler(segment) {
			return segment + " is the handler's own name"
		}
		if ext := path.Ext(segment); ext != "" {
			if t, ok := s.MimeType(ext); ok && t.Action != "" {
				return fmt.Sprintf("the extension %s belongs to the action %s", t.Extension, t.Action)
			}
		}
	}
	if action := s.Override(host, p); action != "" {
		return fmt.Sprintf("user.webserver.overrides forces the action %s", action)
	}
	return ""
}

// routes reads the rows.
func (r *reader) routes() (routes Routes) {
	for _, host := range r.children(RouteRows.Name()) {
		if host.Kind() != objectdb.KindTable {
			routes.add(&Route{Host: anyHost, Name: host.Name(), Text: r.text(host), Err: fmt.Errorf(
				"it lies beside the tables of the hosts: it belongs into %s", RouteRows.Child(anyHost))})
			continue
		}
		for _, n := range r.in(host) {
			route, err := Route{}, error(nil)
			if k := n.Kind(); k == objectdb.KindString || k == objectdb.KindText {
				route, err = ParseRoute(r.text(n))
			} else {
				err = fmt.Errorf("it is a %s, not a text", n.Kind())
			}
			route.Host, route.Name, route.Err = host.Name(), n.Name(), err
			routes.add(&route)
		}
	}
	return routes
}
