// Package conf holds a working configuration for each web server and way to connect it.
package conf

import "embed"

// Files are the examples that "scripter setup" makes a server's file of.
//
//go:embed nginx-fastcgi.conf nginx-locations.inc apache-proxy-fcgi.conf lighttpd-fastcgi.conf Caddyfile
var Files embed.FS
