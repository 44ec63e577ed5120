package conf_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"scripter/internal/corpus"
)

// setUp is one way to put Scripter behind a web server: a transport of the corpus.
type setUp struct {
	name     string
	programs []string // what must be installed
	files    []string // copied to the folder conf; the first is the example itself
	install  func(t *testing.T, p place)
	daemon   bool // scripter-fcgi runs beside the server
	resident bool // scripter-fcgi runs, and scripter-cgi hands its requests over
	command  func(p place, conf string) []string
	asServer bool // the server does not change its user itself

	// edit, when set, changes the examples on their way to the server, for
	// the tests of "scripter doctor"; broken says that scripts do not answer
	// then.
	edit   func(file, text string) string
	broken bool
}

// place is where a set-up runs.
type place struct {
	*corpus.Site
	run  string // stands for /run/scripter
	port string
	// purgePort is the port where Varnish accepts PURGE.
	purgePort string
	edit      func(file, text string) string
}

var setUps = []setUp{
	{
		name: "apache-cgi", programs: []string{"apache2"}, files: []string{"apache-cgi.conf", "apache-base.conf"},
		command: apache, install: func(t *testing.T, p place) {
			p.write(t, "cgi-bin/Scripter.acgi", 0o755, "#!"+p.Program("scripter-cgi")+"\nroot: "+p.Root+"\n"+p.Listed)
		},
	},
	{
		name: "apache-nph", programs: []string{"apache2"}, files: []string{"apache-nph.conf", "apache-base.conf"},
		command: apache, install: func(t *testing.T, p place) {
			p.program(t, "scripter-cgi", "cgi-bin/nph-Scripter.acgi")
		},
	},
	{
		name: "apache-cgi-relay", programs: []string{"apache2"}, files: []string{"apache-cgi.conf", "apache-base.conf"},
		command: apache, resident: true, install: func(t *testing.T, p place) {
			p.write(t, "cgi-bin/Scripter.acgi", 0o755, "#!"+p.Program("scripter-cgi")+"\nroot: "+p.Root+"\n"+p.Listed)
		},
	},
	{
		name: "apache-nph-relay", programs: []string{"apache2"}, files: []string{"apache-nph.conf", "apache-base.conf"},
		command: apache, resident: true, install: func(t *testing.T, p place) {
			p.program(t, "scripter-cgi", "cgi-bin/nph-Scripter.acgi")
		},
	},
	{
		name: "apache-fcgid", programs: []string{"apache2"}, files: []string{"apache-fcgid.conf", "apache-base.conf"},
		command: apache, install: func(t *testing.T, p place) {
			p.program(t, "scripter-fcgi", "fcgi-bin/Scripter.acgi")
		},
	},
	{
		name: "apache-proxy-fcgi", programs: []string{"apache2"},
		files:   []string{"apache-proxy-fcgi.conf", "apache-base.conf"},
		command: apache, daemon: true, install: func(t *testing.T, p place) {
			p.write(t, "cgi-bin/Scripter.acgi", 0o644, "")
		},
	},
	{
		name: "nginx-fastcgi", programs: []string{"nginx"}, files: []string{"nginx-fastcgi.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		command: nginx, daemon: true,
	},
	{
		name: "nginx-fcgiwrap", programs: fcgiwrap, files: []string{"nginx-fcgiwrap.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		command: nginx, install: installFcgiwrap,
	},
	{
		name: "nginx-fcgiwrap-relay", programs: fcgiwrap, files: []string{"nginx-fcgiwrap.conf", "nginx-base.conf",
			"nginx-locations.inc"},
		command: nginx, resident: true, install: installFcgiwrap,
	},
	{
		name: "lighttpd-cgi", programs: []string{"lighttpd"}, files: []string{"lighttpd-cgi.conf"},
		command: lighttpd, install: installLighttpdCGI,
	},
	{
		name: "lighttpd-cgi-relay", programs: []string{"lighttpd"}, files: []string{"lighttpd-cgi.conf"},
		command: lighttpd, resident: true, install: installLighttpdCGI,
	},
	{
		name: "lighttpd-fastcgi", programs: []string{"lighttpd"}, files: []string{"lighttpd-fastcgi.conf"},
		command: lighttpd, daemon: true,
	},
	{
		name: "caddy", programs: []string{"caddy"}, files: []string{"Caddyfile"},
		command: caddy, daemon: true, asServer: true,
	},
}

var fcgiwrap = []string{"nginx", "fcgiwrap", "spawn-fcgi"}

func installFcgiwrap(t *testing.T, p place) {
	p.program(t, "scripter-cgi", "cgi-bin/Scripter.acgi")
	p.write(t, "cgi-bin/scripter.conf", 0o644, "root: "+p.Root+"\n"+p.Listed)
	startFcgiwrap(t, p)
}

func installLighttpdCGI(t *testing.T, p place) {
	p.program(t, "scripter-cgi", "www/cgi-bin/Scripter.acgi")
	if err := os.Symlink("../www/cgi-bin", filepath.Join(p.Second, "cgi-bin")); err != nil {
		t.Fatal(err)
	}
}

func apache(p place, conf string) []string {
	return []string{"apache2", "-d", p.Dir, "-C", "Include conf/apache-base.conf", "-f", conf, "-D", "FOREGROUND"}
}

func nginx(p place, _ string) []string {
	return []string{"nginx", "-p", p.Dir, "-e", filepath.Join(p.run, "nginx.log"), "-c", "conf/nginx-base.conf", "-g",
		"daemon off;"}
}

func lighttpd(_ place, conf string) []string {
	return []string{"lighttpd", "-D", "-f", conf}
}

func caddy(_ place, conf string) []string {
	return []string{"caddy", "run", "--adapter", "caddyfile", "--config", conf}
}

func (s setUp) Name() string { return s.name }

// Start installs the example and starts its server.
func (s setUp) Start(t *testing.T, site *corpus.Site) corpus.Client {
	p := place{Site: site, run: corpus.OpenTempDir(t), port: corpus.FreePort(t), edit: s.edit}
	for _, f := range s.files {
		p.copyExample(t, f)
	}
	if s.install != nil {
		s.install(t, p)
	}
	corpus.GiveToServer(t, p.Dir)
	corpus.GiveToServer(t, p.run)
	t.Cleanup(func() { showLogs(t, p.run) })
	if s.daemon {
		socket := filepath.Join(p.run, "scripter.sock")
		d := corpus.StartProcess(t, true, nil, p.Program("scripter-fcgi"), "--root", p.Root, "--listen", "unix:"+socket)
		d.WaitFor(t, "unix", socket)
	}
	if s.resident {
		corpus.StartResident(t, site, true)
	}
	command := s.command(p, filepath.Join(p.Dir, "conf", s.files[0]))
	program, err := find(command[0])
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + p.run, "XDG_DATA_HOME=" + p.run, "XDG_CONFIG_HOME=" + p.run}
	server := corpus.StartProcess(t, s.asServer, env, program, command[1:]...)
	client := corpus.Client{Addr: "127.0.0.1:" + p.port}
	server.WaitFor(t, "tcp", client.Addr)
	if !s.broken {
		client.WaitReady(t)
	}
	return client
}

func startFcgiwrap(t *testing.T, p place) {
	t.Helper()
	spawn, err := find("spawn-fcgi")
	if err != nil {
		t.Fatal(err)
	}
	wrap, err := find("fcgiwrap")
	if err != nil {
		t.Fatal(err)
	}
	corpus.GiveToServer(t, p.run)
	socket := filepath.Join(p.run, "fcgiwrap.sock")
	args := []string{"-n", "-s", socket, "-M", "0660"}
	if _, _, ok := corpus.ServerUser(t); ok {
		args = append(args, "-u", "www-data", "-g", "www-data", "-U", "www-data", "-G", "www-data")
	}
	w := corpus.StartProcess(t, false, nil, spawn, append(args, "--", wrap, "-f", "-c", "4")...)
	w.WaitFor(t, "unix", socket)
}

var (
	examplePort = regexp.MustCompile(`\b808[1-9]\b`)
	// serverUser are the lines that name the user whom a server started by
	// root changes to; an ordinary user cannot change.
	serverUser = regexp.MustCompile(`(?m)^(User|Group|user|server\.username|server\.groupname)\b.*\n`)
)

// copyExample puts a file of this folder where the set-up wants it, with this
// test's folders and port in it and no other change.
func (p place) copyExample(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if p.edit != nil {
		text = p.edit(name, text)
	}
	text = strings.NewReplacer("/srv/scripter", p.Dir, "/run/scripter", p.run).Replace(text)
	text = examplePort.ReplaceAllString(text, p.port)
	if _, _, ok := corpus.ServerUser(t); !ok {
		text = serverUser.ReplaceAllString(text, "")
	}
	p.write(t, filepath.Join("conf", name), 0o644, text)
}

func (p place) write(t *testing.T, name string, mode os.FileMode, text string) {
	t.Helper()
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (p place) program(t *testing.T, program, to string) {
	t.Helper()
	path := filepath.Join(p.Dir, to)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	corpus.CopyProgram(t, p.Program(program), path)
}

// showLogs shows what a server wrote to its logs when the test failed.
func showLogs(t *testing.T, run string) {
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
