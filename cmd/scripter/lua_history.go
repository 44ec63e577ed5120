package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// typedLines holds the lines typed at "scripter lua", in memory and in a file that
// only its owner can read: they may hold passwords. It is a term.History.
type typedLines struct {
	lines []string // oldest first
	file  *os.File // nil: the lines are in memory only
}

// maxHistory is how many lines are read back. The file is cut to as many when
// it is opened with twice that.
const maxHistory = 1000

// stateFolder returns the folder for state that should outlive a run but is not
// essential (XDG Base Directory Specification 0.8).
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "scripter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "scripter"), nil
}

// openHistory reads the history of this user. If that fails it returns one
// without a file, and the error.
func openHistory() (*typedLines, error) {
	dir, err := stateFolder()
	if err != nil {
		return &typedLines{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &typedLines{}, err
	}
	return readHistory(filepath.Join(dir, "lua_history"))
}

func readHistory(name string) (*typedLines, error) {
	h := &typedLines{}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	if text = bytes.TrimSuffix(text, []byte("\n")); len(text) > 0 {
		h.lines = strings.Split(string(text), "\n")
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if len(h.lines) > 2*maxHistory {
		flags |= os.O_TRUNC
	}
	h.file, err = os.OpenFile(name, flags, 0o600)
	if err != nil {
		h.file = nil
		return h, err
	}
	if err := h.file.Chmod(0o600); err != nil {
		return h, err
	}
	cut := len(h.lines) > 2*maxHistory
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
	if cut {
		_, err = fmt.Fprintln(h.file, strings.Join(h.lines, "\n"))
	}
	return h, err
}

// Add adds a line. An empty one, and the same one again, are left out.
func (h *typedLines) Add(line string) {
	line = strings.NewReplacer("\n", " ", "\r", " ").Replace(line)
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.file != nil {
		fmt.Fprintln(h.file, line)
	}
}

// Len returns the number of lines.
func (h *typedLines) Len() int { return len(h.lines) }

// At returns a line; 0 is the newest.
func (h *typedLines) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *typedLines) close() {
	if h.file != nil {
		h.file.Close()
	}
}
