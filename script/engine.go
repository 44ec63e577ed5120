package script

import (
	"sync"

	"scripter/lua"
	"scripter/objectdb"
)

// An Engine is what all runs over one database share: the verbs, the compiled
// form of the scripts, and where names are looked for. It is safe for use by
// many goroutines.
type Engine struct {
	verbs []Verb
	tree  *verbTable // the verbs and properties as tables of the root
	byFn  map[*lua.LFunction]*Verb
	named sync.Map // *verbTable by the *lua.LTable that holds its verbs
	paths *objectdb.Derived[*searchPaths]

	mu        sync.Mutex
	recent    map[codeKey]*code // compiled or used lately
	older     map[codeKey]*code // the generation before recent
	recentLen int               // source bytes in recent
	hits      uint64            // scripts found compiled
	misses    uint64            // scripts compiled
}

// generationBytes is the length of the sources whose compiled form is cached, in each
// of the two generations. Compiled code is many times larger than its source.
const generationBytes = 4 << 20

// A codeKey names one state of a script object: an object's version is never
// used for another text.
type codeKey struct {
	id, version int64
}

// code is a script that was compiled, or the reason why it does not compile.
type code struct {
	chunk
	name  string
	proto *lua.FunctionProto
	err   error
}

// NewEngine returns an engine whose scripts see verbs in
// system.verbs.builtins, and properties at their addresses. Two of one name
// are a mistake and panic.
func NewEngine(verbs []Verb, properties ...Property) *Engine {
	e := &Engine{verbs: verbs, recent: make(map[codeKey]*code)}
	e.tree, e.byFn = newVerbTree(Builtins, verbs, properties)
	e.paths = objectdb.NewDerived(e.makePaths)
	return e
}

// Verbs returns the verbs that the engine was made with.
func (e *Engine) Verbs() []Verb { return e.verbs }

// compiled returns the compiled form of the script object (id, version), which
// lies at a and reads source. Address and source are compared with those of
// the cached code: a moved script gets its new name, and a script that is written
// but not committed is never taken for another.
func (e *Engine) compiled(id, version int64, a objectdb.Address, source string) *code {
	key := codeKey{id, version}
	e.mu.Lock()
	c := e.recent[key]
	if c == nil {
		if c = e.older[key]; c != nil {
			e.put(key, c)
		}
	}
	if c != nil && c.source == source && same(c.address, a) {
		e.hits++
		e.mu.Unlock()
		return c
	}
	e.misses++
	e.mu.Unlock()

	c = &code{chunk: chunk{address: a, source: source}, name: a.String()}
	c.proto, c.err = lua.Compile(c.name, source)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.put(key, c)
	return c
}

// CacheStats returns how often a script that was to run was found compiled, and how
// often one was compiled. Both only grow.
func (e *Engine) CacheStats() (hits, misses uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hits, e.misses
}

// put caches c in the recent generation. If that has grown too large, it becomes the
// older one, and what was there is dropped. The caller holds e.mu.
func (e *Engine) put(key codeKey, c *code) {
	if e.recentLen += len(c.source) + 256; e.recentLen > generationBytes {
		e.older, e.recent = e.recent, make(map[codeKey]*code)
		e.recentLen = len(c.source) + 256
	}
	e.recent[key] = c
}

// same reports whether two addresses are spelled alike.
func same(a, b objectdb.Address) bool {
	if len(a) != len(b) {
		return false
	}
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
