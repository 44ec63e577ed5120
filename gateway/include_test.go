package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// file writes a file below the document root.
func (s *testSite) file(path, text string) {
	s.t.Helper()
	path = filepath.Join(s.folder, path)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o644))
}

func TestInclude(t *testing.T) {
	s := newSite(t)
	s.put("user.title", objectdb.String("Tea"))
	s.put("user.parts.foot", objectdb.Text(`foot of <!--#user.title-->`))
	s.put("user.rows.a", objectdb.String("<1>"))
	s.put("user.rows.b", objectdb.String("2"))
	s.put("user.n", objectdb.Number(3))
	s.put("user.run", objectdb.Script("return 1"))
	s.put("user.webserver.debugToken", objectdb.String("seesame"))
	s.put("user.words", objectdb.Script(`return webserver.processMacros ("<!--#include (parts/name.mcro)-->", {name = "<ada>"})`))
	s.file("parts/head.mcro", `<h1><!--#user.title--></h1>`)
	s.file("head.mcro", `[head <!--#include ("parts/head.mcro")-->]`)
	s.file("parts/row.mcro", `<!--#row.index-->:<!--#row-->;`)
	s.file("parts/name.mcro", `<!--#name-->`)
	s.file("parts/own.mcro", `<!--#layout (parts/box.mcro)-->own<!--#block side-->S<!--#end-->`)
	s.file("parts/box.mcro", `{<!--#content-->|<!--#content (side)-->}`)
	s.file("a.mcro", `a<!--#include (b.mcro)-->`)
	s.file("b.mcro", `b<!--#include (a.mcro)-->`)
	s.file(".secret/x.mcro", `seesame`)
	s.file("deep.mcro", ``)
	for i := range 20 {
		s.put("user.deep.d"+string(rune('a'+i)), objectdb.Text(`.<!--#include (user.deep.d`+string(rune('b'+i))+`)-->`))
	}
	for page, want := range map[string]string{
		`<!--#include (parts/head.mcro)-->|<!--#include (head.mcro)-->|<!--#include(/parts/head.mcro)-->`: `<h1>Tea</h1>|[head <h1>Tea</h1>]|<h1>Tea</h1>`,
		`<!--#include (user.parts.foot)-->`:                                       "foot of Tea",
		`<!--#for row in user.rows--><!--#include (parts/row.mcro)--><!--#end-->`: "1:&lt;1&gt;;2:2;",
		`<!--#user.words ()-->`:                                                   "&lt;ada&gt;",
		`1<!--#include (parts/own.mcro)-->2`:                                      "1{own|S}2",
		`<!--#include (a.mcro)-->.`:                                               "ab.",
		`x<!--#include (parts/none.mcro)-->y`:                                     "xy",
		`x<!--#include (../x.mcro)-->y`:                                           "xy",
		`x<!--#include (.secret/x.mcro)-->y`:                                      "xy",
		`x<!--#include (user.n)-->y`:                                              "xy",
		`x<!--#include (user.run)-->y`:                                            "xy",
		`x<!--#include (referer)-->y`:                                             "xy",
		`x<!--#include (searchTable.page)-->y`:                                    "xy",
		`x<!--#include (user.webserver.debugToken)-->y`:                           "xy",
		`x<!--#include ()-->y`:                                                    "xy",
		`x<!--#include (a.mcro, b)-->y`:                                           "xy",
		`x<!--#include (user.words ())-->y`:                                       "xy",
		`<!--#include (user.deep.da)-->`:                                          strings.Repeat(".", maxNesting-1),
		`<!--#include virtual="/x" --><!--#content-->`:                            `<!--#include virtual="/x" -->`,
	} {
		assert.Equal(t, want, s.expanded(page, "page=parts/head.mcro"), page)
	}
	log := s.log.String()
	for _, want := range []string{
		"the page is within itself: ", "a.mcro → ", ", from suites.webserverScripts.expanded, line 1, column 1)", "content stands in a layout", "pages within pages go deeper than 16",
		"user.n is a number, not a text", "debugToken is a secret", "there is no page at",
	} {
		assert.Contains(t, log, want)
	}

	// The site's own script named include takes precedence over the marker.
	s.put("suites.webserver.macros.include", objectdb.Script(`return "own " .. tostring (...)`))
	assert.Equal(t, "own head.mcro", s.expanded("<!--#include (head.mcro)-->", ""))
}

