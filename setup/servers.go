package setup

import (
	"cmp"
	"crypto/md5" // dpkg's
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// errOtherSite is returned if Debian's first site was changed and answers for all names.
var errOtherSite = errors.New("another site answers for every name: say --name HOST for a site of its own")

// nginx writes one file with everything for the level http and the site, and one with its locations.
func (p *Plan) nginx() error {
	const locations = "/etc/nginx/snippets/scripter-locations.conf"
	if err := p.installed("/etc/nginx/nginx.conf"); err != nil {
		return err
	}
	text := p.example("nginx-fastcgi.conf")
	site := between(text, "# The daemon.", "# A second host with pages")
	site = replace(site, "listen 127.0.0.1:8085;", "listen 80;\n    listen [::]:80;",
		"server_name scripter.example;", "server_name "+cmp.Or(p.o.Name, "_")+";",
		"/srv/scripter/conf/nginx-locations.inc", locations)
	if err := p.write(locations, p.example("nginx-locations.inc")); err != nil {
		return err
	}
	if err := p.write("/etc/nginx/conf.d/scripter.conf", site); err != nil {
		return err
	}
	if p.o.Name == "" {
		if err := p.removeLink("/etc/nginx/sites-enabled/default", "nginx-common"); err != nil {
			return err
		}
	}
	p.Test, p.Service = []string{"nginx", "-t"}, "nginx"
	return nil
}

// installed returns an error if the web server's own configuration is not where Debian has it.
func (p *Plan) installed(path string) error {
	_, err := os.Stat(p.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s: it is not installed, or not as Debian does it", path)
	}
	return err
}

// removeLink disables Debian's first site, unless it was changed.
func (p *Plan) removeLink(path, pack string) error {
	target, err := os.Readlink(p.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, errOtherSite)
	}
	file := "/etc/nginx/sites-available/default"
	if !strings.HasSuffix(target, "sites-available/default") || !p.isPristine(file, pack) {
		return fmt.Errorf("%s: %w", path, errOtherSite)
	}
	p.Changes = append(p.Changes, &Change{Path: p.path(path), Before: "-> " + target + "\n", Exists: true})
	return nil
}

// isPristine reports whether a configuration file is as its package has brought it.
func (p *Plan) isPristine(file, pack string) bool {
	text, err := os.ReadFile(p.path(file))
	if err != nil {
		return false
	}
	list, err := exec.Command("dpkg-query", "--showformat", "${Conffiles}", "--show", pack).Output()
	return err == nil && strings.Contains(string(list)+"\n", fmt.Sprintf(" %s %x\n", file, md5.Sum(text)))
}

// apache writes one file for all hosts of the server, and the empty handler that Apache looks for.
func (p *Plan) apache() error {
	const handler = "/etc/apache2/scripter/Scripter.acgi"
	if err := p.installed("/etc/apache2/apache2.conf"); err != nil {
		return err
	}
	if p.o.Name != "" {
		return errors.New("--name is not for apache: what setup writes holds for all of its hosts")
	}
	text := between(p.example("apache-proxy-fcgi.conf"), "# --- the daemon", "# --- the hosts")
	text = replace(text, `Alias /cgi-bin/ "/srv/scripter/cgi-bin/"`, `Alias /cgi-bin/Scripter.acgi "`+handler+`"`,
		`"/srv/scripter/cgi-bin"`, `"/etc/apache2/scripter"`)
	if err := p.write(handler, "# Apache wants a file here; it is not read.\n"); err != nil {
		return err
	}
	if err := p.write("/etc/apache2/conf-available/scripter.conf", text); err != nil {
		return err
	}
	p.Enable = [][]string{{"a2enmod", "--quiet", "actions", "proxy", "proxy_fcgi"}, {"a2enconf", "--quiet", "scripter"}}
	p.Test, p.Service = []string{"apachectl", "configtest"}, "apache2"
	return nil
}

// lighttpd writes one file for all hosts of the server.
func (p *Plan) lighttpd() error {
	const file = "/etc/lighttpd/conf-available/50-scripter.conf"
	if err := p.installed("/etc/lighttpd/lighttpd.conf"); err != nil {
		return err
	}
	if p.o.Name != "" {
		return errors.New("--name is not for lighttpd: what setup writes holds for all of its hosts")
	}
	text := between(p.example("lighttpd-fastcgi.conf"), "# --- how answers are passed on", "# --- the hosts")
	// Debian's lighttpd.conf sets these already.
	text = replace(text, `index-file.names = ( "index.html", "default.mcro" )`, `index-file.names += ( "default.mcro" )`,
		`static-file.exclude-extensions = ( ".fcgi", ".mcro", ".acgi" )`, `static-file.exclude-extensions += ( ".mcro", ".acgi" )`)
	text = "server.modules += ( \"mod_setenv\", \"mod_fastcgi\" )\n\n" + text
	if err := p.write(file, text); err != nil {
		return err
	}
	if _, err := os.Lstat(p.path("/etc/lighttpd/conf-enabled/50-scripter.conf")); errors.Is(err, fs.ErrNotExist) {
		p.Enable = [][]string{{"lighty-enable-mod", "scripter"}} // which fails if it is enabled
	}
	p.Test, p.Service = []string{"lighttpd", "-tt", "-f", "/etc/lighttpd/lighttpd.conf"}, "lighttpd"
	return nil
}

// caddy writes one file, and makes the Caddyfile import it.
func (p *Plan) caddy() error {
	const main, file = "/etc/caddy/Caddyfile", "/etc/caddy/scripter.caddy"
	if err := p.installed(main); err != nil {
		return err
	}
	text := between(p.example("Caddyfile"), "# --- how the daemon is called", "# A second host with pages")
	text = replace(text, "http://:8089 {\n\tbind 127.0.0.1\n", cmp.Or(p.o.Name, ":80")+" {\n")
	if err := p.write(file, text); err != nil {
		return err
	}
	c, err := p.change(main)
	if err != nil {
		return err
	}
	switch imports := "import " + file + "\n"; {
	case strings.Contains(c.Before, imports):
	case p.o.Name == "" && !p.isPristine(main, "caddy"):
		return fmt.Errorf("%s: %w", main, errOtherSite)
	case p.o.Name == "":
		c.Text = imports
		p.Changes = append(p.Changes, c)
	default:
		c.Text = c.Before + "\n" + imports
		p.Changes = append(p.Changes, c)
	}
	p.Test, p.Service, p.Group = []string{"caddy", "validate", "--config", main}, "caddy", "caddy"
	return nil
}
