// Package gateway answers requests: from CGI variables and a body to a complete response.
//
// Start with [New] and [Gateway.Answer], where every transport ends. The journey, file by file:
//
//	request.go body.go   the request: variables under their RFC 3875 names, and a body
//	cgi.go fcgi.go static.go   the transports: CGI, FastCGI, and what package devserver asks
//	gateway.go exchange.go   the steps of the journey, and what they share
//	plan.go      what the site says of a request before anything is run for it
//	attempt.go   one run of the scripts in one transaction, which package runner makes
//	dispatch.go action.go   path, extension and action
//	requires.go   who may call an object
//	params.go    the parameter table that scripts get
//	trap.go callbacks.go scripter.go macro.go   trap, scripts around the handler, script by name, page with macros
//	macro_rules.go   what markers may call and see
//	response.go charset.go redirect.go   the response that is made of the script's result
//	held.go responder.go partial.go   the response held until the commit, and sent in chunks
//	record.go replay.go   requests recorded (package requestlog) while Debugging is on, and run again
//	supplied.go   which scripts are as supplied, so that Go does their work
//	page.go pagefile.go pagevalues.go   pages: their files, and what is known of them before a request
//	glue.go   the server that asked, maintenance
//	command.go explain.go   what the commands of an author ask; the rest is in package runner
//	probe.go probe_token.go   what "scripter doctor" asks
//	metrics.go counts.go       the numbers that the status shows
//	slowlog.go   requests that take long
//	slots.go   how many requests run at a time
//	verbs.go verbs_*.go   the verbs of the group webserver
//	error.go error_developer.go panic.go   what a failure becomes, for visitors and for the author
package gateway
