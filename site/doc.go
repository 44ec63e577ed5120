// Package site reads and changes what the owner of a root sets: settings, tables of
// actions and MIME types, limits, requirements, users; and scripter.conf, which says
// what the root may use of its host.
//
// Read returns a [Snapshot] of all that lies in the root. A gateway keeps one in a
// [Cache], and each request has a [View] of it.
//
//	settings.go settings_set.go   the settings: one table for behaviour, commands and manual
//	snapshot.go                   one immutable copy of the site for many requests
//	tables.go tables_rows.go      actions, MIME types, overrides, directory indexes
//	pattern.go route.go routes.go routes_rows.go   URLs without extensions: patterns, rows, which one wins
//	limits.go limits_rows.go      the limits and their defaults; limits of single scripts
//	history.go                    what is kept in the history
//	requires.go requires_rows.go  who may call a script
//	tests.go                      where tests of scripts lie
//	roles.go users.go             who may do what on the web page, and with what name
//	password.go                   password hashes of users
//	conf.go reach.go              scripter.conf, variables, flags
//	path.go                       syntax of URL paths and hosts
package site

import "scripter/objectdb"

// The tables below user.webserver that have an address of their own.
var (
	home = objectdb.Address{"user", "webserver"}

	actionTable   = home.Child("actionTable") // action -> URL path of its handler
	ActionObjects = home.Child("actions")     // action -> the object that answers
	mimeTable     = home.Child("mimeTable")   // extension -> type and action
	Users         = home.Child("users")       // realm -> user -> password hash

	// Overrides and DirectoryIndex are tables host -> path prefix -> value.
	Overrides      = home.Child("overrides")
	DirectoryIndex = home.Child("directoryIndex")
)

// Scripts is the only table whose objects a URL can name (specification, 2.3).
var Scripts = objectdb.Address{"suites", "webserverScripts"}
