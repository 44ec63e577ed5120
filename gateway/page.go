package gateway

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
)

// maxPage is the largest file, in bytes, whose markers are expanded.
const maxPage = 16 << 20

// cachedPage is a parsed page. Only last changes.
type cachedPage struct {
	*macros.Page
	size   int
	html   bool         // the text looks like HTML
	layout bool         // it has a marker layout (x)
	parts  bool         // it has a marker layout (x) or include (x)
	loops  map[int]bool // the markers of loops whose text may be cached: see staticLoops
	cached bool         // a pageCache has it, for other requests
	last   atomic.Int64 // size of the text when it was expanded last; 0: never
}

func newCachedPage(text string) *cachedPage {
	p := &cachedPage{Page: macros.Parse(text), size: len(text), html: looksLikeHTML(text)}
	for _, m := range p.Markers() {
		if call, ok := m.Expr.(macros.Call); ok && m.Kind == macros.Insert {
			p.layout = p.layout || isWord(call.Path, "layout")
			p.parts = p.parts || p.layout || isWord(call.Path, "include")
		}
	}
	p.loops = staticLoops(p.Markers())
	return p
}

// looksLikeHTML reports whether a text contains "<html", in any case. The CGI Framework tested the
// texts of a root in the same way.
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

// pageCache holds parsed pages by the identity of their source: a file's path, time and size,
// or an object's id and version.
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

// pageCacheBytes limits the size of the pages in the cache. A page that would exceed it
// empties the cache.
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
	p.cached = true
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if pc.pages == nil || pc.bytes+p.size > pageCacheBytes {
		pc.pages, pc.bytes = make(map[pageKey]*cachedPage), 0
	}
	pc.pages[k] = p
	pc.bytes += p.size
}

// object returns the page made from a text object of the root.
func (pc *pageCache) object(tx *objectdb.Tx, n *objectdb.Node) (*cachedPage, error) {
	// An object that this transaction has written does not have its new version yet.
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
	// A file that was changed a moment ago may change again and have the same time: such a
	// page is not cached.
	fresh := time.Since(info.ModTime()) < 50*time.Millisecond
	if p := pc.get(k); p != nil && !fresh {
		return p, nil
	}
	if info.Size() > maxPage {
		return nil, &Error{Status: 413, Message: fmt.Sprintf(
			"%s has %d bytes, a page at most %d", found.real, info.Size(), maxPage)}
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

// pageValues are the texts of those markers of a page that only name a value in the root. They
// are found once for many requests, and again if an object that they depend on was written.
type pageValues struct {
	texts  []string // by Marker.Index
	cached []bool   // texts has the text of the marker
	names  []string // the first names of the markers; if a script changes one, the texts are not used
}

const (
	maxPageValues    = 1000     // pages whose values are cached
	longestPageValue = 64 << 10 // bytes of the longest text that is cached
)

// pageValues returns the values of a page, or nil if there are none for this attempt.
func (c *attempt) pageValues(page *cachedPage) *pageValues {
	if !page.cached || c.g.values == nil || c.Tx.Written() {
		return nil
	}
	v, err := c.g.values.Get(c.Tx, page, func(tx *objectdb.Tx) (*pageValues, error) {
		return c.g.readPageValues(tx, page)
	})
	if err != nil || !c.Thread.Untouched(v.names...) {
		return nil
	}
	return v
}

// readPageValues reads the values of a page, in a thread of its own.
func (g *Gateway) readPageValues(tx *objectdb.Tx, page *cachedPage) (*pageValues, error) {
	markers := page.Markers()
	p := &pageValues{texts: make([]string, len(markers)), cached: make([]bool, len(markers))}
	t := g.runner.Engine().NewThread(tx.Context(), script.ThreadOptions{Tx: tx})
	defer t.Close()
	for i, m := range markers {
		name, ok := m.Expr.(macros.Name)
		if !ok || m.Kind != macros.Insert {
			continue
		}
		v, address, err := t.Stored(name.Path)
		if err != nil {
			return nil, err
		}
		if pageSecrets.covers(address) || withURL.covers(address) {
			continue
		}
		text, ok := plainText(t, v)
		if !ok || len(text) > longestPageValue {
			continue
		}
		p.texts[i], p.cached[i] = text, true
		if !slices.Contains(p.names, name.Path[0]) {
			p.names = append(p.names, name.Path[0])
		}
	}
	return p, nil
}

// plainText returns the text of a value if it is the same in every run.
func plainText(t *script.Thread, v objectdb.Value) (string, bool) {
	switch v.(type) {
	case objectdb.String, objectdb.Text, objectdb.Number, objectdb.Boolean:
		text, err := t.Text(v)
		return text, err == nil
	}
	return "", false
}

// expectedSize returns how many bytes the expanded page will probably have.
func (p *cachedPage) expectedSize() int {
	if n := p.last.Load(); n > 0 {
		return int(n)
	}
	return p.size
}
