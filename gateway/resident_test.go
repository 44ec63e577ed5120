package gateway

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

func TestResidentSocket(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file, link := filepath.Join(dir, "x.root"), filepath.Join(dir, "y.root")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	for _, root := range []string{file, link, dir + "/./x.root"} {
		sock, err := ResidentSocket(root)
		require.NoError(t, err)
		assert.Equal(t, file+"-door", sock)
	}
	_, err = ResidentSocket(filepath.Join(dir, "missing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// way receives the output of a request; its flush may fail.
type way struct {
	strings.Builder
	err error
}

func (w *way) Flush() error { return w.err }

// TestResidentServesWebServers checks that the request of a web server is answered like any other.
func TestResidentServesWebServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	used := 0
	d, err := NewResident(New(Options{}), file, func() { used++ })
	require.NoError(t, err)
	var out, log way
	d.ServeFCGI(context.Background(),
		&fcgi.Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/x.fcgi"},
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &log})
	assert.True(t, strings.HasPrefix(out.String(), "Status: 503 "), out.String())
	assert.Empty(t, log.String())
	assert.Zero(t, used)
}

// TestResident checks that a request is accepted if it is for this root and its sender still
// waits, and that it is answered as the CGI process would answer it.
func TestResident(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.root")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	real, err := realPath(file)
	require.NoError(t, err)
	tests := []struct {
		name   string
		params map[string]string
		gone   bool
		taken  bool
		begins string
	}{
		{name: "taken", params: map[string]string{"scripter.root": real}, taken: true, begins: "Status: 503 "},
		{name: "nph", params: map[string]string{"scripter.root": real, "scripter.nph": "on"},
			taken: true, begins: "HTTP/1.0 503 "},
		{name: "another root", params: map[string]string{"scripter.root": real + "x"}},
		{name: "gone", params: map[string]string{"scripter.root": real}, gone: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			used := 0
			d, err := NewResident(New(Options{}), file, func() { used++ })
			require.NoError(t, err)
			var out, log way
			if test.gone {
				out.err = errors.New("gone")
			}
			for name, value := range map[string]string{"REQUEST_METHOD": "GET", "GATEWAY_INTERFACE": "CGI/1.1",
				"SCRIPT_NAME": "/x.fcgi", "SERVER_PROTOCOL": "HTTP/1.0"} {
				test.params[name] = value
			}
			f := &fcgi.Request{Params: test.params, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &log}
			d.ServeFCGI(context.Background(), f)
			assert.Equal(t, test.taken, used == 1)
			assert.True(t, strings.HasPrefix(out.String(), test.begins), out.String())
			if !test.taken {
				assert.Empty(t, out.String())
				return
			}
			assert.Equal(t, residentAccepted, log.String())
			for name := range f.Params {
				assert.NotContains(t, name, ResidentVariable, "a script does not see it")
			}
		})
	}
}
