package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/probe"
	"scripter/requestlog"
)

func newProbe(t *testing.T, s *testSite) string {
	t.Helper()
	token := ""
	update(t, s.db, func(tx *objectdb.Tx) error {
		var err error
		token, err = probe.NewToken(tx, time.Now())
		return err
	})
	return token
}

func asReply(t *testing.T, body string) probe.Reply {
	t.Helper()
	var p probe.Reply
	require.NoError(t, json.Unmarshal([]byte(body), &p), body)
	require.Equal(t, "scripter", p.Probe)
	return p
}

// TestProbe checks that the answer says what has arrived, with secrets masked and without the
// token, and that neither the trap nor a script runs.
func TestProbe(t *testing.T) {
	s := newSite(t)
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`error "the trap ran"`))
	s.page("page.mcro", "<!--#1-->")
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	token := newProbe(t, s)
	r := s.request("/page.mcro/extra$a?x=1&password=hush", map[string]string{
		probeVariable: token, "HTTP_AUTHORIZATION": "Basic aHVzaDpodXNo", "HTTP_COOKIE": "id=hush", "DB_PASSWORD": "hush",
		"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "5", "HTTP_X_LONG": strings.Repeat("x", 5000),
	})
	r.Body, r.Transport = strings.NewReader("12345"), "CGI"
	resp, out := s.answer(r)
	assert.Equal(t, 200, out.Status)
	assert.Equal(t, "application/json", resp.Get("Content-Type"))
	assert.NotEmpty(t, resp.Get("Cache-Control"))
	assert.NotContains(t, resp.Body, "hush")
	assert.NotContains(t, resp.Body, token)
	p := asReply(t, resp.Body)
	assert.Equal(t, []string{"CGI", "nph", "/page.mcro", "/extra", "a", "MACRO", "Test/1",
		filepath.Join(s.folder, "page.mcro")},
		[]string{p.Transport, p.Form, p.Path, p.Extra, p.PathArgs, p.Action, p.Server, p.File})
	assert.Equal(t, 5, p.Body)
	assert.Equal(t, requestlog.Masked, p.Variables["HTTP_AUTHORIZATION"])
	assert.Equal(t, requestlog.Masked, p.Variables["DB_PASSWORD"])
	assert.Len(t, p.Variables["HTTP_X_LONG"], 1<<10)
	assert.Equal(t, []int{os.Getpid(), os.Geteuid()}, []int{p.PID, p.UID})
	assert.Equal(t, probe.RootHash(s.db.Path()), p.RootHash)
	require.GreaterOrEqual(t, len(p.Files), 2)
	assert.Equal(t, []string{"file", "folder"}, []string{p.Files[0].Name, p.Files[1].Name})
	assert.True(t, p.Files[0].Write && p.Files[1].Write)
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Stat(requestlog.LastParams)
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "a probe is not recorded")
		return nil
	}))

	// The answer says what the gateway refuses.
	p = asReply(t, s.ask("/cgi-bin/Scripter.acgi/page.mcro", map[string]string{probeVariable: token}).Body)
	assert.Contains(t, p.Refused, "own URL")
	p = asReply(t, s.ask("/x.fcgi", map[string]string{probeVariable: token, "REQUEST_METHOD": "TRACE"}).Body)
	assert.Contains(t, p.Refused, "TRACE")
	r = s.request("/x.fcgi", map[string]string{probeVariable: token, "REQUEST_METHOD": "POST", "CONTENT_LENGTH": "9"})
	r.Body = strings.NewReader("12345")
	resp, _ = s.answer(r)
	assert.Contains(t, asReply(t, resp.Body).BodyError, "5 of 9")
}

