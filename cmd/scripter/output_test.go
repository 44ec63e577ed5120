package main

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// failing is an output that takes nothing, such as a file on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// A command whose output is lost has failed.
func TestLostOutput(t *testing.T) {
	root := filepath.Join(t.TempDir(), "x.root")
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"--root", root, "init"}, nil, &out, &errs), &errs)
	for _, command := range []string{"ls", "ls -l", "ls --json", "get user.webserver.serverId", "eval 1", "version", "settings", "explain /x.fcgi", "help"} {
		errs.Reset()
		args := append([]string{"--root", root}, strings.Fields(command)...)
		assert.Equal(t, 1, run(t.Context(), args, nil, failing{}, &errs), command)
		assert.Contains(t, errs.String(), "the disk is full", command)
	}
}
