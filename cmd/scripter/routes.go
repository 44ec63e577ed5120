package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

func (t *tool) routesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "routes",
		Short: "list, check, add and remove routes: URLs without extensions",
		Long: `Routes lists the rows of user.webserver.routes: name, methods and pattern, what
answers, and the host (* is every host). Warnings say which rows never answer, or
name something that is not there. "scripter explain /items/17" tells which route
answers a URL, and why.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError{hintError{fmt.Errorf("there is no command %q", "routes "+args[0]),
				"the commands are routes add, routes rm and routes check"}}
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error {
				_, err := t.listRoutes(tx)
				return err
			})
		},
	}
	c.AddCommand(t.routesAddCommand(), t.routesRmCommand(), t.routesCheckCommand())
	return c
}

// listRoutes prints all routes, and then warnings about them. It returns how many warnings there are.
func (t *tool) listRoutes(tx *objectdb.Tx) (warnings int, err error) {
	s, err := site.Read(tx)
	if err != nil {
		return 0, err
	}
	list, lines, notes := []any{}, [][]string{}, []string{}
	for _, r := range s.Routes().All() {
		why, err := s.RouteNotes(tx, r)
		if err != nil {
			return 0, err
		}
		m := map[string]any{"host": r.Host, "name": r.Name, "text": r.Text, "address": r.Address().String()}
		if r.Err == nil {
			m["methods"], m["pattern"], m["target"] = r.MethodList(), r.Pattern.String(), r.Target()
		}
		if len(why) > 0 {
			m["notes"] = why
		}
		list = append(list, m)
		cells := r.Cells()
		lines = append(lines, []string{cells[1], cells[2], cells[3], cells[0]})
		for _, w := range why {
			notes = append(notes, fmt.Sprintf("%s: %s", r.Address(), w))
		}
	}
	switch {
	case t.json:
		return len(notes), t.printJSON(list)
	case len(lines) == 0:
		fmt.Fprintf(t.out, "there are no routes; this adds one: %s\n", t.self("routes add item 'GET /items/{id}' shop.item"))
		return 0, nil
	}
	if err := t.columns(lines); err != nil {
		return 0, err
	}
	for _, n := range notes {
		t.warn("%s", n)
	}
	return len(notes), nil
}

func (t *tool) routesAddCommand() *cobra.Command {
	var host string
	var replace bool
	c := &cobra.Command{
		Use:   "add NAME 'METHODS PATTERN' TARGET",
		Short: "check a route and store it",
		Long: `Add checks a route and stores it. NAME is for url.to, which makes URLs of routes.

METHODS are GET (which answers HEAD, too), POST, PUT, PATCH, DELETE and OPTIONS, or * for
all of them; without one it is GET. The segments of PATTERN are

  items           the text itself
  {id}            any text that is not empty: the script finds it at params.path.id
  {id:number}     1 to 15 digits
  *rest           the rest of the path, with its slashes; it comes last

TARGET is a script, text or binary below suites.webserverScripts, or the path of a page
below the document root:

  scripter routes add item 'GET /items/{id}' shop.item
  scripter routes add contact 'GET POST /contact' /contact.mcro`,
		Args:              args(2, -1),
		ValidArgsFunction: t.arguments(nothing, nothing, nothing),
		RunE: func(c *cobra.Command, args []string) error {
			name, text := args[0], strings.Join(args[1:], " ")
			var warnings []string
			var stored *site.Route
			err := t.update(c.Context(), func(tx *objectdb.Tx) (err error) {
				if !replace {
					if err := isNewRoute(tx, host, name); err != nil {
						return err
					}
				}
				stored, warnings, err = site.SetRoute(tx, host, name, text)
				return err
			})
			if err != nil {
				return hintError{fmt.Errorf("route %s: %w", name, err), "nothing was changed"}
			}
			fmt.Fprintf(t.out, "added %s: %s %s\n", stored.Name, stored.Methodic(), stored.Target())
			for _, w := range warnings {
				t.warn("%s", w)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&replace, "replace", false, "replace a route with this name")
	t.routeHost(c, &host)
	return c
}

func (t *tool) routeHost(c *cobra.Command, host *string) {
	c.Flags().StringVar(host, "host", "*", "the `HOST` of the route; * is every host")
	t.flag(c, "host", nothing)
}

// isNewRoute returns an error if there is a route with this name.
func isNewRoute(tx *objectdb.Tx, host, name string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	for _, r := range s.Routes().All() {
		if strings.EqualFold(r.Host, host) && strings.EqualFold(r.Name, name) {
			return fmt.Errorf("there is a route with this name already: %s; --replace replaces it", r.Text)
		}
	}
	return nil
}

func (t *tool) routesRmCommand() *cobra.Command {
	var host string
	c := &cobra.Command{
		Use:               "rm NAME",
		Short:             "remove a route",
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(routeNames),
		RunE: func(c *cobra.Command, args []string) error {
			return t.update(c.Context(), func(tx *objectdb.Tx) error {
				err := site.RemoveRoute(tx, host, args[0])
				if errors.Is(err, objectdb.ErrNotFound) {
					return hintError{err, fmt.Sprintf("%q lists the routes, and --host HOST names one of a host", t.self("routes"))}
				}
				return err
			})
		},
	}
	t.routeHost(c, &host)
	return c
}

func (t *tool) routesCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "list the routes; fail if there is something wrong with one",
		Long: `Check lists the routes as "scripter routes" does. The exit status is 1 when a row is no
route, never answers, or names something that is not there.`,
		Args:              args(0, 0),
		ValidArgsFunction: t.arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.view(c.Context(), func(tx *objectdb.Tx) error {
				n, err := t.listRoutes(tx)
				if err == nil && n > 0 {
					err = fmt.Errorf("%s in routes", counted(n, "mistake"))
				}
				return err
			})
		},
	}
}

// routeNames completes the name of a route.
func routeNames(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, r := range s.Routes().All() {
			list = append(list, offer{text: r.Name, about: r.Text})
		}
		return nil
	})
	return beginning(typed, list)
}
