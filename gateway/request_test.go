package gateway

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/site"
)

func TestIsHost(t *testing.T) {
	for _, h := range []string{"", "localhost", "localhost:8080", "a.b-c_d.test",
		"127.0.0.1:80", "[::1]", "[::1]:8080", "x:"} {
		assert.True(t, site.IsHost(h), h)
	}
	for _, h := range []string{"localhost?", "#", "/x?", "u@h", "[::1", "%zz", "a b", "x\"<y", "a\r\nb", ":80", "h:port",
		"[]", "[x]", strings.Repeat("a", 301)} {
		assert.False(t, site.IsHost(h), h)
	}
}

func TestContentLength(t *testing.T) {
	for s, want := range map[string]int64{"": 0, "0": 0, "10": 10, "-1": -1, "9223372036854775807": 1<<63 - 1} {
		n, err := contentLength(map[string]string{"CONTENT_LENGTH": s})
		require.NoError(t, err, s)
		assert.Equal(t, want, n, s)
	}
	n, err := contentLength(map[string]string{"HTTP_TRANSFER_ENCODING": "Chunked"})
	require.NoError(t, err)
	assert.Equal(t, int64(-1), n)
	for _, s := range []string{"+5", " 5", "5 ", "0x5", "5, 5", "5e0", "1_0", "-5", "١", "100000000000000000000", "5\n"} {
		_, err := contentLength(map[string]string{"CONTENT_LENGTH": s})
		assert.Error(t, err, s)
	}
}

// Specification: 8.3
func TestReadBody(t *testing.T) {
	for _, c := range []struct {
		name, length, body string
		chunked            bool
		want               string
		status             int
	}{
		{"exact", "5", "hello", false, "hello", 0},
		{"longer than declared", "5", "hello world", false, "hello", 0},
		{"shorter than declared", "10", "hello", false, "", 400},
		{"none declared", "", "hello", false, "", 0},
		{"chunked", "", "hello", true, "hello", 0},
		{"unknown length", "-1", "hello", false, "hello", 0},
		{"over the limit, declared", "21", "x", false, "", 413},
		{"over the limit, chunked", "", strings.Repeat("x", 21), true, "", 413},
		{"at the limit", "20", strings.Repeat("x", 20), false, strings.Repeat("x", 20), 0},
		{"no number", "ten", "hello", false, "", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Request{Params: map[string]string{"CONTENT_LENGTH": c.length},
				Body: iotest.OneByteReader(strings.NewReader(c.body))}
			if c.chunked {
				r.Params["HTTP_TRANSFER_ENCODING"] = "chunked"
			}
			body, err := r.readBody(runner.Bound{Limit: site.Limit{Setting: site.MaxBody}, Most: 20})
			if c.status == 0 {
				require.NoError(t, err)
				assert.Equal(t, c.want, body)
				return
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.status, e.Status)
		})
	}
	t.Run("broken", func(t *testing.T) {
		var e *Error
		r := &Request{Params: map[string]string{"CONTENT_LENGTH": "10"}, Body: iotest.ErrReader(io.ErrUnexpectedEOF)}
		_, err := r.readBody(runner.Bound{Limit: site.Limit{Setting: site.MaxBody}, Most: 20})
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 400, e.Status)
		r = &Request{Params: map[string]string{"CONTENT_LENGTH": "10"}, Body: iotest.ErrReader(fcgi.ErrBodyTimeout)}
		_, err = r.readBody(runner.Bound{Limit: site.Limit{Setting: site.MaxBody}, Most: 20})
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 408, e.Status)
	})
}

func TestSettingsTable(t *testing.T) {
	// The specification's 2.2 in its order, by the names it gives them.
	var titles []string
	for _, s := range site.Settings[:9] {
		titles = append(titles, s.Title)
	}
	assert.Equal(t, []string{"Use Script-Based Trap", "Set Path to Server", "Set Website Folder Path",
		"Set Server Name", "Set Chunk Size",
		"Debugging", "Auto-Save Frontier-style agent", "Use Dirty Root Flag", "Set Save Interval"}, titles)
	names := map[string]bool{}
	for _, s := range site.Settings {
		assert.False(t, names[s.Name], "%s is there twice", s.Name)
		names[s.Name] = true
		assert.NotEmpty(t, s.Meaning, s.Name)
		if s.Check != nil {
			assert.NoError(t, s.Check(s.Default), s.Name)
		}
	}
}

// TestOriginOfARequest checks that the commit of a request records the user, method and path of the
// request, and that the commit of a replay records the user who runs it again.
func TestOriginOfARequest(t *testing.T) {
	s := newSite(t)
	x := s.g.newExchange(s.request("/x.fcgi", map[string]string{"REMOTE_USER": "ada", "REQUEST_METHOD": "POST"}), nil)
	assert.Equal(t, objectdb.Origin{Who: "ada", Why: "POST", Path: "/x.fcgi"}, x.options().Origin)
	x.replay = new(ReplayOptions)
	assert.Zero(t, x.options().Origin)
}
