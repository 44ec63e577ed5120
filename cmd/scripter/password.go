package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"scripter/site"
)

// passwordInput says where a command gets a password from.
type passwordInput struct{ stdin bool }

func (p *passwordInput) add(c *cobra.Command) {
	c.Flags().BoolVar(&p.stdin, "password-stdin", false,
		"the password is the first line of stdin, though it is a terminal")
}

// newPassword gets a password for a user, checks it, and returns its hash.
func (t *tool) newPassword(ctx context.Context, name string, input passwordInput) (hash string, err error) {
	var password string
	if f, ok := t.in.(*os.File); ok && isTerminal(f) && !input.stdin {
		password, err = t.askPassword(ctx, f, name)
	} else if password, err = firstOf(t.in); err == nil {
		err = site.CheckPassword(password)
	}
	if err != nil {
		return "", err
	}
	return site.NewPasswords().Hash(ctx, password)
}

// firstOf returns the first line.
func firstOf(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 1<<16)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	if line == "" {
		return "", hintError{errors.New("there is no password on stdin"), "its first line is the password"}
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// askPassword asks at a terminal for a password, twice, without showing it.
func (t *tool) askPassword(ctx context.Context, terminal *os.File, name string) (string, error) {
	password, err := t.askHidden(ctx, terminal, "Password for "+name+": ")
	if err == nil {
		err = site.CheckPassword(password)
	}
	if err != nil {
		return "", err
	}
	again, err := t.askHidden(ctx, terminal, "The same again: ")
	if err == nil && again != password {
		err = errors.New("the two passwords differ; nothing was changed")
	}
	return password, err
}

// askHidden asks for a line that the terminal does not show. It ends with ctx, for Ctrl-C, and
// leaves the terminal as it was.
func (t *tool) askHidden(ctx context.Context, terminal *os.File, prompt string) (string, error) {
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("use the terminal: %w", err)
	}
	fmt.Fprint(t.err, visible(prompt))
	defer fmt.Fprintln(t.err)
	type answer struct {
		text []byte
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return "", fmt.Errorf("read the password: %w", a.err)
		}
		if !utf8.Valid(a.text) {
			return "", errors.New("the password is not UTF-8")
		}
		return string(a.text), nil
	case <-ctx.Done():
		if err := term.Restore(fd, before); err != nil {
			return "", fmt.Errorf("use the terminal: %w", err)
		}
		return "", errors.New("no password was given; nothing was changed")
	}
}
