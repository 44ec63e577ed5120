package corpus

// Differences lists what web servers do in their own way. For each row, each of its
// transports must have the difference in a case of each pattern, or the run fails.
var Differences = []Difference{
	{
		Transports: "lighttpd-* caddy fcgi-std", Cases: "*", Aspect: "reason",
		Gives: `^[A-Z][A-Za-z' -]*$`,
		Why:   "these take the status from us and write their own reason phrase; net/http/fcgi has no other",
	},
	{
		Transports: "fcgi-std", Cases: "target-absolute", Aspect: "status",
		Gives: `^500$`,
		Why:   "net/http/cgi cannot parse an absolute REQUEST_URI and answers before we are called",
	},
	{
		Transports: "fcgi-std", Cases: "hostile-host", Aspect: "status",
		Gives: `^500$`,
		Why:   "net/http/cgi makes a URL of the Host field, and answers before we are called when it cannot",
	},
	{
		Transports: "gateway cgi-* fcgi fcgi-std serve caddy", Cases: "path-dots", Aspect: "status",
		Gives: `^400$`,
		Why: "no web server has removed the dots from the path (Caddy passes them on, as our model does), " +
			"and we refuse them",
	},
	{
		Transports: "serve", Cases: "params-host", Aspect: "body",
		Gives: `^www$`,
		Why:   "scripter serve has one folder of pages for all hosts",
	},
	{
		Transports: "serve", Cases: "index-per-host", Aspect: "body",
		Gives: `^first macro`,
		Why:   "scripter serve has one folder of pages for all hosts; the index is the host's own",
	},
	{
		Transports: "apache-*", Cases: "path-encoded-slash", Aspect: "status",
		Gives: `^404$`,
		Why:   "Apache answers 404 to an encoded slash as long as AllowEncodedSlashes is off, which is safe",
	},
	{
		Transports: "lighttpd-*", Cases: "refused-injection hostile-response", Aspect: "status",
		Gives: `^400$`,
		Why:   "lighttpd refuses encoded control bytes in a query, before we can refuse what a script makes of them",
	},
	{
		Transports: "lighttpd-*", Cases: "route-folder route-slash", Aspect: "status",
		Gives: `^40[34]$`,
		Why:   "lighttpd cannot ask whether a folder has an index, so its example passes on no URL that ends in a slash",
	},
	{
		Transports: "nginx-*", Cases: "route-folder", Aspect: "status",
		Gives: `^403$`,
		Why:   "nginx answers for a folder without an index itself: an error_page for 403 would undo its rules of access",
	},
	{
		Transports: "caddy", Cases: "hostile-method", Aspect: "status",
		Gives: `^200$`,
		Why:   "Caddy 2.6 makes a POST of the method \"get\", before we see it",
	},
	{
		Transports: "lighttpd-*", Cases: "static-html", Aspect: "field accept-ranges",
		Gives: `^$`,
		Why:   "lighttpd does not offer ranges to a client of HTTP/1.0",
	},
	{
		Transports: "lighttpd-*", Cases: "get-with-body", Aspect: "status",
		Gives: `^400$`,
		Why:   "lighttpd refuses a GET with a body while method-get-body is off, which is safe",
	},
}