// TestProbeToken checks that a probe without a good token is a request like any other.
func TestProbeToken(t *testing.T) {
	s := newSite(t)
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`return "trapped"`))
	ask := func(given string) string {
		return s.ask("/x.fcgi", map[string]string{probeVariable: given}).Body
	}
	assert.Equal(t, "trapped", ask("x"), "there is no token")
	token := newProbe(t, s)
	second := newProbe(t, s)
	asReply(t, ask(token))
	asReply(t, ask(second))
	sum := sha256.Sum256([]byte(token))
	hash := hex.EncodeToString(sum[:])
	for _, bad := range []string{"x", "", " ", token[1:], token + "x", strings.ToUpper(token), hash,
		hash[:16], strings.Repeat("x", 1<<16)} {
		assert.Equal(t, "trapped", ask(bad), "%.40q", bad)
	}
	var keys bytes.Buffer
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(probe.Tokens, func(a objectdb.Address, n *objectdb.Node) error {
			keys.WriteString(a.String())
			if v, err := tx.Value(n); err == nil {
				keys.WriteString(string(v.(objectdb.String)))
			}
			return nil
		})
	}))
	assert.NotContains(t, keys.String(), token, "the root holds a hash only")

	s.g.now = func() time.Time { return time.Now().Add(probe.TokenTime - time.Minute) }
	asReply(t, ask(token))
	s.g.now = func() time.Time { return time.Now().Add(probe.TokenTime) }
	assert.Equal(t, "trapped", ask(token), "too old")
	s.g.now = func() time.Time { return time.Now().Add(-2 * time.Minute) }
	assert.Equal(t, "trapped", ask(token), "from the future")
	s.g.now = time.Now

	update(t, s.db, func(tx *objectdb.Tx) error { return probe.RemoveToken(tx, token) })
	assert.Equal(t, "trapped", ask(token))
	asReply(t, ask(second))
	update(t, s.db, func(tx *objectdb.Tx) error { return probe.RemoveToken(tx, second) })
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Stat(probe.Tokens.Parent())
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "nothing is left")
		return nil
	}))
	update(t, s.db, func(tx *objectdb.Tx) error { return probe.RemoveToken(tx, second) }) // twice is no failure

	// A new token removes old ones.
	update(t, s.db, func(tx *objectdb.Tx) error {
		if _, err := probe.NewToken(tx, time.Now()); err != nil {
			return err
		}
		return tx.Put(objectdb.Address{"system", "temp", "probes", "table", "inner"}, objectdb.String("x"))
	})
	update(t, s.db, func(tx *objectdb.Tx) error {
		_, err := probe.NewToken(tx, time.Now().Add(probe.TokenTime))
		return err
	})
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		list, err := tx.List(probe.Tokens)
		assert.Len(t, list, 2, "the new one, and what is no token")
		return err
	}))
}

// TestProbeKinds checks the other kinds of answer: pieces, a redirect, an error page.
func TestProbeKinds(t *testing.T) {
	s := newSite(t)
	token := newProbe(t, s)
	ask := func(kind string) (int, string, string) {
		resp := s.ask("/x.fcgi", map[string]string{probeVariable: token + " " + kind})
		return resp.Status, resp.Get("Location"), resp.Body
	}
	status, location, _ := ask(probe.Redirect)
	assert.Equal(t, 302, status)
	assert.Equal(t, probe.Location, location)
	status, _, body := ask(probe.Error)
	assert.Equal(t, 404, status)
	assert.Equal(t, probe.ErrorBody, body)

	var w timedWriter
	out := s.g.Answer(context.Background(),
		s.request("/x.fcgi", map[string]string{probeVariable: token + " " + probe.Pieces, "SERVER_SOFTWARE": "nginx/1"}), &w)
	assert.Equal(t, 200, out.Status)
	assert.Contains(t, w.text.String(), "X-Accel-Buffering: no")
	assert.True(t, strings.HasSuffix(w.text.String(), "\r\n\r\n"+probe.First+probe.Last), &w.text)
	assert.GreaterOrEqual(t, w.last.Sub(w.first), probe.Pause)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out = s.g.Answer(ctx,
		s.request("/x.fcgi", map[string]string{probeVariable: token + " " + probe.Pieces}), &timedWriter{})
	assert.True(t, out.Broken, "a client that is gone is not waited for")
}

// timedWriter records when it was first and last written to.
type timedWriter struct {
	text        bytes.Buffer
	first, last time.Time
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.last = time.Now()
	if w.first.IsZero() {
		w.first = w.last
	}
	return w.text.Write(p)
}
