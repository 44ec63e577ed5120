package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/runner"
)

// requestFlags describe a request of the command line.
type requestFlags struct {
	method, data, host, site string
	variableFlags
}

// variableFlags give CGI variables.
type variableFlags struct {
	headers, params []string
}

func (f *variableFlags) add(t *tool, c *cobra.Command) {
	c.Flags().StringArrayVar(&f.headers, "header", nil, `header field "Name: value"; may be repeated`)
	c.Flags().StringArrayVar(&f.params, "param", nil, "CGI variable NAME=VALUE; may be repeated")
	t.flag(c, "header", nothing)
	t.flag(c, "param", nothing)
}

// each calls set with each variable.
func (f *variableFlags) each(set func(name, value string)) error {
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return usageError{fmt.Errorf("--header %q is not \"Name: value\"", h)}
		}
		name = strings.ReplaceAll(strings.ToUpper(name), "-", "_")
		if name != "CONTENT_TYPE" && name != "CONTENT_LENGTH" {
			name = "HTTP_" + name
		}
		set(name, strings.TrimSpace(value))
	}
	for _, v := range f.params {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return usageError{fmt.Errorf("--param %q is not NAME=VALUE", v)}
		}
		set(name, value)
	}
	return nil
}

func (f *requestFlags) add(t *tool, c *cobra.Command) {
	c.Flags().StringVar(&f.method, "method", "", "request method; GET, or POST with --data")
	c.Flags().StringVar(&f.data, "data", "", `body of the request; "@FILE" reads a file, "@-" stdin`)
	c.Flags().StringVar(&f.host, "host", "", "the `HOST` that is asked, which may have routes and overrides of its own")
	t.flag(c, "host", nothing)
	f.variableFlags.add(t, c)
	c.Flags().StringVar(&f.site, "site", "www", "folder of the pages (DOCUMENT_ROOT)")
	t.flag(c, "method", words("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"))
	t.flag(c, "data", fileAfterAt)
	t.flag(c, "site", folders)
}

// request makes the request of a path such as "/hello.fcgi?x=1", or of a URL with a host.
func (f *requestFlags) request(path string, stdin io.Reader) (*gateway.Request, error) {
	host := f.host
	if scheme, rest, ok := strings.Cut(path, "://"); ok && (scheme == "http" || scheme == "https") {
		named, rest, _ := strings.Cut(rest, "/")
		host, path = cmp.Or(host, named), "/"+rest
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	script, query, _ := strings.Cut(path, "?")
	site, err := filepath.Abs(f.site)
	if err != nil {
		return nil, err
	}
	p := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.0", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": gateway.DecodePath(script), "REQUEST_URI": path, "QUERY_STRING": query,
		"DOCUMENT_ROOT": site, "REMOTE_ADDR": "127.0.0.1",
	}
	r := &gateway.Request{Params: p, Form: gateway.NPH, Developer: true}
	if f.data != "" {
		body, err := readData(f.data, stdin)
		if err != nil {
			return nil, err
		}
		p["REQUEST_METHOD"], p["CONTENT_TYPE"] = "POST", "application/x-www-form-urlencoded"
		p["CONTENT_LENGTH"] = strconv.Itoa(len(body))
		r.Body = bytes.NewReader(body)
	}
	if f.method != "" {
		p["REQUEST_METHOD"] = f.method
	}
	if host != "" {
		p["HTTP_HOST"] = host
	}
	return r, f.each(func(name, value string) { p[name] = value })
}

