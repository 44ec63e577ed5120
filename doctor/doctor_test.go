package doctor

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func doctorOf(t *testing.T, h http.HandlerFunc) *doctor {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	a, err := newAsker(s.URL+"/", nil)
	require.NoError(t, err)
	return &doctor{ask: a, over: t.Context().Err, root: "site.root"}
}

// TestShownName checks that shownName finds the name on /server-status in both its forms, and the
// Server field of a response that no script has made.
//
// Specification: 2.2.4
func TestShownName(t *testing.T) {
	for _, c := range []struct {
		name          string
		answer        http.HandlerFunc
		status, field string
	}{
		{"lines", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "Apache")
			w.Write([]byte("localhost\nServerVersion: Apache/2.4.71 (Debian) mod_fcgid/2.3.9\nServerMPM: event\n"))
		}, "Apache/2.4.71 (Debian) mod_fcgid/2.3.9", "Apache"},
		{"the page alone", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "Apache")
			if r.URL.RawQuery == "" {
				w.Write([]byte("<dl><dt>Server Version: WebTen/2.0</dt>\n<dt>Server MPM: none</dt></dl>"))
			}
		}, "WebTen/2.0", "Apache"},
		{"neither", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "nginx/1.22.1")
			http.NotFound(w, r)
		}, "", "nginx/1.22.1"},
		{"a script has the path", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "set by a script")
			w.Header().Set("MIME-Version", "1.0")
			w.Write([]byte("ServerVersion: set by a script\n"))
		}, "", ""},
	} {
		status, field, err := shownName(context.Background(), doctorOf(t, c.answer).ask)
		require.NoError(t, err, c.name)
		assert.Equal(t, []string{c.status, c.field}, []string{status, field}, c.name)
	}
}

// Specification: 2.2.4
func TestSameName(t *testing.T) {
	assert.True(t, sameName("nginx/1.22.1", "nginx/1.22.1"))
	assert.True(t, sameName("Caddy/v2.6.2", "Caddy"))
	assert.False(t, sameName("nginx/1.22.1", "nginx/1.22"))
	assert.False(t, sameName("Apache/2.4.71 (Debian)", "Apache"), "mod_status always shows all of it")
}

// TestUnreached checks which fault the doctor finds if Scripter did not make the response.
func TestUnreached(t *testing.T) {
	scripter := map[string]string{"MIME-Version": "1.0"}
	for _, c := range []struct {
		status int
		fields map[string]string
		fcgid  bool
		want   string
	}{
		{404, nil, false, "fault SCRIPTER"},
		{403, nil, false, "fault SCRIPTER"},
		{403, nil, true, "fault fcgid"},
		{404, nil, true, "fault fcgid"},
		{500, nil, true, "fault handler"},
		{502, nil, false, "fault handler"},
		{503, nil, false, "fault handler"},
		{504, nil, false, "fault handler"},
		{200, nil, false, "fault SCRIPTER"},
		{401, nil, false, "warning SCRIPTER"},
		{301, map[string]string{"Location": "https://www.example.com/"}, false, "warning SCRIPTER"},
		{404, scripter, true, "fault root"},
		{200, scripter, false, "fault root"},
	} {
		d := doctorOf(t, func(w http.ResponseWriter, r *http.Request) {
			for name, value := range c.fields {
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
		})
		d.fcgid, d.server = c.fcgid, "apache"
		d.checkScripter(context.Background())
		require.Len(t, d.findings, 1)
		assert.Equal(t, c.want, d.findings[0].State+" "+d.findings[0].Check, "%d %v", c.status, c.fields)
		assert.NotEmpty(t, d.findings[0].Reason)
	}
}

// TestTLS checks that the doctor names the certificate as the fault if it is not trusted.
func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	a, err := newAsker(s.URL, nil)
	require.NoError(t, err)
	d := &doctor{ask: a, over: t.Context().Err}
	d.examine(context.Background())
	require.Len(t, d.findings, 1)
	assert.Equal(t, "reach", d.findings[0].Check)
	assert.Contains(t, d.findings[0].Reason, "certificate")
}

// TestChanges checks that the lines to change are those for the way in which the web server calls
// Scripter, else those for that web server, else those for all.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ check, server, way, want string }{
		{"body", "apache", "fcgid", "FcgidMaxRequestLen 16777216"},
		{"body", "apache", "cgi", "LimitRequestBody 16777216"},
		{"body", "nginx", "fcgiwrap", "client_max_body_size 16m;"},
		{"proxy", "caddy", "fastcgi", "header_up -Proxy"},
		{"twice", "apache", "cgi", "let the web server set that field, not add it"},
	} {
		d := &doctor{server: c.server, way: c.way}
		assert.Equal(t, []string{c.want}, d.change(c.check))
	}
	assert.Nil(t, (&doctor{server: "apache"}).change("no such check"))
}

func TestMayWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	const nobody = 4_000_000 // is in no group
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o660: false, 0o666: true} {
		require.NoError(t, os.Chmod(file, mode))
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, want, mayWrite(info, nobody), mode)
		assert.True(t, mayWrite(info, os.Geteuid()), mode)
	}
}

func TestFindPage(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a/b/deep.mcro", "a/near.mcro", ".hidden/x.mcro", "a/with blank.mcro",
		"1/2/3/4/5/far.txt", "plain.html"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), nil, 0o644))
	}
	ext := func(want string) func(string, os.DirEntry) bool {
		return func(_ string, e os.DirEntry) bool { return filepath.Ext(e.Name()) == want }
	}
	assert.Equal(t, "/a/near.mcro", findPage(dir, ext(".mcro")))
	assert.Equal(t, "", findPage(dir, ext(".txt")), "too deep")
	assert.Equal(t, "", findPage(filepath.Join(dir, "missing"), ext(".mcro")))
}

// TestPurge checks that the doctor finds a Varnish that accepts PURGE on the port for visitors, and
// that it reports nothing for another server.
func TestPurge(t *testing.T) {
	for _, c := range []struct {
		status int
		field  string
		want   []Finding
	}{
		{200, "X-Varnish", []Finding{{State: Warning, Check: "purge"}}},
		{405, "X-Varnish", []Finding{{State: OK, Check: "purge"}}},
		{200, "X-Other", nil},
	} {
		d := doctorOf(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "PURGE", r.Method)
			w.Header().Set(c.field, "1")
			w.WriteHeader(c.status)
		})
		d.checkPurge(context.Background())
		require.Len(t, d.findings, len(c.want))
		for i, f := range c.want {
			assert.Equal(t, f.State+" "+f.Check, d.findings[i].State+" "+d.findings[i].Check)
		}
	}
}
