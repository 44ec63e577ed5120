package gateway

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

	"scripter/objectdb"
)

// TestForm: the form of the head, by what the web server says of itself.
func TestForm(t *testing.T) {
	apache := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SERVER_SOFTWARE=Apache/2.4"}
	for name, c := range map[string]struct {
		env  []string
		nph  string
		want Form
	}{
		"by hand":                   {nil, "", NPH},
		"by hand, forced":           {nil, "off", Parsed},
		"Apache, Action":            {append(apache, "SCRIPT_NAME=/cgi-bin/Scripter.acgi", "REDIRECT_STATUS=200"), "auto", Parsed},
		"Apache, nph by rewrite":    {append(apache, "SCRIPT_NAME=/cgi-bin/nph-Scripter.acgi"), "auto", NPH},
		"Apache, nph by Action":     {append(apache, "SCRIPT_NAME=/cgi-bin/nph-Scripter.acgi", "REDIRECT_STATUS=200"), "", NPH},
		"nginx ignores nph":         {[]string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SERVER_SOFTWARE=nginx/1.22", "SCRIPT_FILENAME=/x/nph-Scripter.acgi"}, "", Parsed},
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
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SERVER_SOFTWARE=Apache/2.4", "SCRIPT_NAME=/cgi-bin/Scripter.acgi", "PATH_INFO=/x.fcgi",
		"REQUEST_URI=/x.fcgi", "REDIRECT_STATUS=200", "REDIRECT_HANDLER=scripter", "CONTENT_LENGTH=4", "HTTP_PROXY=http://evil/"}
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

// TestCGIEnds: a signal ends a program that waits for its input.
func TestCGIEnds(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SCRIPT_NAME=/x.fcgi", "REQUEST_URI=/x.fcgi", "CONTENT_LENGTH=100"}
	var out bytes.Buffer
	o := s.g.ServeCGI(ctx, CGI{Environ: env, Stdin: in, Stdout: &out})
	assert.Error(t, o.Err)
	assert.True(t, o.Broken)
}

// TestCGISlowBody checks that a program answers 408 and exits if the body does not
// come, or comes byte by byte.
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
			env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SCRIPT_NAME=/x.fcgi", "REQUEST_URI=/x.fcgi", "CONTENT_LENGTH=100000"}
			var out bytes.Buffer
			begun := time.Now()
			o := s.g.ServeCGI(context.Background(), CGI{Environ: env, Stdin: in, Stdout: &out, BodyIdle: 200 * time.Millisecond, Body: 500 * time.Millisecond})
			assert.Equal(t, 408, o.Status)
			assert.False(t, o.Broken)
			assert.Contains(t, out.String(), "Status: 408 Request Timeout\r\n")
			assert.Less(t, time.Since(begun), 5*time.Second, "the late body is not waited for again")
		})
	}
}

