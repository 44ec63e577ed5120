// Package root holds the objects that a new root begins with, as files: the
// folder tree is the table tree, and the suffix of a file says the kind of
// its object (package objectdb, Import).
package root

import "embed"

// FS is the tree of the supplied objects.
//
//go:embed all:apps all:scratchpad all:suites all:system all:user
var FS embed.FS