func TestLayout(t *testing.T) {
	s := newSite(t)
	s.put("user.yes", objectdb.Boolean(true))
	s.put("user.rows.a", objectdb.String("x"))
	s.put("user.bad", objectdb.Script("scratchpad.n = 1 error ('no')"))
	s.put("user.set", objectdb.Script("title = 'set' return ''"))
	s.put("user.count", objectdb.Script("scratchpad.n = (scratchpad.n or 0) + 1 return scratchpad.n"))
	s.file("page.mcro", `<title><!--#block title-->Site<!--#end--></title><!--#include (head.mcro)--><main><!--#content--></main><!--#content (side)-->`)
	s.file("head.mcro", `<!--#block head-->h<!--#end-->`)
	s.file("middle.mcro", `<!--#layout (page.mcro)--><!--#block title-->Middle<!--#end--><!--#block head-->M<!--#end--><div><!--#content--></div>`)
	s.file("global.mcro", `<!--#title-->|<!--#content-->`)
	s.file("plain.mcro", `<!--#content-->`)
	for page, want := range map[string]string{
		`<!--#layout (page.mcro)-->Hello`: `<title>Site</title>h<main>Hello</main>`,
		`<!--#layout (page.mcro)--><!--#block title-->My <!--#searchTable.q--><!--#end-->Hello<!--#block side-->S<!--#end-->!`: `<title>My &lt;</title>h<main>Hello!</main>S`,
		`<!--#layout (middle.mcro)-->Hi`:                                                                   `<title>Middle</title>M<main><div>Hi</div></main>`,
		`<!--#layout (middle.mcro)-->Hi<!--#block title-->T<!--#end-->`:                                    `<title>T</title>M<main><div>Hi</div></main>`,
		`<!--#layout (page.mcro)--><!--#if user.yes--><!--#block title-->If<!--#end--><!--#end-->`:         `<title>If</title>h<main></main>`,
		`before <!--#layout (page.mcro)-->after`:                                                           `<title>Site</title>h<main>before after</main>`,
		`<!--#if user.yes--><!--#layout (plain.mcro)--><!--#else--><!--#layout (page.mcro)--><!--#end-->x`: `x`,
		`<!--#if not user.yes--><!--#layout (plain.mcro)--><!--#end-->x<!--#block a-->b<!--#end-->`:        `xb`,
		`<!--#layout (global.mcro)--><!--#user.set ()-->x`:                                                 `set|x`,
		`<!--#layout (none.mcro)-->x<!--#block a-->b<!--#end-->`:                                           `xb`,
		`<!--#layout (plain.mcro)--><!--#layout (page.mcro)-->x`:                                           `x`,
		`<!--#layout (plain.mcro)-->a<!--#user.bad ()--><!--#nothing-->b`:                                  `ab`,
		`<!--#layout (plain.mcro)--><!--#block a--><!--#user.count ()--><!--#end-->`:                       ``,
		`<!--#layout (plain.mcro)--><!--#content-->x`:                                                      `x`,
	} {
		assert.Equal(t, want, s.expanded(page, "q=%3C"), page)
	}
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))
	log := s.log.String()
	assert.Contains(t, log, "the page has a layout already: ")
	assert.Contains(t, log, "there is no page at")

	// A page is HTML if its layout or a part of it is.
	s.file("whole.mcro", `<html><!--#content--></html>`)
	for page, want := range map[string]string{
		"x": "text/plain", `<!--#layout (whole.mcro)-->x`: "text/html", `<!--#include (whole.mcro)-->x`: "text/html",
		`<!--#layout (plain.mcro)-->x`: "text/plain", `<!--#raw (searchTable.h)-->`: "text/plain",
	} {
		s.put("suites.webserverScripts.expanded", objectdb.Text(page))
		kind := s.ask("/expanded.fcgi?h=%3Chtml%3E", nil).Get("Content-Type")
		assert.Equal(t, want+"; charset=utf-8", kind, page)
	}

	s.put("suites.webserver.macros.content", objectdb.String("own"))
	assert.Equal(t, "own", s.expanded("<!--#content-->", ""), "not in a layout")
	assert.Equal(t, "x", s.expanded("<!--#layout (plain.mcro)-->x", ""), "in a layout")
	s.put("suites.webserver.macros.layout", objectdb.Script(`return "own"`))
	assert.Equal(t, "ownx", s.expanded("<!--#layout (plain.mcro)-->x", ""))
}

// TestPartsFollowTheirFiles checks that a change of a part is seen at once.
func TestPartsFollowTheirFiles(t *testing.T) {
	s := newSite(t)
	s.put("user.part", objectdb.Text("one"))
	page := `<!--#include (user.part)--> <!--#include (part.mcro)-->`
	for _, text := range []string{"one", "three", "fifteen"} {
		s.put("user.part", objectdb.Text(text))
		s.file("part.mcro", text)
		assert.Equal(t, text+" "+text, s.expanded(page, ""))
	}
}

// TestTraceOfParts checks that the traces of a page, its parts and its layout lie in one another.
func TestTraceOfParts(t *testing.T) {
	s := newSite(t)
	s.put("user.rows.a", objectdb.String("x"))
	s.put("user.rows.b", objectdb.String("y"))
	s.file("layout.mcro", `<html><!--#content (t)--><!--#content--></html>`)
	s.file("row.mcro", `(<!--#r-->)`)
	s.page("p.mcro", `<!--#layout (layout.mcro)-->1<!--#for r in user.rows--><!--#include (row.mcro)--><!--#end-->2<!--#block t--><!--#clientIP--><!--#end-->`)
	trace, answer := s.traceMarkers("/p.mcro", nil)
	require.Len(t, trace.Expansions, 4)
	page, layout := trace.Expansions[0], trace.Expansions[3]
	assert.Equal(t, "1(x)(y)2", page.Text)
	assert.Equal(t, layout.Markers[1], page.In)
	assert.Nil(t, layout.In)
	assert.True(t, strings.HasSuffix(answer, layout.Text), answer)
	for _, e := range trace.Expansions {
		for _, m := range e.Markers {
			if m.Start >= 0 {
				assert.Equal(t, m.Text, e.Text[m.Start:m.Start+len(m.Text)], m.Marker.Text)
			}
		}
	}
	item := trace.Expansions[2].Markers[0]
	assert.Equal(t, InItem, item.Found)
	assert.Equal(t, "user.rows.b", item.Address.String())
}