// TestOwnName: the name of the two-line file counts as the handler's.
func TestOwnName(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "ran"`)
	env := []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=/cgi-bin/site.cgi", "PATH_INFO=/x.fcgi", "REQUEST_URI=/x.fcgi"}
	var out bytes.Buffer
	s.g.ServeCGI(context.Background(), CGI{Environ: env, Stdin: strings.NewReader(""), Stdout: &out, HandlerNames: []string{"site.cgi"}})
	assert.Contains(t, out.String(), "ran")
	out.Reset()
	env[4] = "REQUEST_URI=/cgi-bin/site.cgi/x.fcgi"
	s.g.ServeCGI(context.Background(), CGI{Environ: env, Stdin: strings.NewReader(""), Stdout: &out, HandlerNames: []string{"site.cgi"}})
	assert.Contains(t, out.String(), "Status: 404")
}

func TestUnavailable(t *testing.T) {
	var out bytes.Buffer
	Unavailable(nil).ServeCGI(context.Background(), CGI{Environ: []string{"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET"}, Stdin: strings.NewReader(""), Stdout: &out})
	assert.True(t, strings.HasPrefix(out.String(), "Status: 503"), out.String())
	assert.Contains(t, out.String(), "Retry-After: 30")
	assert.NotContains(t, out.String(), "busy")
}

func TestReadConf(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "site.cgi")
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	write("#!/usr/bin/scripter-cgi\nroot: data/site.root\n\n# a comment\nnph: off\nresident: start\n")
	c, err := ReadConf(file)
	require.NoError(t, err)
	assert.Equal(t, Conf{Root: filepath.Join(dir, "data/site.root"), NPH: "off", Resident: "start", File: file}, c)
	for text, want := range map[string]string{
		"":                       "names no root",
		"root: /x\nnph: maybe\n": "line 2",
		"root: /x\nresident: 1":  "line 2",
		"rot: /x\n":              "line 1",
		"root /x\n":              "line 1",
	} {
		write(text)
		_, err := ReadConf(file)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestFindConf(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "scripter-cgi")
	conf := filepath.Join(dir, "scripter.conf")
	_, err := FindConf(nil, "", exe)
	require.ErrorIs(t, err, ErrNoRoot)
	require.NoError(t, os.WriteFile(conf, []byte("root: /beside\nnph: on\nresident: off\n"), 0o644))
	script := filepath.Join(dir, "site.cgi")
	require.NoError(t, os.WriteFile(script, []byte("#!/x\nroot: /script\n"), 0o755))
	for _, c := range []struct {
		env          map[string]string
		script, root string
		nph          string
	}{
		{map[string]string{"SCRIPTER_ROOT": "/env", "REDIRECT_SCRIPTER_ROOT": "/redirect"}, script, "/env", ""},
		{map[string]string{"REDIRECT_SCRIPTER_ROOT": "/redirect"}, script, "/redirect", ""},
		{nil, script, "/script", ""},
		{nil, "", "/beside", "on"},
		{map[string]string{"SCRIPTER_NPH": "off"}, "", "/beside", "off"},
		{map[string]string{"HTTP_SCRIPTER_ROOT": "/evil"}, "", "/beside", "on"},
	} {
		got, err := FindConf(c.env, c.script, exe)
		require.NoError(t, err)
		assert.Equal(t, c.root, got.Root, c.env)
		assert.Equal(t, c.nph, got.NPH, c.env)
	}
	_, err = FindConf(map[string]string{"SCRIPTER_NPH": "perhaps"}, "", exe)
	assert.ErrorContains(t, err, "SCRIPTER_NPH")
	_, err = FindConf(map[string]string{"REDIRECT_SCRIPTER_RESIDENT": "perhaps"}, "", exe)
	assert.ErrorContains(t, err, "SCRIPTER_RESIDENT")
	for want, env := range map[string]map[string]string{
		"off": nil, "start": {"REDIRECT_SCRIPTER_RESIDENT": "start"}, "auto": {"SCRIPTER_RESIDENT": "auto"},
	} {
		got, err := FindConf(env, "", exe)
		require.NoError(t, err)
		assert.Equal(t, want, got.Resident)
	}
}

// TestScriptFile checks which file counts as the one that the system has started.
func TestScriptFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		f := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(f, []byte(text), 0o755))
		return f
	}
	program := write("program", "ELF")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(program, link))
	for started, want := range map[string]bool{
		write("site.cgi", "#!/usr/bin/scripter-cgi\nroot: x\n"): true,
		program:                        false,
		link:                           false,
		write("b.cgi", "root: x"):      false,
		write("empty.cgi", ""):         false,
		dir:                            false,
		filepath.Join(dir, "not-here"): false,
		"":                             false,
	} {
		got, ok := ScriptFile(started, program)
		assert.Equal(t, want, ok, started)
		if ok {
			assert.Equal(t, started, got)
		}
	}
	_, ok := ScriptFile(filepath.Join(dir, "site.cgi"), filepath.Join(dir, "not-here"))
	assert.False(t, ok, "an unknown program")
}

func TestRun(t *testing.T) {
	s := newSite(t)
	s.put("workspace.x", objectdb.Script(`scratchpad.y = ... return "got " .. scratchpad.y`))
	text, err := s.g.Run(context.Background(), objectdb.Address{"workspace", "x"}, []string{"arg"})
	require.NoError(t, err)
	assert.Equal(t, "got arg", text)
	assert.Equal(t, objectdb.String("arg"), s.get("scratchpad.y"))
	s.put("workspace.x", objectdb.Script(`webserver.sendPartial ("x")`))
	_, err = s.g.Run(context.Background(), objectdb.Address{"workspace", "x"}, nil)
	assert.ErrorContains(t, err, "no client")
}
