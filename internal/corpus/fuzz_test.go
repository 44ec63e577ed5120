package corpus

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// FuzzRequest gives a gateway a whole request: variables, a body, the script and
// the page that it may name, and the form of the answer. Whatever they are, the
// answer is one well-formed response that tells nothing of the inside, and the
// next request is served.
func FuzzRequest(f *testing.F) {
	z, dir := newFuzzed(f), f.TempDir()
	for _, seed := range requestSeeds(f) {
		f.Add(seed.vars, seed.body,
			`local p = ... return p.fullRequest .. p.postArgs`, "<!--#referer--> <!--#method-->", false)
	}
	const vars = "REQUEST_METHOD=POST\x00SCRIPT_NAME=/fuzz.fcgi\x00QUERY_STRING=x=1&x=2\x00CONTENT_LENGTH=3"
	for _, source := range []string{
		`return {status = 302, headers = {Location = "/x", ["Set-Cookie"] = {"a=1", "b=2"}}}`,
		`return "HTTP/1.0 404 FILE NOT FOUND\r\nContent-Length: 9\r\n\r\nbody"`,
		`webserver.sendPartial ("first") scratchpad.x = {1, {2}} error ({1, 2})`,
		`scratchpad.a = {b = {c = 1}} odb.move ("scratchpad.a.b", "scratchpad.d") return json.encode (odb.get ("scratchpad"))`,
		`write ("a") write (("b"):rep (3e5)) return "c"`, `return ""`, `return nil`,
		`local t = {} t.t = t return t`, `while true do end`,
		`return webserver.processMacros ((...).searchTable.x [1], {x = "<>"})`, `return odb.binary ("\0\1", "image/gif")`,
	} {
		f.Add(vars, "a=b", source, "", true)
	}
	f.Fuzz(func(t *testing.T, vars, body, source, page string, nph bool) {
		require.NoError(t, z.put(t.Context(), source))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "fuzz.mcro"), []byte(page), 0o644))
		r := &gateway.Request{Params: map[string]string{}, Body: strings.NewReader(body)}
		if nph {
			r.Form = gateway.NPH
		}
		for v := range strings.SplitSeq(vars, "\x00") {
			if name, value, ok := strings.Cut(v, "="); ok {
				r.Params[name] = value
			}
		}
		r.Params["DOCUMENT_ROOT"] = dir // of the web server, whom we trust
		for _, name := range []string{"SCRIPT_FILENAME", "PATH_TRANSLATED"} {
			delete(r.Params, name)
		}
		var out bytes.Buffer
		before := z.log()
		o := z.Answer(t.Context(), r, &out)
		if !o.Broken {
			checkAnswer(t, r, o, out.String(), z.path)
		}
		if !bytes.Equal(before, z.log()) { // a script may change what the next request needs
			require.NoError(t, z.renew())
		}
		out.Reset()
		next := map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/ready.fcgi"}
		o = z.Answer(t.Context(), &gateway.Request{Params: next}, &out)
		ready := o.Status == 200 && strings.HasSuffix(out.String(), "\r\n\r\nready")
		require.True(t, ready, "the next request: %s", out.String())
	})
}

// FuzzRoot damages the bytes of a root and asks something of it. It is refused,
// or answers; the program lives.
func FuzzRoot(f *testing.F) {
	whole := suppliedRoot(f, nil)
	for _, at := range []uint32{
		0, 16, 18, 24, 28, 40, 52, 60, 68, 96, 100, 103, 105, 108, 4096, 4100, 8192, 8200, 50_000, 100_000,
	} {
		f.Add(at, []byte{0xff}, uint32(0))
		f.Add(at, []byte{0, 0, 0, 0}, uint32(0))
	}
	f.Add(uint32(0), []byte{}, uint32(4096))
	f.Add(uint32(0), []byte{}, uint32(len(whole)))
	damaged := filepath.Join(f.TempDir(), "damaged.root")
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := slices.Clone(whole)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-int(cut)%(len(b)+1)]
		for _, suffix := range []string{"-wal", "-shm"} {
			os.Remove(damaged + suffix)
		}
		require.NoError(t, os.WriteFile(damaged, b, 0o644))
		start := time.Now()
		db, err := sqlitestore.Open(damaged, objectdb.Options{Relaxed: true, BusyTimeout: time.Second})
		if err != nil {
			return
		}
		defer db.Close()
		g := gateway.New(gateway.Options{DB: db})
		for _, url := range []string{"/samples.tellTime.fcgi", "/samples.countHits.fcgi", "/nothing.fcgi"} {
			var out bytes.Buffer
			r := &gateway.Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": url}}
			o := g.Answer(t.Context(), r, &out)
			checkAnswer(t, r, o, out.String(), damaged)
		}
		require.Less(t, time.Since(start), 60*time.Second)
	})
}