func readData(data string, stdin io.Reader) ([]byte, error) {
	name, isFile := strings.CutPrefix(data, "@")
	switch {
	case !isFile:
		return []byte(data), nil
	case name == "-":
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

func (t *tool) callCommand() *cobra.Command {
	var f requestFlags
	var at atFlag
	c := &cobra.Command{
		Use:   "call PATH",
		Short: "answer a request without a web server",
		Long: `Call answers the request of a path, such as "/samples.tellTime.fcgi?x=1", and
prints the complete response. Errors are shown in full. What the request
changes in the root is kept, as it is behind a web server. The exit status is 1
when the response's status is 500 or more.

With --at the root is as it was then: its scripts, data and settings. What the
request changes is thrown away. Page files come from today's disk.

` + momentHelp,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(urlPaths),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.request(args[0], t.in)
			if err != nil {
				return err
			}
			return t.withAt(c.Context(), at, forRequests, func(db *objectdb.DB) error {
				g, err := t.gateway(db, t.log(slog.LevelWarn))
				if err != nil {
					return err
				}
				defer t.tellOfFiles(g)
				r.By = t.origin()
				out := g.Answer(c.Context(), r, t.raw())
				switch {
				case out.Broken && out.Status < 500:
					return fmt.Errorf("the response to %s broke off after its beginning: %s",
						args[0], gateway.Describe(out.Err))
				case out.Status >= 500 || out.Broken:
					return fmt.Errorf("%s was answered with status %d", args[0], out.Status)
				}
				return nil
			})
		},
	}
	f.add(t, c)
	at.add(t, c)
	return c
}

func (t *tool) explainCommand() *cobra.Command {
	var f requestFlags
	c := &cobra.Command{
		Use:   "explain URL",
		Short: "tell which rules and addresses a request would take, and why",
		Long: `Explain finds out what answers the request of a path, such as "/items/17", or of a
URL, and prints each rule, route and address on the way. Nothing is run and nothing is
changed.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(urlPaths),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := f.request(args[0], t.in)
			if err != nil {
				return err
			}
			steps := []string{}
			r.Trace = func(step string) { steps = append(steps, step) }
			var e gateway.Explanation
			err = t.withGateway(forReading, func(g *gateway.Gateway) (err error) {
				e, err = g.Explain(c.Context(), r)
				return err
			})
			if err != nil {
				return err
			}
			if t.json {
				route := ""
				if e.Target.Route != nil {
					route = e.Target.Route.Address().String()
				}
				return t.printJSON(map[string]any{
					"path": e.Target.Path, "route": route, "extra": e.Target.Extra, "pathArgs": e.Target.PathArgs,
					"action": e.Target.Action, "rule": e.Target.Rule, "answer": e.Answer,
					"status": e.Status, "steps": steps, "limits": jsonLimits(e.Limits),
				})
			}
			for _, s := range steps {
				fmt.Fprintln(t.out, s)
			}
			fmt.Fprintf(t.out, "=> %s\n", e.Answer)
			return nil
		},
	}
	f.add(t, c)
	return c
}

func (t *tool) expandCommand() *cobra.Command {
	var f requestFlags
	c := &cobra.Command{
		Use:               "expand FILE",
		Short:             "print a page with its macros expanded",
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(files),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(file); err != nil {
				return err
			}
			if !c.Flags().Changed("site") {
				f.site = filepath.Dir(file)
			}
			r, err := f.request("/"+filepath.Base(file), t.in)
			if err != nil {
				return err
			}
			return t.withGateway(forRequests, func(g *gateway.Gateway) error {
				text, err := g.ExpandFile(c.Context(), r, file)
				if err != nil {
					return err
				}
				_, err = io.WriteString(t.raw(), text)
				return err
			})
		},
	}
	f.add(t, c)
	return c
}

func (t *tool) runCommand() *cobra.Command {
	var at atFlag
	c := &cobra.Command{
		Use:   "run ADDRESS [ARG…]",
		Short: "run a script of the root and print what it returns",
		Long: `Run calls the script at ADDRESS with the arguments, as texts, and prints what it
returns. What it changes in the root is kept when it ends without an error, and never with --at.`,
		Args:              args(1, -1),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindScript), nothing),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			return t.withGatewayAt(c.Context(), at, forRequests, func(g *gateway.Gateway) error {
				text, err := g.Runner().Call(c.Context(), runner.Options{}, a, args[1:])
				if err != nil {
					return errors.New(gateway.Describe(err))
				}
				if text != "" {
					fmt.Fprintln(t.raw(), text)
				}
				return nil
			})
		},
	}
	at.add(t, c)
	return c
}
