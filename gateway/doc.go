// Package gateway answers requests: from CGI variables and a body to a complete response.
//
// Start with [New] and [Gateway.Answer], where every transport ends. A request passes
// these files, in their order:
//
//	cgi.go fcgi.go   the transports, which make a Request
//	request.go     the variables under their RFC 3875 names, a body, the form of the answer
//	gateway.go     the steps of a request
//	exchange.go    what all steps share: the request, its answer, its plan
//	attempt.go     one run of the scripts, in one transaction that package runner makes
//	plan.go        what the site says of the request, before anything is run for it
//	dispatch.go    path and action
//	body.go        the body and the fields of a form
//	record.go      the request recorded (package requestlog) while Debugging is on
//	params.go      the parameter table that scripts get
//	trap.go        the trap, the callbacks around the handler, the handler
//	scripter.go    the object that the path names; page.go, macro.go: a page and its markers
//	response.go    the response that is made of the script's result
//	complete.go    what every response gets; charset.go: the charset of its type
//	held.go        the response held until the commit; partial.go: pieces sent before
//	responder.go   head and body on the way out, in chunks
//	error.go       what a failure becomes; errorpage.go: the page that is sent instead
//
// The other files are
//
//	requires.go     who may call an object
//	macro_rules.go  what markers may call and see
//	files.go        where pages and files come from
//	static.go       what package devserver asks
//	supplied.go     which scripts are as supplied, so that Go does their work
//	replay.go       recorded requests run again
//	slots.go        how many requests run at a time
//	log.go          what is logged of requests; metrics.go: what is counted
//	command.go      what the commands of an author ask; the rest is in package runner
//	probe.go        what "scripter doctor" asks (package probe)
//	verbs.go verbs_*.go  the verbs of the group webserver; request, which tests have
//	std.go          requests that come through net/http/fcgi
package gateway
