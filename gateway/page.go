package gateway

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/site"
)

// maxPage is the largest file, in bytes, whose markers are expanded.
const maxPage = 16 << 20

// cachedPage is a parsed page. It is never changed.
type cachedPage struct {
	*macros.Page
	size int
	html bool         // the text says that it is HTML
	kept bool         // for other requests, in a pageCache
	last atomic.Int64 // bytes that it had when its markers were replaced last; 0: not yet
}

func newCachedPage(text string) *cachedPage {
	return &cachedPage{Page: macros.Parse(text), size: len(text), html: looksLikeHTML(text)}
}

// looksLikeHTML is the CGI Framework's test for texts in the root: "<html", in
// whatever case.
func looksLikeHTML(text string) bool {
	const tag = "<html"
	for {
		i := strings.IndexByte(text, tag[0])
		if i < 0 || len(text)-i < len(tag) {
			return false
		}
		if strings.EqualFold(text[i:i+len(tag)], tag) {
			return true
		}
		text = text[i+1:]
	}
}

// pageCache keeps parsed pages by the identity of what they were parsed
// from: a file's path, time and size, or an object's id and version.
type pageCache struct {
	mu    sync.Mutex
	pages map[pageKey]*cachedPage
	bytes int

	hits, misses uint64
}

type pageKey struct {
	file string
	time time.Time
	size int64

	id, version int64
}

// pageCacheBytes bounds the text that the cache holds on to; beyond it the
// cache starts anew.
const pageCacheBytes = 16 << 20

func (pc *pageCache) get(k pageKey) *cachedPage {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	p := pc.pages[k]
	if p != nil {
		pc.hits++
	} else {
		pc.misses++
	}
	return p
}

func (pc *pageCache) put(k pageKey, p *cachedPage) {
	p.kept = true
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if pc.pages == nil || pc.bytes+p.size > pageCacheBytes {
		pc.pages, pc.bytes = make(map[pageKey]*cachedPage), 0
	}
	pc.pages[k] = p
	pc.bytes += p.size
}

func (pc *pageCache) object(tx *objectdb.Tx, n *objectdb.Node) (*cachedPage, error) {
	// An object written in this very transaction has no version of its own yet.
	k := pageKey{id: n.ID(), version: n.Version()}
	if !tx.Written() {
		if p := pc.get(k); p != nil {
			return p, nil
		}
	}
	v, err := tx.Value(n)
	if err != nil {
		return nil, err
	}
	var p *cachedPage
	switch v := v.(type) {
	case objectdb.String:
		p = newCachedPage(string(v))
	case objectdb.Text:
		p = newCachedPage(string(v))
	case objectdb.Outline:
		p = newCachedPage(string(v))
	default:
		return nil, fmt.Errorf("%s is a %s, not a text", tx.Address(n), v.Kind())
	}
	if !tx.Written() {
		pc.put(k, p)
	}
	return p, nil
}

// pageOf reads and parses a page.
func (g *Gateway) pageOf(found foundFile) (*cachedPage, error) {
	pc, info := &g.pages, found.info
	k := pageKey{file: found.real, time: info.ModTime(), size: info.Size()}
	// A file changed within the clock's last tick may change again under
	// the same time: it is not kept.
	fresh := time.Since(info.ModTime()) < 50*time.Millisecond
	if p := pc.get(k); p != nil && !fresh {
		return p, nil
	}
	if info.Size() > maxPage {
		return nil, &Error{Status: 413, Message: fmt.Sprintf("%s has %d bytes, a page at most %d", found.real, info.Size(), maxPage)}
	}
	f, now, err := g.openFile(found)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fresh = fresh || !unchanged(info, now)
	text, err := io.ReadAll(io.LimitReader(f, maxPage))
	if err != nil {
		return nil, notFound(err)
	}
	p := newCachedPage(string(text))
	if !fresh {
		pc.put(k, p)
	}
	return p, nil
}

func notFound(err error) error {
	status := 404
	if os.IsPermission(err) {
		status = 403
	}
	return &Error{Status: status, Message: err.Error(), Err: err}
}

// passOn finds the file of the request itself, for a script that returned
// the empty text: "the web server shall do it".
func (c *attempt) passOn() (foundFile, error) {
	if e, ok := c.Site().MimeType(filepath.Ext(c.target.Path)); ok && e.Action != "" {
		return foundFile{}, &Error{Status: 404, Message: c.target.Path + " is not a plain file that could be sent instead"}
	}
	if isHidden(c.target.Path) {
		return foundFile{}, hidden(c.target.Path)
	}
	found, err := c.findFile(c.pageFiles())
	if err == nil {
		err = found.checkHidden()
	}
	return found, err
}

// isHidden reports whether a path has a hidden name, such as .git.
func isHidden(path string) bool { return strings.Contains(filepath.ToSlash(path), "/.") }

func hidden(path string) error { return &Error{Status: 404, Message: path + " is hidden"} }

// openFile opens a file that is sent to a visitor. It refuses files that belong to a
// root.
func (g *Gateway) openFile(found foundFile) (*os.File, os.FileInfo, error) {
	refused := &Error{Status: 404, Message: found.real + " belongs to a root, or is its configuration"}
	// The root itself must not even be opened: closing it would release the locks that
	// this process holds on it.
	if belongsToRoot(filepath.Base(found.real)) || g.isOwn(found.info) {
		return nil, nil, refused
	}
	f, info, err := found.open()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, 100)
	n, err := f.ReadAt(head, 0)
	switch {
	case err != nil && err != io.EOF:
		err = notFound(err)
	case objectdb.IsRoot(head[:n]):
		err = refused
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// isOwn reports whether a file is the gateway's own root, or one of the files that
// SQLite and objectdb keep beside it.
func (g *Gateway) isOwn(info os.FileInfo) bool {
	if g.db == nil {
		return false
	}
	return slices.ContainsFunc([]string{"", "-wal", "-shm", "-lock"}, func(suffix string) bool {
		own, err := os.Stat(g.db.Path() + suffix)
		return err == nil && os.SameFile(own, info)
	})
}

// belongsToRoot reports whether a file with this name is a root, a saved copy, an
// archive of replaced objects, another file beside a root, or a configuration file
// or a copy of one.
func belongsToRoot(name string) bool {
	name = strings.ToLower(name)
	for _, mark := range []string{".undo-", ".redo-", ".undo.part-", ".redo.part-"} {
		if _, stamp, ok := strings.Cut(name, mark); ok && stamp != "" && '0' <= stamp[0] && stamp[0] <= '9' {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(name, site.ConfFile); ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
		return true // also scripter.conf~ and scripter.conf.bak
	}
	return slices.ContainsFunc(
		[]string{".root", ".root-wal", ".root-shm", ".root-journal", ".root-lock", ".root-door", ".part", ".saving", ".resident.log"},
		func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}
