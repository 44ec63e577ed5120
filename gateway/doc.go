// Package gateway answers requests: from CGI variables and a body to a complete response.
//
// Start with [New] and [Gateway.Answer], where every transport ends. A request passes
// these files, in their order:
//
//	request.go     the variables under their RFC 3875 names, a body, the form of the answer
//	gateway.go     the steps of the journey
//	exchange.go    what all steps share: the request, its answer, what was found out so far
//	attempt.go     one run of the scripts, in one transaction that package runner makes
//	plan.go        what the site says of the request, before anything is run for it
//	dispatch.go    path and action; action.go: what the tables and overrides say
//	body.go        the body, read outside of transactions
//	record.go      the request recorded (package requestlog) while Debugging is on
//	params.go      the parameter table that scripts get; form.go: the fields of a form
//	trap.go        trap and handler; callbacks.go: the scripts around the handler
//	scripter.go    the object that the path names; page.go, macro.go: a page and its markers
//	response.go    the response that is made of the script's result; charset.go, redirect.go
//	held.go        the response held until the commit; partial.go: pieces sent before
//	responder.go   head and body on the way out, in chunks
//	error.go       what a failure becomes instead; error_developer.go: for the author; panic.go
//
// The transports are cgi.go, resident.go and fcgi.go; std.go is a second one for FastCGI, and
// static.go is what package devserver asks. Beside the journey lie
//
//	requires.go              who may call an object
//	macro_rules.go           what markers may call and see
//	pagefile.go pagevalues.go   where pages come from, and values known before a request
//	supplied.go              which scripts are as supplied, so that Go does their work
//	replay.go                recorded requests run again
//	glue.go                  the server that asked, maintenance
//	slots.go                 how many requests run at a time
//	slowlog.go metrics.go   requests that take long, and numbers for the status
//	command.go explain.go    what the commands of an author ask; the rest is in package runner
//	probe.go probe_token.go  what "scripter doctor" asks
//	verbs.go verbs_*.go      the verbs of the group webserver
package gateway
