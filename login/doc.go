// Package login says who uses the web page: log-in with a name and a password, sessions, links
// that log in once, and the checks against requests that another site has made.
//
// [New] returns a Login. [Login.Enter] checks a name and a password and returns a token for the
// browser's cookie ([NewCookie]). [Login.Find] returns the session of a request, with the role
// that its person has now.
//
//	login.go     log-in with name and password
//	session.go   sessions: found, listed, ended
//	slow.go      waits after failed tries
//	link.go      links that log in once, for scripter serve
//	csrf.go      tokens for forms, and where a request comes from
//	cookie.go    the cookie
//	client.go    addresses of clients, and from which of them a person has logged in
//
// What it keeps lies in the root, so that it holds for all processes and for CGI too:
// user.webserver.sessions, failedLogins and lastLogins. The history keeps nothing of it. A token
// is only with its browser; the root has its SHA-256, from which nobody can make a cookie.
package login
