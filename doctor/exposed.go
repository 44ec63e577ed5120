package doctor

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pageSpellings are suffixes that, behind the name of a page in a URL, may make a web
// server send the page as a file: bytes that are not UTF-8, which no regular expression
// of lighttpd matches, and characters that some servers or file systems ignore.
var pageSpellings = []string{"/%E9", "/%FF", "%20", ".", ";x", "%00", "%00.html", "/"}

// checkSource requests the known pages in other spellings, and the copies of pages
// that editors leave behind.
func (d *doctor) checkSource(ctx context.Context) {
	if d.found("source") {
		return // the plain name is enough
	}
	folder := d.folder()
	asked := 0
	shown := func(url, file string) bool {
		r := d.ask.ask(ctx, question{path: url})
		asked++
		if !d.disclosed(r, file) {
			return false
		}
		d.add(Fault, "source",
			url+" is sent to visitors with its markers: "+
				"everybody can read the source of pages", d.change("spelling")...)
		return true
	}
	for _, p := range d.pages {
		for _, url := range append([]string{"/" + p}, suffixed(p, pageSpellings)...) {
			if shown(url, p) {
				return
			}
		}
	}
	if folder != "" {
		p := findPage(folder, func(_ string, e fs.DirEntry) bool {
			_, rest, is := strings.Cut(strings.ToLower(e.Name()), ".mcro")
			return is && rest != ""
		})
		if p != "" && shown(p, p) {
			return
		}
	}
	if asked > 0 {
		d.ok("source", "no spelling of a page's name shows its source")
	}
}

func suffixed(p string, list []string) []string {
	var urls []string
	for _, s := range list {
		urls = append(urls, p+s)
	}
	return urls
}

// checkNotUTF8 finds rules that do not apply to paths that are not UTF-8: the web
// server then sends a plain file, or a page of an overridden folder, for such a path.
func (d *doctor) checkNotUTF8(ctx context.Context) {
	folder := d.folder()
	if folder == "" {
		return
	}
	p := findPage(folder, func(_ string, e fs.DirEntry) bool {
		return slices.Contains([]string{".html", ".txt", ".css", ".gif", ".png", ".jpg", ".js"}, filepath.Ext(e.Name()))
	})
	if p == "" {
		return
	}
	source, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(p)))
	r := d.ask.ask(ctx, question{path: p + "/%E9"})
	switch {
	case err != nil || r.err != nil:
	case r.Status == 200 && len(source) > 0 && bytes.Equal(r.Body, source) && !r.fromScripter():
		d.fault("not UTF-8", "%s/%%E9 is answered with the file: "+
			"the regular expressions of this web server do not match paths "+
			"that are not UTF-8, so rules for pages and files do not apply to them", p)
	default:
		d.ok("not UTF-8", "the rules apply to a path that is not UTF-8")
	}
}

// otherHost is a host name that does not exist (RFC 2606).
const otherHost = "scripter-doctor.invalid"

// checkFolders requests a folder without its slash, with a path that begins with two
// slashes: a redirect to that path would lead to another host.
func (d *doctor) checkFolders(ctx context.Context) {
	name := subfolder(d.folder())
	if name == "" {
		return
	}
	origin := d.ask.origin()
	target := strings.TrimPrefix(path.Join(d.ask.base.EscapedPath(), "/", name), "/")
	for _, url := range []string{
		"//" + otherHost + "%2f..%2f" + target, "/%2f" + otherHost + "/..%2f" + target,
		"//" + otherHost + "/%2e%2e/" + target,
	} {
		r := origin.ask(ctx, question{path: url})
		if to := r.Header.Get("Location"); strings.HasPrefix(strings.ReplaceAll(to, `\`, "/"), "//") ||
			strings.Contains(to, "://"+otherHost) {
			d.fault("other host",
				"%s is redirected to %q: a link to this site can lead visitors to any other site", url, to)
			return
		}
	}
	d.ok("other host", "a folder without its slash is redirected to this host")
}

// subfolder returns the name of a folder in a folder that needs no escaping in a URL,
// or "".
func subfolder(folder string) string {
	if folder == "" {
		return ""
	}
	list, _ := os.ReadDir(folder) // a folder that cannot be read counts as empty
	for _, e := range list {
		if e.IsDir() && !strings.ContainsAny(e.Name(), " .%?#$\"<>\\~") && e.Name() != "cgi-bin" {
			return e.Name()
		}
	}
	return ""
}

// checkPurge sends PURGE for a page that does not exist to the cache in front, if there
// is one, as any visitor behind a proxy on this machine could.
func (d *doctor) checkPurge(ctx context.Context) {
	r := d.ask.origin().ask(ctx, question{method: "PURGE", path: "/scripterDoctor.none"})
	varnish := r.Header.Get("X-Varnish") != "" ||
		strings.Contains(strings.ToLower(r.Header.Get("Via")), "varnish")
	switch {
	case !varnish:
	case r.Status == 200:
		d.warn("purge",
			"Varnish accepts PURGE from every client on this machine: behind a TLS proxy these are all visitors")
	default:
		d.ok("purge", "Varnish refuses PURGE on the port for visitors")
	}
}
