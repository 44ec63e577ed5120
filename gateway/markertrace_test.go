package gateway

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// traceMarkers runs a page, and returns the trace of its markers and the answer.
func (s *testSite) traceMarkers(path string, more map[string]string) (*MarkerTrace, string) {
	s.t.Helper()
	var traces []*MarkerTrace
	var b bytes.Buffer
	s.g.Replay(s.t.Context(), &requestlog.Request{Time: s.g.now(), Variables: s.request(path, more).Params}, &b, ReplayOptions{
		Developer: true, DocumentRoot: s.folder, Markers: func(t *MarkerTrace) { traces = append(traces, t) },
	})
	require.NotEmpty(s.t, traces, b.String())
	return traces[0], b.String()
}

// TestMarkerTrace checks what a trace says of each marker, and that the place it names is where the
// marker's text is.
func TestMarkerTrace(t *testing.T) {
	s := newSite(t)
	s.put("user.title", objectdb.String("Öffnungszeiten"))
	s.put("user.count", objectdb.Script(`scratchpad.n = (scratchpad.n or 0) + 1 return scratchpad.n`))
	s.put("user.fails", objectdb.Script("\nerror ('no luck')"))
	s.put("user.inner", objectdb.Script(`return webserver.processMacros ("[<!--#user.title-->|<!--#given-->]", {given = "<g>"})`))
	s.put("scratchpad.n", objectdb.Number(5))
	s.page("p.mcro", "<p>ö <!--#user.title--></p>\n<!--#user.count ()--> <!--#user.fails ()--> <!--#clientIP-->\n"+
		"<!--#clock.now ()--> <!--#user.inner ()--> <!--#user.missing--> <!--#f (--> <!--#string.upper--> <!--#counter (home)-->")

	trace, answer := s.traceMarkers("/p.mcro", nil)
	require.Len(t, trace.Expansions, 2)
	page, inner := trace.Expansions[0], trace.Expansions[1]
	assert.Equal(t, filepath.Join(s.folder, "p.mcro"), page.Name)
	assert.Nil(t, page.In)
	assert.True(t, strings.HasSuffix(answer, page.Text), answer)
	var lines []string
	for _, e := range trace.Expansions {
		for _, m := range e.Markers {
			assert.Equal(t, m.Text, e.Text[m.Start:m.Start+len(m.Text)], m.Marker.Text)
			assert.Positive(t, m.Took, m.Marker.Text)
			failed := ""
			if m.Err != nil {
				failed = "failed"
			}
			lines = append(lines, fmt.Sprintf("%d %d:%d %s %s %s %s %s", m.Number, m.Line, m.Column, m.Marker.Text, m.Found,
				m.Address, m.Verb, failed))
		}
	}
	assert.Equal(t, []string{
		"1 1:6 <!--#user.title--> root user.title  ",
		"2 2:1 <!--#user.count ()--> root user.count  ",
		"3 2:23 <!--#user.fails ()--> root user.fails  failed",
		"4 2:45 <!--#clientIP--> request   ",
		"5 3:1 <!--#clock.now ()--> root  clock.now ",
		"6 3:22 <!--#user.inner ()--> root user.inner  ",
		"9 3:44 <!--#user.missing-->    failed",
		"10 3:65 <!--#f (-->    failed",
		"11 3:77 <!--#string.upper--> lua   failed",
		"12 3:98 <!--#counter (home)--> root suites.webserver.macros.counter  ",
		"7 1:2 <!--#user.title--> root user.title  ",
		"8 1:21 <!--#given--> argument   ",
	}, lines)
	assert.Equal(t, page.Markers[5], inner.In)
	assert.Equal(t, "webserver.processMacros", inner.Name)
	assert.Equal(t, "[Öffnungszeiten|&lt;g&gt;]", inner.Text)
	assert.ErrorContains(t, page.Markers[2].Err, "no luck")
	assert.Equal(t, objectdb.Number(5), s.get("scratchpad.n"), "nothing is kept")
	assert.Empty(t, s.recorded())
}

// TestMarkerTraceEnds checks a page with more markers than are traced, and one that exceeds a limit.
func TestMarkerTraceEnds(t *testing.T) {
	s := newSite(t)
	s.put("user.x", objectdb.String("x"))
	s.page("many.mcro", strings.Repeat("<!--#user.x-->", maxTraced+10))
	trace, answer := s.traceMarkers("/many.mcro", nil)
	assert.Len(t, trace.Expansions[0].Markers, maxTraced)
	assert.Equal(t, 10, trace.Left)
	assert.Contains(t, answer, strings.Repeat("x", maxTraced+10))

	s.put("user.webserver.maxMacros", objectdb.Number(3))
	trace, answer = s.traceMarkers("/many.mcro", nil)
	assert.Len(t, trace.Expansions[0].Markers, 3)
	assert.Contains(t, answer, "500")
}

// TestMapURL checks for whom "?scripter-map" leads to the web page.
func TestMapURL(t *testing.T) {
	s := newSite(t)
	page := &echoAdmin{answers: true}
	s.g.SetAdmin(page)
	s.page("p.mcro", "p")
	s.script("text", "")
	s.put("suites.webserverScripts.text", objectdb.Text("<html><!--#clientIP-->"))
	s.script("run", `return "run"`)
	location := func(path string, more map[string]string) string {
		resp := s.ask(path, more)
		if resp.Status == 303 {
			assert.Equal(t, "private, no-store", resp.Get("Cache-Control"))
		}
		return resp.Get("Location")
	}
	to := func(page string) string { return "/scripter/map?url=" + url.QueryEscape(page) }
	assert.Equal(t, to("/p.mcro"), location("/p.mcro?scripter-map", nil))
	assert.Equal(t, to("/p.mcro?a=1&b=%26"), location("/p.mcro?a=1&scripter-map=1&b=%26", nil))
	assert.Equal(t, to("/text.fcgi"), location("/text.fcgi?scripter-map", nil))
	assert.Equal(t, to("/p.mcro"), location("/p.mcro?scripter-map", map[string]string{"REQUEST_METHOD": "HEAD"}))
	for _, path := range []string{"/p.mcro", "/p.mcro?x=scripter-map", "/p.mcro?scripter-maps", "/run.fcgi?scripter-map", "/none.fcgi?scripter-map"} {
		assert.Empty(t, location(path, nil), path)
	}
	assert.Empty(t, location("/p.mcro?scripter-map", map[string]string{"REQUEST_METHOD": "POST"}))
	page.answers = false
	assert.Empty(t, location("/p.mcro?scripter-map", nil), "nobody may use the web page")
	page.answers = true
	s.put(site.AdminPath.Address().String(), objectdb.String(""))
	assert.Empty(t, location("/p.mcro?scripter-map", nil), "there is no web page")
}
