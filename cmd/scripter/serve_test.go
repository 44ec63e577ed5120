package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What serve prints to try next can be typed as it stands.
func TestTyped(t *testing.T) {
	for program, want := range map[string]string{
		"scripter":                                 "scripter",
		"bin/scripter":                             "bin/scripter",
		"/tmp/go-build123/b001/exe/scripter":       "go run ./cmd/scripter",
		"/root/.cache/go-build/1f/1f0c-d/scripter": "go run ./cmd/scripter",
		"/usr/local/bin/scripter":                  "/usr/local/bin/scripter",
	} {
		assert.Equal(t, want, typed(program))
	}
}
