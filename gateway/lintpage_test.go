package gateway

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestLintPage(t *testing.T) {
	s := newSite(t)
	s.put("user.title", objectdb.String("Tea"))
	s.put("user.show", objectdb.Script("return 1"))
	s.put("user.webserver.debugToken", objectdb.String("seesame"))
	s.put("user.rows.a", objectdb.String("x"))
	s.script("write", `user.note = params.searchTable.q return "ok"`)
	require.Equal(t, 200, s.ask("/write.fcgi?q=%3Cb%3E", nil).Status)
	s.file("parts/row.mcro", `<!--#row.name--><!--#raw (row.name)--><!--#user.missing-->`)
	s.file("parts/layout.mcro", `<script><!--#searchTable.q--></script><!--#content-->`)
	lint := func(page string) string {
		s.file("p.mcro", page)
		found, err := s.g.LintFile(t.Context(), s.request("/p.mcro", nil), filepath.Join(s.folder, "p.mcro"))
		require.NoError(t, err)
		var lines []string
		for _, f := range found {
			rest, _ := strings.CutPrefix(f.String(), s.folder+"/")
			lines = append(lines, f.Rule+" "+rest)
		}
		return strings.Join(lines, "\n")
	}
	for page, want := range map[string]string{
		`<!--#user.title--> <!--#user.show (searchTable.q)--> <!--#html (user.note)--> <!--#counter (home)-->`: "",
		`<!--#if user.perhaps and searchTable.q == "x"--><!--#title--><!--#else--><!--#referer--><!--#end-->`:  "",
		`<!--#for e in user.guests--><!--#e.name--><!--#else-->none<!--#end-->`:                                "",
		`<!--#html.escape (user.note)--> <!--#html (string.upper (user.note))-->`:                              "refused p.mcro:1:33: <!--#html (string.upper (user.note))-->: string.upper is not for pages: " + mayCall,

		`<!--#markdown.html (user.note)--><!--#qr.svg (searchTable.q)-->`: "",
		`<script><!--#markdown.html (user.note)--></script>`: "place p.mcro:1:9: <!--#markdown.html (user.note)-->: " +
			"what comes from a visitor or from data cannot stand in the element script, where it would be code: " +
			"put it into an attribute such as data-name, and read that",

		`<!--#user.-->`:                                     `syntax p.mcro:1:1: <!--#user.-->: expected a name after ".", found the end of the marker`,
		"\n<!--#if user.title-->":                           "syntax p.mcro:2:1: <!--#if user.title-->: it has no <!--#end-->",
		`<!--#user.titel-->`:                                "missing p.mcro:1:1: <!--#user.titel-->: user.titel names nothing",
		`<!--#user.title ()-->`:                             "missing p.mcro:1:1: <!--#user.title ()-->: user.title is no script",
		`<!--#for e in user.guests--><!--#end-->`:           "missing p.mcro:1:1: <!--#for e in user.guests-->: user.guests names nothing",
		`<!--#user.webserver.debugToken-->`:                 "refused p.mcro:1:1: <!--#user.webserver.debugToken-->: user.webserver.debugToken is a secret: markers cannot see it, but scripts can",
		`<p <!--#searchTable.q-->>`:                         "place p.mcro:1:4: <!--#searchTable.q-->: what comes from a visitor or from data cannot stand in a tag, outside of the value of an attribute",
		`<!--#user.note-->`:                                 "visitor p.mcro:1:1: <!--#user.note-->: a request has written user.note, and it is inserted as HTML: html (user.note) escapes it",
		`<!--#raw (searchTable.q)-->`:                       "visitor p.mcro:1:1: <!--#raw (searchTable.q)-->: it inserts what a visitor may have written, and does not escape it",
		`<a href="/?q=<!--#url.encode (searchTable.q)-->">`: "",
		`<!--#text.trim (searchTable.q)-->`:                 "visitor p.mcro:1:1: <!--#text.trim (searchTable.q)-->: text.trim gives what a visitor may have written, and it is inserted as HTML: html (text.trim (…)) escapes it",
		`<!--#include (none.mcro)-->`:                       "missing p.mcro:1:1: <!--#include (none.mcro)-->: there is no page at " + s.folder + "/none.mcro: no regular file that may be read, or a link leads out of the folders that pages come from",
		`<!--#layout (parts/layout.mcro)--><!--#for row in user.rows--><!--#include (parts/row.mcro)--><!--#end-->`: "place parts/layout.mcro:1:9: <!--#searchTable.q-->: what comes from a visitor or from data cannot stand in the element script, where it would be code: put it into an attribute such as data-name, and read that\n" +
			"visitor parts/row.mcro:1:17: <!--#raw (row.name)-->: it inserts what a visitor may have written, and does not escape it\n" +
			"missing parts/row.mcro:1:39: <!--#user.missing-->: user.missing names nothing",
		`<!--#include (p.mcro)-->`: "missing p.mcro:1:1: <!--#include (p.mcro)-->: the page is within itself: " + s.folder + "/p.mcro → " + s.folder + "/p.mcro",
	} {
		assert.Equal(t, want, lint(page), page)
	}

	s.put("suites.webserverScripts.about", objectdb.Text("<!--#user.titel-->"))
	s.put("user.loose", objectdb.Text("<!--#user.titel-->"))
	for address, want := range map[string]int{"": 1, "suites": 1, "user.loose": 1, "user": 0} {
		a, err := objectdb.ParseAddress(address)
		require.NoError(t, err)
		found, _, err := s.g.LintTexts(t.Context(), a)
		require.NoError(t, err)
		assert.Len(t, found, want, address)
	}
}
