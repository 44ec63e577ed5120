package macros

import (
	"strings"
	"testing"
)

// page is a page as people write them: 10 KB of HTML and 10 markers.
var page = strings.Repeat(strings.Repeat("<p class=\"text\">Some words of a page, <a href=\"/x.html\">a link</a>.</p>\n", 28)+
	`<td><!--#clock.now ()--></td>`, 5) + strings.Repeat(`<p><!--#counter(home, "www.example.com")-->`, 5)

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(page)
	}
}

func BenchmarkExpand(b *testing.B) {
	p := Parse(page)
	w := writer{make([]byte, 0, 2*len(page)), func(*Marker) (string, error) { return "12,345", nil }}
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		w.dst = w.dst[:0]
		_ = p.Expand(&w)
	}
}

func BenchmarkParseUnfinished(b *testing.B) {
	text := strings.Repeat(`<!--#f("`, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text)
	}
}
