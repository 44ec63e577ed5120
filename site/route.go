package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
)

// RouteRows is the table of routes: host (* = every host) → name → text. A route gives URLs without an
// extension to a script or a page. See [ParseRoute] for the texts.
var RouteRows = home.Child("routes")

// A Route is a row of [RouteRows].
type Route struct {
	Host, Name string
	Text       string   // of the row
	Methods    []string // nil: all. GET stands for HEAD, too
	Pattern    Pattern
	Object     objectdb.Address // the object that answers, below [Scripts]; nil: a page does
	Page       string           // path of the page below the document root, "/items/show.mcro"; "": an object answers
	Err        error            // why the row is no route
	Before     *Route           // a route with the same pattern, host and method, which answers in its place; nil: none
}

// routeMethods are the methods that a row may name.
var routeMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// anyMethod stands for all methods, and anyHost for all hosts.
const (
	anyMethod = "*"
	anyHost   = "*"
)

const (
	longestRoute  = 1000 // bytes of the text of a row
	longestName   = 64   // bytes of the name of a route
	maxRouteParts = 32   // segments of a pattern
)

// ParseRoute reads the text of a row, words separated by blanks: methods, a pattern, what answers.
//
//	GET /items/{id} shop.item             the script suites.webserverScripts.shop.item
//	GET POST /contact /contact.mcro       the page contact.mcro in the document root
//	* /api/*call api.answer               all methods
//	/about about                          GET alone
//
// HEAD is answered as GET is.
func ParseRoute(text string) (Route, error) {
	r := Route{Text: text}
	if len(text) > longestRoute {
		return r, fmt.Errorf("it is longer than %d bytes", longestRoute)
	}
	words := strings.Fields(text)
	n := slices.IndexFunc(words, func(w string) bool { return w[0] == '/' })
	if n < 0 {
		return r, errors.New(`it has no pattern that begins with /: say "GET /items/{id} shop.item"`)
	}
	var err error
	if r.Methods, err = parseMethods(words[:n]); err != nil {
		return r, err
	}
	if r.Pattern, err = ParsePattern(words[n]); err != nil {
		return r, err
	}
	return r, r.setTarget(strings.Join(words[n+1:], " "))
}

func parseMethods(words []string) ([]string, error) {
	if len(words) == 0 {
		return routeMethods[:1:1], nil
	}
	if len(words) == 1 && words[0] == anyMethod {
		return nil, nil
	}
	var list []string
	for _, w := range words {
		m := strings.ToUpper(w)
		switch {
		case m == "HEAD":
			return nil, errors.New("it names HEAD: a route for GET answers HEAD, too")
		case m == anyMethod:
			return nil, errors.New("it names * beside other methods: * alone stands for all")
		case !slices.Contains(routeMethods, m):
			return nil, fmt.Errorf("%.40q is no method: a route has %s, or * for all", w, strings.Join(routeMethods, ", "))
		case slices.Contains(list, m):
			return nil, fmt.Errorf("it names %s twice", m)
		}
		list = append(list, m)
	}
	return list, nil
}

// setTarget sets what answers: the path of a page, or an address below [Scripts].
func (r *Route) setTarget(target string) error {
	switch {
	case target == "":
		return fmt.Errorf("it does not say what answers: a script below %s, such as shop.item, "+
			"or a page, such as /items.mcro", Scripts)
	case target[0] == '/':
		if strings.ContainsAny(target, "?#") || strings.HasSuffix(target, "/") {
			return fmt.Errorf("%.100q is not the path of a page", target)
		}
		r.Page = target
		return CheckPath(target)
	}
	a, err := parseTarget(target)
	if err != nil {
		return err
	}
	if isIn(a, Scripts) {
		a = a[len(Scripts):]
	}
	if len(a) == 0 {
		return fmt.Errorf("%s itself cannot answer, only an object in it", Scripts)
	}
	r.Object = slices.Concat(Scripts, a)
	return nil
}

// parseTarget reads the address of an object. Unlike other addresses it may have "-" in a name without
// quotes, as the URLs of scripts have.
func parseTarget(target string) (objectdb.Address, error) {
	a, err := objectdb.ParseAddress(target)
	if err == nil || strings.ContainsAny(target, `["]`) {
		return a, err
	}
	names := objectdb.Address(strings.Split(target, "."))
	for _, name := range names {
		if checkRouteName(name) != nil {
			return nil, err
		}
	}
	return names, nil
}

// Target returns what answers as a row has it: "shop.item" or "/items.mcro".
func (r *Route) Target() string {
	if r.Object != nil {
		return r.Object[len(Scripts):].String()
	}
	return r.Page
}

// Methodic returns the methods and the pattern as a row has them: "GET POST /items/{id}".
func (r *Route) Methodic() string {
	return strings.Join(r.MethodList(), " ") + " " + r.Pattern.String()
}

// MethodList returns the methods; {"*"} stands for all.
func (r *Route) MethodList() []string {
	if r.Methods == nil {
		return []string{anyMethod}
	}
	return r.Methods
}

// Address returns the address of the row.
func (r *Route) Address() objectdb.Address { return RouteRows.Child(r.Host).Child(r.Name) }

// Takes reports whether the route answers a method.
func (r *Route) Takes(method string) bool {
	if method == "HEAD" {
		method = "GET"
	}
	return r.Methods == nil || slices.Contains(r.Methods, method)
}

// overlaps reports whether both routes answer some method.
func (r *Route) overlaps(other *Route) bool {
	return r.Methods == nil || other.Methods == nil || slices.ContainsFunc(r.Methods, other.Takes)
}

// allow returns the methods of routes as the field Allow has them (RFC 9110, 10.2.1).
func allow(routes []*Route) string {
	var list []string
	for _, m := range routeMethods {
		if m == "OPTIONS" || slices.ContainsFunc(routes, func(r *Route) bool { return r.Takes(m) }) {
			list = append(list, m)
		}
		if m == "GET" && len(list) > 0 {
			list = append(list, "HEAD")
		}
	}
	return strings.Join(list, ", ")
}

// checkRouteName checks the name of a route, by which url.to finds it.
func checkRouteName(name string) error {
	for i := 0; i < len(name); i++ {
		if !isAlphanumeric(name[i]) && name[i] != '_' && name[i] != '-' {
			return fmt.Errorf("the name %.60q has characters other than letters, digits, _ and -", name)
		}
	}
	if name == "" || len(name) > longestName {
		return fmt.Errorf("the name of a route has 1 to %d characters", longestName)
	}
	return nil
}
