package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// typist is a person at a terminal who answers questions for a password.
type typist struct {
	t               *testing.T
	person, program *os.File
	shown           chan string // what the terminal shows
}

func newTypist(t *testing.T) *typist {
	p := &typist{t: t, shown: make(chan string, 100)}
	p.person, p.program = openTerminal(t)
	go func() {
		var all []byte
		for buffer := make([]byte, 4096); ; {
			n, err := p.person.Read(buffer)
			if err != nil {
				return
			}
			all = append(all, buffer[:n]...)
			p.shown <- string(all)
		}
	}()
	return p
}

// wait waits until the terminal has shown a text, and returns all that it has shown.
func (p *typist) wait(want string) string {
	p.t.Helper()
	timeout := time.After(patience)
	shown := ""
	for !strings.Contains(shown, want) {
		select {
		case shown = <-p.shown:
		case <-timeout:
			p.t.Fatalf("the terminal did not show %q, but %q", want, shown)
		}
	}
	return shown
}

// typePassword types a line when the terminal does not show what is typed.
func (p *typist) typePassword(line string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); p.echoes(); time.Sleep(time.Millisecond) {
		require.True(p.t, time.Now().Before(deadline), "the terminal shows what is typed")
	}
	_, err := p.person.WriteString(line)
	require.NoError(p.t, err)
}

func (p *typist) echoes() bool {
	state, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	require.NoError(p.t, err)
	return state.Lflag&unix.ECHO != 0
}

// At a terminal a password is asked for twice, and is not shown.
func TestPasswordAtTerminal(t *testing.T) {
	root := filepath.Join(t.TempDir(), "scripter.root")
	require.Zero(t, run(t.Context(), []string{"--root", root, "init"}, nil, io.Discard, io.Discard))
	for _, c := range []struct {
		name          string
		first, second string
		code          int
		want          string
	}{
		{"ada", "correct horse battery", "correct horse battery", 0, "added ada: owner"},
		{"bob", "correct horse battery", "correct horse batterie", 1, "the two passwords differ"},
		{"eve", "short", "", 1, "fewer than 10 characters"},
		{"joe", "correct \xff horse", "", 1, "the password is not UTF-8"},
	} {
		p := newTypist(t)
		var out bytes.Buffer
		code := make(chan int, 1)
		go func() {
			code <- run(t.Context(), []string{"--root", root, "users", "add", c.name, "--role", "owner"}, p.program, &out, p.program)
		}()
		shown := p.wait("Password for " + c.name + ": ")
		p.typePassword(c.first + "\n")
		if c.second != "" {
			shown = p.wait("The same again: ")
			p.typePassword(c.second + "\n")
		}
		require.Equal(t, c.code, <-code, c.name)
		if c.code == 0 {
			assert.Contains(t, out.String(), c.want)
		} else {
			shown = p.wait(c.want)
		}
		assert.NotContains(t, shown, "correct")
		assert.True(t, p.echoes(), "the terminal is as it was")
	}

	// Ctrl-C ends the question.
	p := newTypist(t)
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"--root", root, "users", "password", "ada"}, p.program, io.Discard, p.program)
	}()
	p.wait("Password for ada: ")
	p.typePassword("")
	cancel()
	assert.Equal(t, 1, <-code)
	p.wait("no password was given; nothing was changed")
	assert.True(t, p.echoes())
}
