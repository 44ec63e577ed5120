package url

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// to is the verb url.to.
var to = script.Verb{
	Name: "url.to",
	Doc: "The URL of a route by its name, with these parameters; what the pattern has not goes into the query. " +
		"It leads back to this route with the same parameters.",
	Params: []script.Param{
		script.Arg("name", "string", "of the route"),
		script.Opt("parameters", "any", "", "{id = 17}, or the name of one"),
		script.Opt("value", "any", "", "of that one; more names and values may follow, for markers, which have no tables"),
	},
	Results: script.Returns("string", `"/items/17?q=x"; every byte but letters, digits and -._~ is escaped`),
	Errors: "there is no such route; a parameter of the pattern is missing or empty, has a slash, or leads elsewhere; " +
		"a value that is a table",
	Example: `user.webserver.routes = {["*"] = {item = "GET /items/{id} shop.item"}}
return url.to ("item", {id = 17, q = "a&b"})`,
	Gives: "/items/17?q=a%26b",
	Page:  true,
	Func:  routeURL,
}

// answering is the host of a thread that answers a request.
type answering interface {
	Site() *site.Snapshot
	RequestHost() string
}

// argument is a parameter of a route, or a field of the query.
type argument struct {
	name, value string
	used        bool
}

func routeURL(v *script.Call) error {
	route := v.String(1)
	args, err := argumentsOf(v)
	if err != nil {
		return err
	}
	s, host, err := siteOf(v.Thread())
	if err != nil {
		return err
	}
	path, err := s.RoutePath(host, route, func(name string) (string, bool) {
		for i := range args {
			if a := &args[i]; a.name == name {
				a.used = true
				return a.value, true
			}
		}
		return "", false
	})
	if err != nil {
		return err
	}
	b := []byte(path)
	sep := byte('?')
	for _, a := range args {
		if !a.used {
			b = httpform.Escape(append(b, sep), a.name)
			b = httpform.Escape(append(b, '='), a.value)
			sep = '&'
		}
	}
	v.ReturnText(string(b))
	return nil
}

// argumentsOf returns the parameters: those of a table by their names, others in their order.
func argumentsOf(v *script.Call) (list []argument, err error) {
	n := v.NArgs()
	if n == 2 && !v.IsString(2) {
		t := v.Table(2)
		for _, name := range t.Names() {
			if list, err = addArgument(list, v, name, t.Get(name)); err != nil {
				return nil, err
			}
		}
		if t.Len() > 0 {
			return nil, errors.New("the parameters are a list: each needs a name")
		}
		slices.SortFunc(list, func(a, b argument) int { return strings.Compare(a.name, b.name) })
		return list, nil
	}
	if n%2 == 0 {
		return nil, fmt.Errorf("the parameter %.60q has no value after it", v.Text(n))
	}
	for i := 2; i < n; i += 2 {
		if list, err = addArgument(list, v, v.String(i), v.Value(i+1)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func addArgument(list []argument, v *script.Call, name string, value script.Value) ([]argument, error) {
	switch value := value.(type) {
	case *script.Table:
		return nil, fmt.Errorf("the parameter %.60q is a table", name)
	case *script.Function:
		return nil, fmt.Errorf("the parameter %.60q is a function", name)
	case *script.Object:
		switch k := value.Kind(); k {
		case objectdb.KindTable, objectdb.KindScript, objectdb.KindBinary, objectdb.KindList:
			return nil, fmt.Errorf("the parameter %.60q is a %s", name, k)
		}
	case nil:
		return nil, fmt.Errorf("the parameter %.60q is nil", name)
	}
	if slices.ContainsFunc(list, func(a argument) bool { return a.name == name }) {
		return nil, fmt.Errorf("the parameter %.60q comes twice", name)
	}
	text, err := v.Thread().Text(value)
	if err != nil {
		return nil, fmt.Errorf("the parameter %.60q: %w", name, err)
	}
	return append(list, argument{name: name, value: text}), nil
}

// siteOf returns the site as the transaction of a thread sees it, and the host of its request.
func siteOf(t *script.Thread) (*site.Snapshot, string, error) {
	if a, ok := t.Host().(answering); ok {
		return a.Site(), a.RequestHost(), nil
	}
	s, err := site.Read(t.Tx())
	return s, "", err
}
