package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"scripter/gateway"
	"scripter/runner"
	"scripter/script"
)

func (t *tool) luaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lua",
		Short: "run Lua line by line",
		Long: `Lua reads Lua line by line and prints the values of each line. An unfinished line
continues in the next one. Each line is a transaction of its own: its changes in the
root are committed at once, and its variables and globals end with it. Store what the
next line needs in a table of the root, such as scratchpad. At a terminal, the arrow
keys bring back earlier lines from $XDG_STATE_HOME/scripter/lua_history (else
~/.local/state); Ctrl-C drops an unfinished line, Ctrl-D or the word exit ends.
Without a terminal, the exit status is 1 when a line failed.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.withGateway(forRequests, func(g *gateway.Gateway) error {
				s := &session{g: g, out: t.raw(), err: t.err}
				in, _ := t.in.(*os.File)
				if t.screen == nil || !isTerminal(t.in) {
					return s.readLines(c.Context(), t.in)
				}
				return s.talk(c.Context(), in, t.screen, t.rootName())
			})
		},
	}
}

// session runs Lua line by line.
type session struct {
	g        *gateway.Gateway
	out, err io.Writer
	typed    string // the lines of an unfinished statement
	failed   int    // the number of statements that failed
}

const (
	prompt     = "> "
	promptMore = ">> "
)

// readLines runs the lines of a file or a pipe.
func (s *session) readLines(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReader(in)
	for end := false; !end; {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read stdin: %w", err)
		}
		if end = err == io.EOF; end && line == "" {
			break // the text ends with a line end
		}
		s.line(ctx, strings.TrimRight(line, "\r\n"))
	}
	s.finish(ctx)
	if s.failed > 0 {
		return fmt.Errorf("%s failed", counted(s.failed, "line"))
	}
	return nil
}

// talk runs the lines typed at a terminal.
func (s *session) talk(ctx context.Context, in, out *os.File, root string) error {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("use the terminal: %w", err)
	}
	defer term.Restore(int(in.Fd()), before)
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, prompt)
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		if err := terminal.SetSize(width, height); err != nil {
			return fmt.Errorf("use the terminal: %w", err)
		}
	}
	s.out = &visibleWriter{w: terminal}
	s.err = s.out
	h, err := openHistory()
	if err != nil {
		fmt.Fprintln(s.err, "scripter: earlier lines are not saved:", err)
	}
	defer h.close()
	terminal.History = h
	fmt.Fprintf(s.out, `scripter %s, Lua 5.1, %s
Each line is a transaction of its own: its changes in the root are committed at once,
and its variables end with it. Store values in scratchpad. Ctrl-D ends.
`, version, root)
	for ctx.Err() == nil {
		terminal.SetPrompt(prompt)
		if s.typed != "" {
			terminal.SetPrompt(promptMore)
		}
		line, err := terminal.ReadLine()
		switch {
		case err == term.ErrPasteIndicator:
		case err == io.EOF && s.typed != "":
			s.typed = ""
			continue
		case err == io.EOF:
			fmt.Fprintln(s.out)
			return nil
		case err != nil:
			return fmt.Errorf("read the terminal: %w", err)
		case s.typed == "" && strings.TrimSpace(line) == "exit":
			return nil
		}
		s.line(ctx, line)
	}
	return nil
}

// line adds a line to the unfinished statement, and runs it if it is complete now.
func (s *session) line(ctx context.Context, line string) {
	if s.typed != "" {
		line = s.typed + "\n" + line
	}
	s.typed = line
	if !script.Unfinished(script.CheckTyped("typed", line)) {
		s.finish(ctx)
	}
}

// finish runs the statement that was typed.
func (s *session) finish(ctx context.Context) {
	typed := s.typed
	s.typed = ""
	if strings.TrimSpace(typed) == "" {
		return
	}
	e, err := s.g.Runner().Eval(ctx, runner.Options{}, typed)
	if err != nil {
		s.failed++
		fmt.Fprintln(s.err, gateway.Describe(err))
		return
	}
	printEvaluated(s.out, e)
}
