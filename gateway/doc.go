// Package gateway answers requests: from CGI variables and a body to a complete response.
//
// Start with [New] and [Gateway.Answer]; every road ends there. The journey, file by file:
//
//	request.go   what arrived: variables under their RFC 3875 names, and a body
//	cgi.go fcgi.go http.go   the roads that bring it: CGI, FastCGI, the built-in server
//	gateway.go   one transaction, run again when it lost a race; the answer held until the commit
//	dispatch.go action.go   which path, which extension, which action
//	params.go    the parameter table that scripts get
//	trap.go scripter.go macro.go   trap, script by name, page with macros
//	response.go partial.go   what the script returned, made a response, sent in chunks
//	verbs.go verbs_*.go   what scripts can call; settings.go, debug.go, error.go   the rest
package gateway
