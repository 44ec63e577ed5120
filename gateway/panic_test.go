package gateway

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/script"
)

// panicSite returns a site whose gateway has a verb that panics.
func panicSite(t *testing.T) (*testSite, *testlog.Buffer) {
	s := newSite(t)
	s.g = newGateway(Options{DB: s.db, Log: slog.New(slog.NewTextHandler(s.log, nil))}, script.Verb{
		Name: "test.panic", Doc: "Panics.", Page: true, Func: func(*script.Call) error { panic("the mistake") },
	})
	s.script("bad", `scratchpad.left = 1 test.panic () return "never"`)
	s.script("caught", `pcall (function () test.panic () end) return "as if nothing had been"`)
	s.script("good", `return "fine"`)
	s.page("page.mcro", "before <!--#test.panic ()--> after")
	return s, s.log
}

// TestPanicInAVerb checks with every transport that the request is answered 500 with the number
// of an incident, that the log has the stack under this number, that the root is unchanged, and
// that the next request is answered.
func TestPanicInAVerb(t *testing.T) {
	roads := map[string]func(t *testing.T, s *testSite) func(path string) string{
		"CGI": func(t *testing.T, s *testSite) func(string) string {
			return func(path string) string {
				var b bytes.Buffer
				s.g.ServeCGI(context.Background(), CGI{Stdin: strings.NewReader(""), Stdout: &b, Environ: []string{
					"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=" + path, "REQUEST_URI=" + path,
					"DOCUMENT_ROOT=" + s.folder, "SERVER_SOFTWARE=Test/1",
				}})
				return b.String()
			}
		},
		"FastCGI": func(t *testing.T, s *testSite) func(string) string {
			spec := "unix:" + filepath.Join(t.TempDir(), "s.sock")
			l, err := fcgi.Listen(spec, fcgi.ListenOptions{Mode: 0o600})
			require.NoError(t, err)
			server := &fcgi.Server{Handler: s.g.ServeFCGI, Log: func(err error) { t.Errorf("the road heard of it: %v", err) }}
			go server.Serve(l)
			t.Cleanup(func() { server.Close() })
			c, err := fcgitest.Dial(context.Background(), spec) // web servers keep the connection open, too
			require.NoError(t, err)
			t.Cleanup(func() { c.Close() })
			return func(path string) string {
				var b bytes.Buffer
				_, err := c.Do(context.Background(),
					map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": path, "REQUEST_URI": path, "DOCUMENT_ROOT": s.folder},
					strings.NewReader(""), &b, io.Discard)
				require.NoError(t, err)
				return b.String()
			}
		},
	}
	for road, start := range roads {
		t.Run(road, func(t *testing.T) {
			s, written := panicSite(t)
			ask := start(t, s)
			for _, path := range []string{"/bad.fcgi", "/caught.fcgi", "/page.mcro"} {
				written.Take()
				page := ask(path)
				assert.Regexp(t, `^Status: 500 `, page, path)
				assert.NotContains(t, page, "mistake", path)
				m := regexp.MustCompile(`Incident <code>(\w+)</code>`).FindStringSubmatch(page)
				require.NotNil(t, m, page)
				log := written.Take()
				assert.Contains(t, log, "id="+m[1], path)
				assert.Contains(t, log, "panic: the mistake", path)
				assert.Contains(t, log, "panic_test.go", path)
				assert.Contains(t, ask("/good.fcgi"), "fine", path)
			}
			assert.Error(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
				_, err := tx.Get(objectdb.Address{"scratchpad", "left"})
				return err
			}), "nothing is left in the root")
		})
	}
}

// TestPanicOutsideScripts checks that a panic elsewhere fails its request alone, which releases
// what it holds.
func TestPanicOutsideScripts(t *testing.T) {
	s, log := panicSite(t)
	s.put("user.webserver.maxRunning", objectdb.Number(1))
	assert.Equal(t, "fine", s.ask("/good.fcgi", nil).Body)
	for range 3 {
		r := s.request("/good.fcgi",
			map[string]string{"REQUEST_METHOD": "POST", "CONTENT_TYPE": "text/plain", "CONTENT_LENGTH": "4"})
		r.Body = badReader{}
		resp, out := s.answer(r)
		assert.Equal(t, 500, resp.Status)
		assert.Contains(t, resp.Body, out.Incident)
		assert.Contains(t, log.Take(), "badReader")
	}
	out := s.g.Answer(context.Background(), s.request("/good.fcgi", nil), badWriter{})
	assert.True(t, out.Broken)
	assert.Equal(t, "fine", s.ask("/good.fcgi", nil).Body)
	running, waiting := s.g.slots.load()
	assert.Zero(t, running+waiting)
	assert.Equal(t, 0, s.g.Load().Running)
}

// badReader is a body whose reading panics.
type badReader struct{}

func (badReader) Read([]byte) (int, error) { panic("no body") }

// badWriter is a writer that panics.
type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { panic("no way out") }
