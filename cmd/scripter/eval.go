package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/runner"
)

func (t *tool) evalCommand() *cobra.Command {
	var at atFlag
	c := &cobra.Command{
		Use:   "eval LUA",
		Short: "run Lua and print what it gives",
		Long: `Eval runs Lua in one transaction: an expression gives its values, anything else
what it returns. Each value is printed as text, on a line of its own, after what
write has written. "-" reads the Lua from stdin. What it changes in the root is
kept when it ends without an error, and never with --at.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(nothing),
		RunE: func(c *cobra.Command, args []string) error {
			typed := args[0]
			if typed == "-" {
				b, err := io.ReadAll(t.in)
				if err != nil {
					return fmt.Errorf("read stdin: %w", err)
				}
				typed = string(b)
			}
			return t.withGatewayAt(c.Context(), at, forRequests, func(g *gateway.Gateway) error {
				e, err := g.Runner().Eval(c.Context(), runner.Options{}, typed)
				if err != nil {
					return errors.New(gateway.Describe(err))
				}
				if t.json {
					return t.printJSON(map[string]any{"written": e.Written,
						"values": append([]json.RawMessage{}, e.JSON...)})
				}
				printEvaluated(t.raw(), e)
				return nil
			})
		},
	}
	at.add(t, c)
	return c
}

// printEvaluated prints what was written and the texts of the values, each
// with a line end.
func printEvaluated(w io.Writer, e runner.Evaluated) {
	texts := e.Texts
	if e.Written != "" {
		texts = append([]string{e.Written}, texts...)
	}
	for _, text := range texts {
		fmt.Fprintln(w, strings.TrimSuffix(text, "\n"))
	}
}
