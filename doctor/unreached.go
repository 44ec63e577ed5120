package doctor

import "fmt"

// unreached reports why Scripter did not answer a probe for an action, as far as the
// response shows it.
func (d *doctor) unreached(check, path string, r *answered) {
	if r.err != nil {
		d.fault(check, "%s: %v; a web server that waits for a program to start does that", path, r.err)
		return
	}
	says := fmt.Sprintf("%s is answered %s", path, r.status())
	switch {
	case r.fromScripter() && r.Status == 503 && r.Header.Get("Retry-After") != "":
		if !d.found("rights") {
			d.checkUnopened()
		}
	case r.fromScripter():
		if !d.found("root") {
			d.fault("root", "%s, by a Scripter that works with another root than %s, "+
				"or with a file that had this name before: the token is not in it", says, d.root)
		}
	case r.Status == 401:
		d.warn(check, "%s: the web server wants a password; give one with --header 'Authorization: …'", says)
	case r.Status >= 300 && r.Status < 400:
		d.warn(check, "%s, to %s: give that address with --url", says, r.Header.Get("Location"))
	case r.Status == 502 || r.Status == 503 || r.Status == 504:
		d.fault("handler", "%s: the web server does not reach Scripter's process", says)
	case r.Status == 500:
		d.fault("handler",
			"%s: the web server cannot run the handler, or does not understand it; its error log says why", says)
	case d.fcgid && check == "SCRIPTER" && (r.Status == 403 || r.Status == 404):
		d.fault("fcgid", "%s by Apache itself, which has mod_fcgid loaded: that module claims the extension .fcgi "+
			"(AddHandler fcgid-script .fcgi), or nothing binds it", says)
	case r.Status == 403:
		d.fault(check, "%s: the web server forbids it", says)
	case r.Status == 404:
		d.fault(check, "%s by the web server itself: nothing binds the extension to the action, "+
			"or the web server looks for a file, which need not exist", says)
	default:
		d.fault(check, "%s, and not by Scripter", says)
	}
}

// found reports whether a check has a finding.
func (d *doctor) found(check string) bool {
	for _, f := range d.findings {
		if f.Check == check {
			return true
		}
	}
	return false
}