// suppliedRoot returns the bytes of a root as init makes it, with more.
func suppliedRoot(f *testing.F, more map[string]objectdb.Value) []byte {
	path := filepath.Join(f.TempDir(), "supplied.root")
	db, err := sqlitestore.Create(path, objectdb.Options{Relaxed: true})
	require.NoError(f, err)
	require.NoError(f, db.Update(f.Context(), func(tx *objectdb.Tx) error {
		if _, err := objectfiles.Import(tx, root.FS, nil, nil); err != nil {
			return err
		}
		for name, v := range more {
			a, err := objectdb.ParseAddress(name)
			if err == nil {
				err = tx.Put(a, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(f, db.Close())
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	return whole
}

// fuzzed is a gateway and its root, which can be made anew.
type fuzzed struct {
	*gateway.Gateway
	db    *objectdb.DB
	path  string
	whole []byte
}

func newFuzzed(f *testing.F) *fuzzed {
	z := &fuzzed{path: filepath.Join(f.TempDir(), "fuzz.root"), whole: suppliedRoot(f, map[string]objectdb.Value{
		"user.webserver.maxInstructions": objectdb.Number(2), "user.webserver.maxTime": objectdb.Number(20),
		"user.webserver.maxString": objectdb.Number(1), "user.webserver.maxResponse": objectdb.Number(1),
		"user.webserver.maxPatternSteps": objectdb.Number(1),
		"suites.webserverScripts.ready":  objectdb.Script(`return "ready"`),
	})}
	require.NoError(f, z.renew())
	f.Cleanup(func() { z.db.Close() })
	return z
}

// renew takes back all that was written.
func (z *fuzzed) renew() error {
	if z.db != nil {
		z.db.Close()
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		os.Remove(z.path + suffix)
	}
	err := os.WriteFile(z.path, z.whole, 0o644)
	if err == nil {
		z.db, err = sqlitestore.Open(z.path, objectdb.Options{Relaxed: true})
	}
	if err == nil {
		z.Gateway = gateway.New(gateway.Options{DB: z.db})
	}
	return err
}

// log returns the bytes of the write-ahead log, which every commit changes.
func (z *fuzzed) log() []byte {
	b, _ := os.ReadFile(z.path + "-wal")
	return b
}

// put stores the script that requests may name.
func (z *fuzzed) put(ctx context.Context, source string) error {
	return z.db.Update(ctx, func(tx *objectdb.Tx) error {
		a := objectdb.Address{"suites", "webserverScripts", "fuzz"}
		if v, err := tx.Get(a); err == nil && objectdb.Equal(v, objectdb.Script(source)) {
			return nil
		}
		return tx.Put(a, objectdb.Script(source))
	})
}

// requestSeed is what a web server tells of a request of the corpus.
type requestSeed struct{ vars, body string }

// requestSeeds turns every request of the corpus that a web server would pass on
// into variables and a body, as two kinds of servers tell them.
func requestSeeds(f *testing.F) []requestSeed {
	cases, _, err := Load()
	require.NoError(f, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f, err)
	defer l.Close()
	dir := f.TempDir()
	var seeds []requestSeed
	for _, wiring := range []func(*model, string, string, string) map[string]string{actionWiring, directWiring} {
		m := &model{site: &Site{Dir: dir, WWW: dir, Second: dir, Programs: dir}, wiring: wiring, listing: l}
		m.handler = func(vars map[string]string, body io.Reader, out io.Writer) error {
			data, err := io.ReadAll(io.LimitReader(body, 2000))
			if err != nil {
				return err
			}
			var list []string
			for _, name := range slices.Sorted(maps.Keys(vars)) {
				if name != "PATH" && len(vars[name]) < 2000 {
					list = append(list, name+"="+vars[name])
				}
			}
			seeds = append(seeds, requestSeed{strings.Join(list, "\x00"), string(data)})
			return io.EOF
		}
		for _, c := range cases {
			for _, step := range c.Steps {
				wire := step.wire(filler(Client{Addr: l.Addr().String()}, step, nil))
				if req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire))); err == nil {
					m.route(bufio.NewWriter(io.Discard), req)
				}
			}
		}
	}
	require.Greater(f, len(seeds), 100)
	return seeds
}

var (
	answerHead = regexp.MustCompile(`^(Status: |HTTP/1\.[01] )([2-5][0-9][0-9])( [^\x00-\x1f\x7f]*)?$`)
	answerLine = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[^\x00-\x08\x0a-\x1f\x7f]*$")
	inside     = regexp.MustCompile(`goroutine [0-9]|\.go:[0-9]|runtime error|database is locked`)
)

// checkAnswer holds the output of a handler against RFC 3875, section 6, and the
// promise that an error's page tells a visitor nothing of the inside.
func checkAnswer(t *testing.T, r *gateway.Request, o gateway.Outcome, out, secret string) {
	t.Helper()
	head, body, ok := strings.Cut(out, "\r\n\r\n")
	require.True(t, ok, "no end of the head: %q", clip(out))
	lines := strings.Split(head, "\r\n")
	m := answerHead.FindStringSubmatch(lines[0])
	require.NotNil(t, m, "first line %q", clip(lines[0]))
	require.Equal(t, strconv.Itoa(o.Status), m[2])
	length := -1
	for _, line := range lines[1:] {
		require.Regexp(t, answerLine, line)
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			_, err := fmt.Sscan(n, &length)
			require.NoError(t, err)
		}
	}
	switch {
	case r.Params["REQUEST_METHOD"] == "HEAD" || o.Status == 204 || o.Status == 304:
		require.Empty(t, body)
	case length >= 0:
		require.Len(t, body, length)
	}
	if o.Err != nil {
		require.NotRegexp(t, inside, body)
		require.NotContains(t, body, secret)
	}
}
