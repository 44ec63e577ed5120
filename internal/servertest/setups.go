// Package servertest starts each web server with its example of conf-examples, with
// nothing but ports and folders put in, so that tests can send requests to Scripter behind it.
package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"scripter/internal/corpus"
)

// SetUp is one way to put Scripter behind a web server: a transport of the corpus.
type SetUp struct {
	name     string
	Programs []string // what must be installed
	Files    []string // copied to the folder conf; the first is the example itself
	Install  func(t *testing.T, p Place)
	Daemon   bool // scripter-fcgi runs beside the server
	Resident bool // scripter-fcgi runs, and scripter-cgi hands its requests over
	Command  func(p Place, conf string) []string
	AsServer bool // the server does not change its user itself

	// Routes says that the lines of the example for routes are not commented out.
	Routes bool

	// Edit, when set, changes the examples on their way to the server; Broken says
	// that scripts do not answer then.
	Edit   func(file, text string) string
	Broken bool
}

// Place is where a set-up runs.
type Place struct {
	*corpus.Site
	Run  string // stands for /run/scripter
	Port string
	// PurgePort is the port where Varnish accepts PURGE.
	PurgePort string
	Routes    bool
	Edit      func(file, text string) string
}

// SetUps are all ways to put Scripter behind a web server: the nine examples, and again those
// with CGI where a resident server takes the requests.
var SetUps = []SetUp{
	{
		name: "apache-cgi", Programs: []string{"apache2"}, Files: []string{"apache-cgi.conf", "apache-base.conf"},
		Command: Apache, Install: func(t *testing.T, p Place) {
			p.Write(t, "cgi-bin/Scripter.acgi", 0o755, "#!"+p.Program("scripter-cgi")+"\nroot: "+p.Root+"\n"+p.Listed)
		},
	},
	{
		name: "apache-nph", Programs: []string{"apache2"}, Files: []string{"apache-nph.conf", "apache-base.conf"},
		Command: Apache, Install: func(t *testing.T, p Place) {
			p.install(t, "scripter-cgi", "cgi-bin/nph-Scripter.acgi")
		},
	},
	{
		name: "apache-cgi-relay", Programs: []string{"apache2"}, Files: []string{"apache-cgi.conf", "apache-base.conf"},
		Command: Apache, Resident: true, Install: func(t *testing.T, p Place) {
			p.Write(t, "cgi-bin/Scripter.acgi", 0o755, "#!"+p.Program("scripter-cgi")+"\nroot: "+p.Root+"\n"+p.Listed)
		},
	},
	{
		name: "apache-nph-relay", Programs: []string{"apache2"}, Files: []string{"apache-nph.conf", "apache-base.conf"},
		Command: Apache, Resident: true, Install: func(t *testing.T, p Place) {
			p.install(t, "scripter-cgi", "cgi-bin/nph-Scripter.acgi")
		},
	},
	{
		name: "apache-fcgid", Programs: []string{"apache2"}, Files: []string{"apache-fcgid.conf", "apache-base.conf"},
		Command: Apache, Install: func(t *testing.T, p Place) {
			p.install(t, "scripter-fcgi", "fcgi-bin/Scripter.acgi")
		},
	},
	{
		name: "apache-proxy-fcgi", Programs: []string{"apache2"},
		Files:   []string{"apache-proxy-fcgi.conf", "apache-base.conf"},
		Command: Apache, Daemon: true, Install: func(t *testing.T, p Place) {
			p.Write(t, "cgi-bin/Scripter.acgi", 0o644, "")
		},
	},
	{
		name: "nginx-fastcgi", Programs: []string{"nginx"}, Files: []string{"nginx-fastcgi.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		Command: Nginx, Daemon: true,
	},
	{
		name: "nginx-fcgiwrap", Programs: fcgiwrap, Files: []string{"nginx-fcgiwrap.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		Command: Nginx, Install: installFcgiwrap,
	},
	{
		name: "nginx-fcgiwrap-relay", Programs: fcgiwrap, Files: []string{"nginx-fcgiwrap.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		Command: Nginx, Resident: true, Install: installFcgiwrap,
	},
	{
		name: "lighttpd-cgi", Programs: []string{"lighttpd"}, Files: []string{"lighttpd-cgi.conf"},
		Command: lighttpd, Install: installLighttpdCGI,
	},
	{
		name: "lighttpd-cgi-relay", Programs: []string{"lighttpd"}, Files: []string{"lighttpd-cgi.conf"},
		Command: lighttpd, Resident: true, Install: installLighttpdCGI,
	},
	{
		name: "lighttpd-fastcgi", Programs: []string{"lighttpd"}, Files: []string{"lighttpd-fastcgi.conf"},
		Command: lighttpd, Daemon: true,
	},
	{
		name: "caddy", Programs: []string{"caddy"}, Files: []string{"Caddyfile"},
		Command: caddy, Daemon: true, AsServer: true,
	},
}

var fcgiwrap = []string{"nginx", "fcgiwrap", "spawn-fcgi"}

func installFcgiwrap(t *testing.T, p Place) {
	p.install(t, "scripter-cgi", "cgi-bin/Scripter.acgi")
	p.Write(t, "cgi-bin/scripter.conf", 0o644, "root: "+p.Root+"\n"+p.Listed)
	startFcgiwrap(t, p)
}

func installLighttpdCGI(t *testing.T, p Place) {
	p.install(t, "scripter-cgi", "www/cgi-bin/Scripter.acgi")
	if err := os.Symlink("../www/cgi-bin", filepath.Join(p.Second, "cgi-bin")); err != nil {
		t.Fatal(err)
	}
}

// Apache returns the command that starts Apache with an example.
func Apache(p Place, conf string) []string {
	return []string{"apache2", "-d", p.Dir, "-C", "Include conf/apache-base.conf", "-f", conf, "-D", "FOREGROUND"}
}

// Nginx returns the command that starts nginx with the examples of a place.
func Nginx(p Place, _ string) []string {
	return []string{"nginx", "-p", p.Dir, "-e", filepath.Join(p.Run, "nginx.log"), "-c", "conf/nginx-base.conf", "-g",
		"daemon off;"}
}

func lighttpd(_ Place, conf string) []string {
	return []string{"lighttpd", "-D", "-f", conf}
}

func caddy(_ Place, conf string) []string {
	return []string{"caddy", "run", "--adapter", "caddyfile", "--config", conf}
}

// Name returns the name of the set-up, which is that of its example.
func (s SetUp) Name() string { return s.name }

// Start installs the example and starts its server.
func (s SetUp) Start(t *testing.T, site *corpus.Site) corpus.Client {
	p := Place{Site: site, Run: corpus.OpenTempDir(t), Port: corpus.FreePort(t), Routes: s.Routes, Edit: s.Edit}
	for _, f := range s.Files {
		p.copyExample(t, f)
	}
	if s.Install != nil {
		s.Install(t, p)
	}
	corpus.GiveToServer(t, p.Dir)
	corpus.GiveToServer(t, p.Run)
	t.Cleanup(func() { ShowLogs(t, p.Run) })
	if s.Daemon {
		socket := filepath.Join(p.Run, "scripter.sock")
		d := corpus.StartProcess(t, true, nil, p.Program("scripter-fcgi"), "--root", p.Root, "--listen", "unix:"+socket)
		d.WaitFor(t, "unix", socket)
	}
	if s.Resident {
		corpus.StartResident(t, site, true)
	}
	command := s.Command(p, filepath.Join(p.Dir, "conf", s.Files[0]))
	program, err := Find(command[0])
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + p.Run, "XDG_DATA_HOME=" + p.Run, "XDG_CONFIG_HOME=" + p.Run}
	server := corpus.StartProcess(t, s.AsServer, env, program, command[1:]...)
	client := corpus.Client{Addr: "127.0.0.1:" + p.Port}
	server.WaitFor(t, "tcp", client.Addr)
	if !s.Broken {
		client.WaitReady(t)
	}
	return client
}

func startFcgiwrap(t *testing.T, p Place) {
	t.Helper()
	spawn, err := Find("spawn-fcgi")
	if err != nil {
		t.Fatal(err)
	}
	wrap, err := Find("fcgiwrap")
	if err != nil {
		t.Fatal(err)
	}
	corpus.GiveToServer(t, p.Run)
	socket := filepath.Join(p.Run, "fcgiwrap.sock")
	args := []string{"-n", "-s", socket, "-M", "0660"}
	if _, _, ok := corpus.ServerUser(t); ok {
		args = append(args, "-u", "www-data", "-g", "www-data", "-U", "www-data", "-G", "www-data")
	}
	w := corpus.StartProcess(t, false, nil, spawn, append(args, "--", wrap, "-f", "-c", "4")...)
	w.WaitFor(t, "unix", socket)
}

var (
	// ExamplePort is a port where the server of an example listens.
	ExamplePort = regexp.MustCompile(`\b808[1-9]\b`)
	// ServerUserLines are the lines that name the user whom a server started by
	// root changes to; an ordinary user cannot change.
	ServerUserLines = regexp.MustCompile(`(?m)^(User|Group|user|server\.username|server\.groupname)\b.*\n`)
)

var (
	routesBlock   = regexp.MustCompile(`(?s)# --- routes: a choice ---.*?# --- end of routes ---`)
	commentedLine = regexp.MustCompile(`(?m)^([ \t]*)#([^ ]|  )`) // a comment has one blank
)

// withRoutes returns an example with its lines for routes, as a user changes it.
func withRoutes(text string) string {
	return routesBlock.ReplaceAllStringFunc(text, func(block string) string {
		return commentedLine.ReplaceAllString(block, "$1$2")
	})
}

// copyExample puts a file of conf-examples where the set-up wants it, with this
// test's folders and port in it and no other change.
func (p Place) copyExample(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus.ModuleFolder(t), "conf-examples", name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if p.Routes {
		text = withRoutes(text)
	}
	if p.Edit != nil {
		text = p.Edit(name, text)
	}
	text = strings.NewReplacer("/srv/scripter", p.Dir, "/run/scripter", p.Run).Replace(text)
	text = ExamplePort.ReplaceAllString(text, p.Port)
	if _, _, ok := corpus.ServerUser(t); !ok {
		text = ServerUserLines.ReplaceAllString(text, "")
	}
	p.Write(t, filepath.Join("conf", name), 0o644, text)
}

// Write writes a file of the place, and makes the folders above it.
func (p Place) Write(t *testing.T, name string, mode os.FileMode, text string) {
	t.Helper()
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (p Place) install(t *testing.T, program, to string) {
	t.Helper()
	path := filepath.Join(p.Dir, to)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	corpus.CopyProgram(t, p.Program(program), path)
}

// ShowLogs logs what a server has written to its logs in the folder run, if the test has failed.
func ShowLogs(t *testing.T, run string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(run, "*.log"))
	if err != nil {
		t.Error(err)
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Error(err)
			continue
		}
		const most = 20000
		if len(text) > most {
			text = text[len(text)-most:]
		}
		t.Logf("%s:\n%s", filepath.Base(log), text)
	}
}

// Named returns the set-up of that name. A program that it needs and that is not installed ends
// the test as Need does.
func Named(t *testing.T, name string) SetUp {
	t.Helper()
	for _, s := range SetUps {
		if s.name == name {
			for _, program := range s.Programs {
				Need(t, program)
			}
			return s
		}
	}
	t.Fatalf("no set-up %q", name)
	return SetUp{}
}

// Need skips the test if a program is not installed. If SCRIPTER_REQUIRE_SERVERS is 1, as in
// make test, the test fails.
func Need(t testing.TB, program string) {
	t.Helper()
	if _, err := Find(program); err == nil {
		return
	}
	if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "1" {
		t.Fatalf("%s is not installed; make test installs it", program)
	}
	t.Skipf("%s is not installed", program)
}

// Find returns the path of a program. It looks in the folders where Debian has servers, too,
// which are not in everybody's PATH.
func Find(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	return "", err
}
