// Package probe defines the requests with which "scripter doctor" asks the gateway how a web
// server passes requests on, and the answers. The doctor sends a request with a token in the
// field [Field]. The SHA-256 of the token lies in the root. The gateway answers such a request
// before the trap, and runs nothing of the site.
//
//	reply.go   what a request and its answer hold
//	token.go   the token
package probe

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"scripter/rootname"
	"scripter/site"
)

// Field is the field of a request that carries the token, and after a blank the kind of
// answer that is wanted.
const Field = "Scripter-Probe"

// The kinds of answer, beside a [Reply], which is the usual one.
const (
	Pieces   = "pieces"   // two lines, Pause apart
	Redirect = "redirect" // 302 to Location
	Error    = "error"    // 404 with the body ErrorBody
	Beyond   = "outside"  // a Reply with Outside
)

// What these answers hold.
const (
	Pause     = 400 * time.Millisecond
	First     = "<p>first piece</p>\n"
	Last      = "<p>last piece</p>\n"
	Location  = "http://scripter-probe.invalid/target?a=1"
	ErrorBody = "<p>this is the error page of a script</p>\n"
)

// Reply is the answer to a probe, as JSON: what has arrived.
type Reply struct {
	Probe     string            `json:"probe"` // "scripter"
	Transport string            `json:"road"`  // CGI, FastCGI, net/http/fcgi, HTTP
	Form      string            `json:"form"`  // nph, parsed
	Server    string            `json:"server"`
	Variables map[string]string `json:"variables"` // secrets masked
	Body      int               `json:"body"`      // bytes that arrived
	BodyError string            `json:"bodyError,omitempty"`
	Path      string            `json:"path"`
	Extra     string            `json:"extra"`
	PathArgs  string            `json:"pathArgs"`
	Action    string            `json:"action"`
	Rule      string            `json:"rule"` // what chose the action
	Handler   bool              `json:"handler"`
	File      string            `json:"file,omitempty"` // the page, where there is one
	Refused   string            `json:"refused,omitempty"`
	Steps     []string          `json:"steps"`
	PID       int               `json:"pid"`
	UID       int               `json:"uid"`
	GID       int               `json:"gid"`
	RootHash  string            `json:"rootHash"` // see RootHash
	Files     []FileRights      `json:"files"`    // the root's file, its folder, its companions
	Unlisted  []*site.Unlisted  `json:"unlisted"` // what settings name but scripter.conf does not list
	Outside   []Outside         `json:"outside,omitempty"`
}

// Outside says whether a host or a database that scripter.conf lists for scripts can be reached.
type Outside struct {
	Line    string `json:"line"`              // of scripter.conf
	Failure string `json:"failure,omitempty"` // "" = it can be reached, unless it was not tried
	Untried bool   `json:"untried,omitempty"`
}

// FileRights says what the process that answers may do with a file.
type FileRights struct {
	Name  string `json:"name"` // "file", "folder", "-wal", "-shm"
	UID   int    `json:"uid"`
	GID   int    `json:"gid"`
	Mode  string `json:"mode"` // as ls shows it
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
}

// RootHash returns a hash of a root's path, with links resolved, or of its URL. It tells whether two programs
// use the same root, but not where the root lies.
func RootHash(file string) string {
	if rootname.IsURL(file) {
		return hashOf("root " + rootname.Place(file))
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return hashOf("root " + file)
}

// RightsTo returns the rights to the files of a root on this host: its file, its folder and what SQLite has beside it.
// It does not open them: closing a file of the root would release the locks that this process
// holds on it.
func RightsTo(root string) []FileRights {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	list := []FileRights{}
	for _, f := range []struct{ name, path string }{
		{"file", root}, {"folder", filepath.Dir(root)}, {"-wal", root + "-wal"}, {"-shm", root + "-shm"},
	} {
		info, err := os.Stat(f.path)
		if err != nil {
			continue
		}
		const readable, writable = 4, 2 // access(2)
		rights := FileRights{
			Name: f.name, Mode: info.Mode().String(),
			Read:  syscall.Access(f.path, readable) == nil,
			Write: syscall.Access(f.path, writable) == nil,
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			rights.UID, rights.GID = int(s.Uid), int(s.Gid)
		}
		list = append(list, rights)
	}
	return list
}
