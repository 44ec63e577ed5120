package fcgi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	stdfcgi "net/http/fcgi"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// page is a small response, like that of a macro page or a script.
var page = "Status: 200 OK\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat("<p>hello</p>", 20)

// BenchmarkServer measures whole requests on a unix socket: on a kept connection, with a new
// connection for each, with a body, and with a large response. It measures net/http/fcgi for
// comparison. The figures include the client's share.
func BenchmarkServer(b *testing.B) {
	echo := func(ctx context.Context, r *fcgi.Request) {
		io.Copy(io.Discard, r.Stdin)
		io.WriteString(r.Stdout, page)
	}
	hello := func(ctx context.Context, r *fcgi.Request) { io.WriteString(r.Stdout, page) }
	large := make([]byte, 256<<10)
	b.Run("keep", func(b *testing.B) { benchKept(b, startBench(b, hello), request(1, true, "")) })
	b.Run("close", func(b *testing.B) { benchClosed(b, startBench(b, hello)) })
	b.Run("post1k", func(b *testing.B) {
		benchKept(b, startBench(b, echo), request(1, true, strings.Repeat("x", 1<<10)))
	})
	b.Run("post1M", func(b *testing.B) {
		benchKept(b, startBench(b, echo), request(1, true, strings.Repeat("x", 1<<20)))
	})
	b.Run("large256k", func(b *testing.B) {
		h := func(ctx context.Context, r *fcgi.Request) { r.Stdout.Write(large) }
		benchKept(b, startBench(b, h), request(1, true, ""))
	})
	b.Run("std/keep", func(b *testing.B) { benchKept(b, startStd(b), request(1, true, "")) })
	b.Run("std/close", func(b *testing.B) { benchClosed(b, startStd(b)) })
}

func startBench(b *testing.B, h fcgi.Handler) string {
	path := filepath.Join(b.TempDir(), "s")
	l, err := fcgi.Listen("unix:"+path, fcgi.ListenOptions{})
	require.NoError(b, err)
	s := &fcgi.Server{Handler: h}
	go s.Serve(l)
	b.Cleanup(func() { s.Close() })
	return path
}

func startStd(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(b, err)
	go stdfcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, page)
	}))
	b.Cleanup(func() { l.Close() })
	return path
}

func benchKept(b *testing.B, path string, req []byte) {
	nc, err := net.Dial("unix", path)
	require.NoError(b, err)
	defer nc.Close()
	in := newFrames(nc)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := nc.Write(req); err != nil {
			b.Fatal(err)
		}
		if err := in.untilEnd(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchClosed(b *testing.B, path string) {
	req := request(1, false, "")
	b.ReportAllocs()
	for range b.N {
		nc, err := net.Dial("unix", path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := nc.Write(req); err != nil {
			b.Fatal(err)
		}
		if err := newFrames(nc).untilEnd(); err != nil {
			b.Fatal(err)
		}
		nc.Close()
	}
}

// serverParams are about what nginx sends for a GET.
func serverParams() map[string]string {
	m := map[string]string{
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/samples.hello.fcgi", "PATH_INFO": "/extra",
		"REQUEST_URI": "/samples.hello.fcgi/extra?x=1", "QUERY_STRING": "x=1", "SERVER_PROTOCOL": "HTTP/1.1",
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_SOFTWARE": "nginx/1.26.3", "DOCUMENT_ROOT": "/var/www/html",
		"SCRIPT_FILENAME": "/var/www/html/samples.hello.fcgi", "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": "45678",
		"SERVER_ADDR": "127.0.0.1", "SERVER_PORT": "80", "SERVER_NAME": "localhost", "REDIRECT_STATUS": "200",
		"CONTENT_TYPE": "", "CONTENT_LENGTH": "", "HTTP_HOST": "localhost", "HTTP_ACCEPT": "*/*",
	}
	for i := range 10 {
		m[fmt.Sprintf("HTTP_X_HEADER_%d", i)] = strings.Repeat("v", 20)
	}
	return m
}
