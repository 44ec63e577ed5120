package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/macros"
	"scripter/objectdb"
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

// file reads and parses a file, which info describes.
func (pc *pageCache) file(path string, info os.FileInfo) (*cachedPage, error) {
	k := pageKey{file: path, time: info.ModTime(), size: info.Size()}
	// A file changed within the clock's last tick may change again under
	// the same time: it is not kept.
	fresh := time.Since(info.ModTime()) < 50*time.Millisecond
	if p := pc.get(k); p != nil && !fresh {
		return p, nil
	}
	if info.Size() > maxPage {
		return nil, &Error{Status: 413, Message: fmt.Sprintf("%s has %d bytes, a page at most %d", path, info.Size(), maxPage)}
	}
	text, err := os.ReadFile(path)
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
func (c *call) passOn() (string, error) {
	if e, ok := c.tables.mime(filepath.Ext(c.target.Path)); ok && e.Action != "" {
		return "", &Error{Status: 404, Message: fmt.Sprintf("the script returned nothing, and %s is no plain file that could be served instead", c.target.Path)}
	}
	file, err := c.findFile(c.target.files(c.r.Params))
	if err != nil {
		return "", err
	}
	return file.real, c.g.mayServe(c.target.Path, file.info)
}

// mayServe refuses what must not go out as a plain file: a path with a
// hidden name, such as .git, and the root itself.
func (g *Gateway) mayServe(p string, info os.FileInfo) error {
	if strings.Contains(filepath.ToSlash(p), "/.") {
		return &Error{Status: 404, Message: p + " is hidden"}
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		if own, err := os.Stat(g.db.Path() + suffix); err == nil && os.SameFile(own, info) {
			return &Error{Status: 404, Message: "the root is not served"}
		}
	}
	return nil
}
