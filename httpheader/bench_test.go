package httpheader

import (
	"strings"
	"testing"
)

// answer is what a script returns in most cases.
var answer = "HTTP/1.0 200 OK\r\nServer: Apache/2.4.71 (Debian)\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n" +
	strings.Repeat("<p>Hello, world.\n", 100)

func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Build("200 OK", "text/html", "Apache/2.4.71 (Debian)")
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Parse(answer)
	}
}

func BenchmarkAppendParsed(b *testing.B) {
	r, err := Parse(answer)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = r.AppendParsed(dst[:0])
	}
}

// BenchmarkAnswer is all that a request needs of this package.
func BenchmarkAnswer(b *testing.B) {
	dst := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		header, _ := Build("200 OK", "text/html", "Apache/2.4.71 (Debian)")
		r, _ := Parse(header)
		r.Set("Cache-Control", "private, no-cache")
		dst, _ = r.AppendParsed(dst[:0])
	}
}

func BenchmarkMatchETag(b *testing.B) {
	for b.Loop() {
		MatchETag(`"5f-1234567890abcdef", W/"60-1234567890abcdef-gzip"`, `"60-1234567890abcdef"`)
	}
}
