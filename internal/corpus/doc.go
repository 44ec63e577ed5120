// Package corpus has requests, and the answers that every transport must give to them,
// as data. A transport is a way from a client to the gateway: a program, a web server in
// front of it, or the gateway itself.
//
// Run starts one transport and sends the requests of every case to it; then it uses the demo of
// "scripter serve" as visitors and attackers do. A case is a file
// of testdata in the txtar form: the objects and pages that it needs, then requests as
// they are sent, each followed by the checks of its answer. All cases share one root and
// one site, so each uses names of its own.
//
//	The first lines say what the case checks; a last one may name the rows
//	of docs/specification.rows that it shows, "Specification: 4.1.1, 4.2.1".
//	-- root/suites/webserverScripts/hello/x.lua --   an object, in the form of the folder root/
//	-- site/hello/page.mcro --                       a file below the document root (second/: of the second host)
//	-- request --                                    the head, without the blank line; \xHH is a byte
//	GET /hello.x.fcgi HTTP/1.0
//	Host: {host}
//	-- request body --                               without its last line end
//	-- want --
//	status 200 OK                                    or: status 400 or 404
//	field Content-Type: text/html                    also: field N ~ regexp, field N absent
//	body contains Hello                              also: lacks, =, ~, length, sha256
//	keep token body value="([^"]*)"                  also: keep N field F regexp; {token} stands for it later
//	-- want body --                                  the whole body, without its last line end
//
// A section "request kept" instead of "request" is sent on the connection of the request
// before it, if the server keeps that open. {host}, {port} and {length} are replaced by
// the transport's address and the length of the request's body, {text*300} by 300 times
// text. A file of the root or the site whose name ends in .hex is written without that
// suffix, from hexadecimal digits. A file without a request has what all cases share.
//
// Differences lists what a web server does in its own way, with a reason. A row that no
// case needs is a failure.
package corpus
