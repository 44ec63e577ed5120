package gateway

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/runner"
)

// TestForm checks which form the head has behind each web server.
func TestForm(t *testing.T) {
	apache := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SERVER_SOFTWARE=Apache/2.4"}
	for name, c := range map[string]struct {
		env  []string
		nph  string
		want Form
	}{
		"by hand":         {nil, "", NPH},
		"by hand, forced": {nil, "off", Parsed},
		"Apache, Action": {append(apache, "SCRIPT_NAME=/cgi-bin/Scripter.acgi", "REDIRECT_STATUS=200"), "auto",
			Parsed},
		"Apache, nph by rewrite": {append(apache, "SCRIPT_NAME=/cgi-bin/nph-Scripter.acgi"), "auto", NPH},
		"Apache, nph by Action": {append(apache, "SCRIPT_NAME=/cgi-bin/nph-Scripter.acgi", "REDIRECT_STATUS=200"), "",
			NPH},
		"nginx ignores nph": {[]string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET",
			"SERVER_SOFTWARE=nginx/1.22", "SCRIPT_FILENAME=/x/nph-Scripter.acgi"}, "", Parsed},
		"an unknown server":         {[]string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET"}, "", Parsed},
		"an unknown server, forced": {[]string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET"}, "on", NPH},
	} {
		r := CGI{Environ: c.env, NPH: c.nph, Program: "/cgi-bin/Scripter.acgi"}.request()
		assert.Equal(t, c.want, r.Form, name)
	}
}

// Specification: 4.3.4, 4.3.8
func TestServeCGI(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.method .. p.postArgs`)
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SERVER_SOFTWARE=Apache/2.4",
		"SCRIPT_NAME=/cgi-bin/Scripter.acgi", "PATH_INFO=/x.fcgi",
		"REQUEST_URI=/x.fcgi", "REDIRECT_STATUS=200", "REDIRECT_HANDLER=scripter",
		"CONTENT_LENGTH=4", "HTTP_PROXY=http://evil/"}
	stdin := strings.NewReader("bodyand more that nobody declared")
	var out bytes.Buffer
	o := s.g.ServeCGI(context.Background(), CGI{Environ: env, Stdin: stdin, Stdout: &out})
	assert.Equal(t, 200, o.Status)
	assert.True(t, strings.HasPrefix(out.String(), "Status: 200 OK\r\n"), out.String())
	assert.True(t, strings.HasSuffix(out.String(), "\r\n\r\nPOSTbody"))
	assert.Zero(t, stdin.Len(), "the input is read to its end: some servers lose the response otherwise")

	env = append(env, "SCRIPT_FILENAME=/x/nph-Scripter.acgi")
	env[3], env[6] = "SCRIPT_NAME=/cgi-bin/nph-Scripter.acgi", "X=Y"
	out.Reset()
	s.g.ServeCGI(context.Background(), CGI{Environ: env, Stdin: strings.NewReader("body"), Stdout: &out})
	assert.True(t, strings.HasPrefix(out.String(), "HTTP/1.0 200 OK\r\n"), out.String())
	assert.Contains(t, out.String(), "Connection: close\r\n", "the connection must not be used for another request")
}

// TestCGIEnds checks that a signal ends a program that waits for its input.
func TestCGIEnds(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SCRIPT_NAME=/x.fcgi",
		"REQUEST_URI=/x.fcgi", "CONTENT_LENGTH=100"}
	var out bytes.Buffer
	o := s.g.ServeCGI(ctx, CGI{Environ: env, Stdin: in, Stdout: &out})
	assert.Error(t, o.Err)
	assert.True(t, o.Broken)
}

// TestCGISlowBody checks that a program answers 408 and exits if the body does not arrive, or
// arrives byte by byte.
//
// Catalogue: B6
func TestCGISlowBody(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	for name, pause := range map[string]time.Duration{"never": time.Hour, "trickles": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			in, w := io.Pipe()
			defer w.Close()
			done := make(chan struct{})
			defer close(done)
			go func() {
				for {
					w.Write([]byte("x"))
					select {
					case <-time.After(pause):
					case <-done:
						return
					}
				}
			}()
			env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SCRIPT_NAME=/x.fcgi",
				"REQUEST_URI=/x.fcgi", "CONTENT_LENGTH=100000"}
			var out bytes.Buffer
			begun := time.Now()
			o := s.g.ServeCGI(context.Background(),
				CGI{Environ: env, Stdin: in, Stdout: &out, BodyIdle: 200 * time.Millisecond, Body: 500 * time.Millisecond})
			assert.Equal(t, 408, o.Status)
			assert.False(t, o.Broken)
			assert.Contains(t, out.String(), "Status: 408 Request Timeout\r\n")
			assert.Less(t, time.Since(begun), 5*time.Second, "the late body is not waited for again")
		})
	}
}

// TestOwnName checks that the name of the two-line file counts as the handler's.
func TestOwnName(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "ran"`)
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=/cgi-bin/site.cgi",
		"PATH_INFO=/x.fcgi", "REQUEST_URI=/x.fcgi"}
	var out bytes.Buffer
	s.g.ServeCGI(context.Background(),
		CGI{Environ: env, Stdin: strings.NewReader(""), Stdout: &out, HandlerNames: []string{"site.cgi"}})
	assert.Contains(t, out.String(), "ran")
	out.Reset()
	env[4] = "REQUEST_URI=/cgi-bin/site.cgi/x.fcgi"
	s.g.ServeCGI(context.Background(),
		CGI{Environ: env, Stdin: strings.NewReader(""), Stdout: &out, HandlerNames: []string{"site.cgi"}})
	assert.Contains(t, out.String(), "Status: 404")
}

func TestUnavailable(t *testing.T) {
	var out bytes.Buffer
	Unavailable(nil).ServeCGI(context.Background(),
		CGI{Environ: []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET"}, Stdin: strings.NewReader(""), Stdout: &out})
	assert.True(t, strings.HasPrefix(out.String(), "Status: 503"), out.String())
	assert.Contains(t, out.String(), "Retry-After: 30")
	assert.NotContains(t, out.String(), "busy")
}

func TestRun(t *testing.T) {
	s := newSite(t)
	s.put("workspace.x", objectdb.Script(`scratchpad.y = ... return "got " .. scratchpad.y`))
	text, err := s.g.runner.Call(context.Background(), runner.Options{}, objectdb.Address{"workspace", "x"}, []string{"arg"})
	require.NoError(t, err)
	assert.Equal(t, "got arg", text)
	assert.Equal(t, objectdb.String("arg"), s.get("scratchpad.y"))
	s.put("workspace.x", objectdb.Script(`webserver.sendPartial ("x")`))
	_, err = s.g.runner.Call(context.Background(), runner.Options{}, objectdb.Address{"workspace", "x"}, nil)
	assert.ErrorContains(t, err, "no client")
}
