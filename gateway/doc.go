// Package gateway answers requests: from CGI variables and a body to a complete response.
//
// Start with [New] and [Gateway.Answer]; every road ends there. The journey, file by file:
//
//	request.go   what arrived: variables under their RFC 3875 names, and a body
//	cgi.go fcgi.go http.go   the roads that bring it: CGI, FastCGI, the built-in server
//	gateway.go   one transaction, run again when it lost a race; the answer held until the commit
//	dispatch.go action.go   which path, which extension, which action
//	params.go    the parameter table that scripts get
//	trap.go callbacks.go scripter.go macro.go   trap, scripts around the handler, script by name, page with macros
//	response.go redirect.go partial.go   what the script returned, made a response, sent in chunks
//	cache.go cachefolder.go   what caches in front are told to forget, after the commit
//	debug.go mask.go recorder.go kept.go replay.go   requests kept, without their secrets, and run again
//	settings.go settings_set.go tables.go rules.go   what an owner sets, read and checked, once for all requests
//	page.go pagefile.go pagevalues.go   pages: their files, and what is known of them before a request
//	glue.go users.go   the server that asked, maintenance, users with passwords
//	probe.go probe_token.go serverstatus.go   what "scripter doctor" asks
//	watch.go watch_counts.go   what is counted of requests, taken and added up for the status
//	slowlog.go   requests that take long
//	limits.go limits_rows.go limits_gate.go   what a request may use, and how many run at a time
//	autosave.go   the agent that saves copies, and the dirty root flag
//	verbs.go verbs_*.go   what scripts can call; error.go panic.go   what a failure becomes
package gateway
