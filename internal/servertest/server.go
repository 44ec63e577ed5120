package servertest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scripter/internal/corpus"
)

// BrowserSetUps are the names that browser tests give to Start: no other web server, FastCGI and CGI.
var BrowserSetUps = []string{"serve", "nginx-fastcgi", "apache-cgi"}

// A Server answers for a root and pages of its own: the supplied objects and the sample site.
type Server struct {
	*corpus.Site
	URL string // http://127.0.0.1:PORT
}

// Start starts "scripter serve", or the set-up of that name, until the test ends.
func Start(t *testing.T, name string) *Server {
	t.Helper()
	var s SetUp
	if name != "serve" {
		s = Named(t, name) // which may skip the test
	}
	site := corpus.NewEmptySite(t)
	sample := filepath.Join(corpus.ModuleFolder(t), "cmd", "scripter", "sample")
	if err := os.CopyFS(site.WWW, os.DirFS(filepath.Join(sample, "site"))); err != nil {
		t.Fatal(err)
	}
	site.Scripter(t, "import", filepath.Join(sample, "root"))
	corpus.GiveToServer(t, site.Dir)
	var addr string
	if name == "serve" {
		addr = "127.0.0.1:" + corpus.FreePort(t)
		p := corpus.StartProcess(t, true, nil, site.Program("scripter"), "--root", site.Root, "serve", "--addr", addr,
			"--site", site.WWW, "--errors", "log")
		p.WaitFor(t, "tcp", addr)
	} else {
		s.Broken = true // it has no script for WaitReady
		addr = s.Start(t, site).Addr
	}
	server := &Server{site, "http://" + addr}
	server.waitReady(t)
	return server
}

// waitReady waits until a script answers: a web server accepts connections before it can
// start programs.
func (s *Server) waitReady(t *testing.T) {
	t.Helper()
	last := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		r, err := http.Get(s.URL + "/samples.tellTime.fcgi")
		if err != nil {
			last = err.Error()
			continue
		}
		r.Body.Close()
		if r.StatusCode == http.StatusOK {
			return
		}
		last = r.Status
	}
	t.Fatalf("%s does not run scripts; its last answer: %s", s.URL, last)
}
