package fetch

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/site"
)

// list returns what lines such as "fetch-private: 127.0.0.1:80" list.
func list(t *testing.T, lines ...string) site.Reach {
	t.Helper()
	var r site.Reach
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ": ")
		require.NoError(t, r.Add(key, value))
	}
	return r
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// serve starts a server on loopback and returns its URL and its host with the port.
func serve(t *testing.T, h http.HandlerFunc) (base, host string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

func do(c *Client, r Request) (*Response, error) {
	if r.Timeout == 0 {
		r.Timeout = 10 * time.Second
	}
	if r.MaxBytes == 0 {
		r.MaxBytes = 1 << 20
	}
	return c.Do(context.Background(), r)
}

func TestDo(t *testing.T) {
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s %q", r.Method, r.URL, r.UserAgent(), r.Header.Get("X-Key"), body)
	})
	c := newClient(t, Options{Reach: list(t, "fetch-private: "+host), Agent: "Scripter/1"})
	a, err := do(c, Request{URL: base + "/a?b=1#c", Header: http.Header{"x-key": {"k"}}})
	require.NoError(t, err)
	assert.Equal(t, http.StatusTeapot, a.Status)
	assert.Equal(t, `GET /a?b=1 Scripter/1 k ""`, a.Body)
	assert.Equal(t, []string{"a", "b"}, a.Header["X-Two"])
	assert.Equal(t, base+"/a?b=1", a.URL)

	a, err = do(c, Request{URL: base, Method: "POST", Body: "data", Header: http.Header{"User-Agent": {"mine"}}})
	require.NoError(t, err)
	assert.Equal(t, `POST / mine  "data"`, a.Body)
	a, err = do(c, Request{URL: base, Method: "HEAD"})
	require.NoError(t, err)
	assert.Empty(t, a.Body)
}

// TestHosts has what is refused before anything is sent, whatever the resolver says.
func TestHosts(t *testing.T) {
	c := newClient(t, Options{Reach: list(t, "fetch: api.example.com *.example.org:8443 https://tls.example 93.184.216.34",
		"fetch-private: 10.0.0.5:8080 [::1]:9000 intern")})
	for _, u := range []string{
		"http://api.example.com/", "https://api.example.com/x?y", "HTTPS://API.Example.COM.:443/",
		"https://a.example.org:8443", "http://a.b.example.org:8443/", "https://tls.example/", "http://93.184.216.34",
		"http://10.0.0.5:8080", "http://[::1]:9000/", "http://[0:0::1]:9000/", "http://[::ffff:10.0.0.5]:8080/", "http://intern",
	} {
		_, err := c.Check(u)
		assert.NoError(t, err, u)
	}
	for u, want := range map[string]string{
		"http://api.example.com:8080/":             `add the line "fetch: api.example.com:8080"`,
		"http://tls.example/":                      `add the line "fetch: tls.example"`,
		"http://example.org:8443":                  "no host that",
		"http://xexample.org:8443":                 "no host that",
		"http://api.example.com.evil.com/":         "no host that",
		"http://api.example.com@evil.com/":         "a user or a password",
		"http://user:geheim@api.example.com/":      "a user or a password",
		"http://api.example.com:pw@evil.com/":      "a user or a password",
		"http://evil.com\\@api.example.com/":       "cannot be read",
		"http://evil.com#@api.example.com/":        "no host that",
		"http://10.0.0.5/":                         `add the line "fetch-private: 10.0.0.5" there, or give the program --fetch-private 10.0.0.5`,
		"http://localhost/":                        `"fetch-private: localhost"`,
		"http://[::1]/":                            `"fetch-private: [::1]"`,
		"http://2130706433/":                       "neither the name of a host",
		"http://0x7f000001/":                       "neither the name of a host",
		"http://0177.0.0.1/":                       "neither the name of a host",
		"http://127.1/":                            "neither the name of a host",
		"http://0/":                                "neither the name of a host",
		"http://0.0.0.0/":                          "no host that",
		"http://[::]/":                             "no host that",
		"http://[::ffff:127.0.0.1]/":               "127.0.0.1 is no host that",
		"http://[fe80::1%25eth0]/":                 "neither the name of a host",
		"http://169.254.169.254/latest/meta-data/": "no host that",
		"http://\u24d4xample.com/":                 "neither the name of a host",
		"http://a b/":                              "cannot be read",
		"http:///path":                             "neither the name of a host",
		"http:api.example.com":                     "neither the name of a host",
		"//api.example.com/":                       "no URL that begins with http",
		"/path":                                    "no URL that begins with http",
		"file:///etc/passwd":                       "no URL that begins with http",
		"gopher://api.example.com/":                "no URL that begins with http",
		"javascript:1":                             "no URL that begins with http",
		"":                                         "no URL that begins with http",
		"http://api.example.com/\n":                "cannot be read",
		"http://api.example.com:x/":                "cannot be read",
		"http://" + strings.Repeat("a", 20000):     "more than 16384",
	} {
		_, err := c.Check(u)
		var refused *Refused
		if assert.ErrorAs(t, err, &refused, u) {
			assert.Contains(t, err.Error(), want, u)
			assert.NotContains(t, err.Error(), "geheim")
		}
	}
	_, err := newClient(t, Options{}).Check("https://api.example.com/")
	assert.ErrorContains(t, err, `api.example.com is no host that scripter.conf lists: add the line "fetch: api.example.com" there`)
}

// TestAddresses has the addresses that the name of a listed host may be resolved to.
func TestAddresses(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"0.0.0.0", "0.1.2.3", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254",
		"ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "100::1", "5f00::1",
	} {
		a := address(text)
		assert.ErrorContains(t, checkPublic("h.example", "8080", a), `list it in scripter.conf as "fetch-private: h.example:8080"`, text)
	}
	for _, text := range []string{"93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"} {
		assert.NoError(t, checkPublic("h.example", "", address(text)), text)
	}
	for _, text := range []string{"127.0.0.1", "10.1.2.3", "192.168.1.1", "::1", "fc00::1", "93.184.216.34"} {
		assert.NoError(t, checkPrivate("h.example", "", address(text)), text)
	}
	for _, text := range []string{"169.254.169.254", "fe80::1", "fd00:ec2::254", "0.0.0.0", "::", "224.0.0.1"} {
		a := address(text)
		assert.ErrorContains(t, checkPrivate("h.example", "", a), "only if scripter.conf lists the address itself", text)
		assert.NoError(t, checkPrivate(text, "", a), text)
	}
}

// TestRebinding: a name of a listed host that leads to this machine, or begins to do so after it was looked up before.
func TestRebinding(t *testing.T) {
	asked := 0
	base, host := serve(t, func(w http.ResponseWriter, _ *http.Request) { asked++ })
	_, port, err := net.SplitHostPort(host)
	require.NoError(t, err)
	names := newNames(t)
	u := "http://rebind.example:" + port
	public := newClient(t, Options{Reach: list(t, "fetch: *.example:"+port+" rebind.example:"+port), Resolver: names.resolver()})
	for _, address := range []string{"127.0.0.1", "169.254.169.254", "0.0.0.0", "10.0.0.1"} {
		names.set("rebind.example.", address)
		_, err := do(public, Request{URL: u})
		var refused *Refused
		require.ErrorAs(t, err, &refused, address)
		assert.Equal(t, "rebind.example has the address "+address+", which is not of the public internet; if scripts may ask "+
			`it, list it in scripter.conf as "fetch-private: rebind.example:`+port+`"`, err.Error())
	}
	assert.Zero(t, asked)
	_, err = do(public, Request{URL: "http://unknown.example:" + port})
	require.EqualError(t, err, "unknown.example:"+port+": its name cannot be resolved: no such host")

	private := newClient(t, Options{Reach: list(t, "fetch-private: rebind.example:"+port), Resolver: names.resolver()})
	names.set("rebind.example.", "127.0.0.1")
	_, err = do(private, Request{URL: u})
	require.NoError(t, err)
	assert.Equal(t, 1, asked)
	private.Close()
	names.set("rebind.example.", "169.254.169.254")
	_, err = do(private, Request{URL: u})
	require.ErrorContains(t, err, "only if scripter.conf lists the address itself")

	// Decimal and short addresses, which the system's resolver knows, are no hosts, whatever is listed.
	all := newClient(t, Options{Reach: list(t, "fetch: *")})
	for _, h := range []string{"2130706433", "0x7f.1", "127.1", "127.0.0.1", "localhost"} {
		_, err := do(all, Request{URL: "http://" + h + ":" + port})
		assert.Error(t, err, h)
	}
	assert.Equal(t, 1, asked)
	assert.NotEmpty(t, base)
}

func TestRedirects(t *testing.T) {
	var got []string
	note := func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %s %s%s%s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"),
			r.Header.Get("X-Key"), r.Header.Get("Cookie"), body))
	}
	other, otherHost := serve(t, func(w http.ResponseWriter, r *http.Request) { note(r); io.WriteString(w, "other") })
	secret, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the private host was asked") })
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		status := http.StatusFound
		if r.URL.Query().Has("status") {
			fmt.Sscan(r.URL.Query().Get("status"), &status)
		}
		to := map[string]string{
			"/same": "/end", "/other": other + "/end", "/loop": "/loop", "/secret": secret + "/", "/user": "http://a:b@" + otherHost,
			"/file": "file:///etc/passwd", "/metadata": "http://169.254.169.254/", "/bad": "http://%zz/", "/none": "",
		}[r.URL.Path]
		if to == "" && r.URL.Path != "/none" {
			io.WriteString(w, "end")
			return
		}
		if to != "" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(status)
	})
	c := newClient(t, Options{Reach: list(t, "fetch-private: "+host+" "+otherHost)})
	header := http.Header{"Authorization": {"A"}, "X-Key": {"K"}, "Cookie": {"C"}, "Content-Type": {"text/plain"}}
	for _, test := range []struct{ method, path, body, want string }{
		{"GET", "/same", "end", "GET /same AKC |GET /end AKC "},
		{"GET", "/other", "other", "GET /other AKC |GET /end  "},
		{"POST", "/same", "end", "POST /same AKC data|GET /end AKC "},
		{"POST", "/same?status=307", "end", "POST /same AKC data|POST /end AKC data"},
		{"POST", "/other?status=308", "other", "POST /other AKC data|POST /end  data"},
		{"PUT", "/same", "end", "PUT /same AKC data|PUT /end AKC data"},
		{"PUT", "/same?status=303", "end", "PUT /same AKC data|GET /end AKC "},
		{"GET", "/none", "", "GET /none AKC "},
	} {
		got = nil
		r := Request{Method: test.method, URL: base + test.path, Header: header, Redirects: 3}
		if test.method != "GET" {
			r.Body = "data"
		}
		a, err := do(c, r)
		require.NoError(t, err, test.path)
		assert.Equal(t, test.body, a.Body, test.path)
		assert.Equal(t, test.want, strings.Join(got, "|"), test.method+" "+test.path)
	}
	assert.Equal(t, "A", header.Get("Authorization"), "the request is as it was")
	for path, want := range map[string]string{
		"/loop": "more than 3 redirects", "/secret": "no host that scripter.conf lists", "/user": "a user or a password",
		"/file": "no URL that begins with http", "/metadata": "no host that", "/bad": "leads to a URL that cannot be read",
	} {
		_, err := do(c, Request{URL: base + path, Redirects: 3})
		assert.ErrorContains(t, err, want, path)
	}
	a, err := do(c, Request{URL: base + "/secret"})
	require.NoError(t, err, "a redirect that is not followed is an answer")
	assert.Equal(t, []any{http.StatusFound, secret + "/"}, []any{a.Status, a.Header.Get("Location")})
}

func TestTLS(t *testing.T) {
	plain, plainHost := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked without TLS") })
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, plain, http.StatusFound)
		}
		io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	reach := list(t, "fetch-private: "+strings.TrimPrefix(s.URL, "https://")+" "+plainHost)
	_, err := do(newClient(t, Options{Reach: reach}), Request{URL: s.URL})
	assert.ErrorContains(t, err, "certificate")
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := newClient(t, Options{Reach: reach, RootCAs: roots})
	a, err := do(c, Request{URL: s.URL})
	require.NoError(t, err)
	assert.Equal(t, "HTTP/2.0", a.Body)
	_, err = do(c, Request{URL: s.URL + "/down", Redirects: 1})
	assert.ErrorContains(t, err, "it leads from https to http")
}

func TestLimits(t *testing.T) {
	stop := make(chan struct{})
	base, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-stop
		case "/drip":
			w.WriteHeader(200)
			for w.(http.Flusher).Flush(); ; time.Sleep(10 * time.Millisecond) {
				if _, err := io.WriteString(w, "x"); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		case "/long":
			io.WriteString(w, strings.Repeat("x", 1001))
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			block := make([]byte, 1<<20)
			for range 1000 {
				if _, err := z.Write(block); err != nil {
					return
				}
			}
			z.Close()
		case "/endless":
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}
	})
	t.Cleanup(func() { close(stop) })
	c := newClient(t, Options{Reach: list(t, "fetch-private: "+host)})
	for _, path := range []string{"/long", "/bomb", "/endless"} {
		_, err := do(c, Request{URL: base + path, MaxBytes: 1000})
		assert.ErrorIs(t, err, ErrTooLarge, path)
	}
	a, err := do(c, Request{URL: base + "/long", MaxBytes: 1001})
	require.NoError(t, err)
	assert.Len(t, a.Body, 1001)
	for _, path := range []string{"/slow", "/drip"} {
		begin := time.Now()
		_, err := do(c, Request{URL: base + path, Timeout: 200 * time.Millisecond})
		assert.ErrorContains(t, err, "has not answered within 200ms", path)
		assert.Less(t, time.Since(begin), 5*time.Second)
	}
	_, err = do(c, Request{URL: base + "/header"})
	assert.ErrorContains(t, err, "exceeded")
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the visitor is gone")
	time.AfterFunc(100*time.Millisecond, func() { cancel(gone) })
	_, err = c.Do(ctx, Request{URL: base + "/slow", Timeout: time.Minute, MaxBytes: 1})
	assert.ErrorIs(t, err, gone)
}

func TestRequestsThatAreRefused(t *testing.T) {
	c := newClient(t, Options{Reach: list(t, "fetch: api.example.com")})
	for want, r := range map[string]Request{
		"the method CONNECT is not":   {Method: "CONNECT"},
		"the method TRACE is not":     {Method: "TRACE"},
		`"get" is no method`:          {Method: "get"},
		`"GET / HTTP/1.1\r\nX: y`:     {Method: "GET / HTTP/1.1\r\nX: y"},
		"control character":           {Header: http.Header{"X": {"a\r\nY: b"}}},
		"control character U+0000":    {Header: http.Header{"X": {"\x00"}}},
		"no name may have":            {Header: http.Header{"X: y\r\nZ": {"a"}}},
		"has no name":                 {Header: http.Header{"": {"a"}}},
		"Host is made by":             {Header: http.Header{"host": {"evil"}}},
		"Content-Length is made by":   {Header: http.Header{"Content-Length": {"3"}}},
		"Transfer-Encoding is made":   {Header: http.Header{"transfer-encoding": {"chunked"}}},
		"Proxy-Authorization is made": {Header: http.Header{"Proxy-Authorization": {"x"}}},
		"more than 65536":             {Header: http.Header{"X": strings.Fields(strings.Repeat("0123456789abcdef ", 5000))}},
	} {
		r.URL = "http://api.example.com/"
		_, err := do(c, r)
		var refused *Refused
		require.ErrorAs(t, err, &refused, want)
		assert.Contains(t, err.Error(), want)
	}
}

// TestNoProxy: a proxy of the environment would connect to addresses that nobody checks.
func TestNoProxy(t *testing.T) {
	proxy, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy)
	}
	base, host := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "direct") })
	a, err := do(newClient(t, Options{Reach: list(t, "fetch-private: "+host)}), Request{URL: base})
	require.NoError(t, err)
	assert.Equal(t, "direct", a.Body)
}

// FuzzCheck checks that no URL leads to a host that is not listed, as the client that connects reads it.
func FuzzCheck(f *testing.F) {
	for _, u := range []string{"http://api.example.com/", "http://api.example.com@evil/", "https://a.api.example.com:443#@x", "http://[::1]/"} {
		f.Add(u)
	}
	c := New(Options{Reach: site.Reach{Fetch: []string{"api.example.com", "*.example.org"}}})
	f.Fuzz(func(t *testing.T, text string) {
		u, err := c.Check(text)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		require.NoError(t, err)
		host := again.Hostname()
		if host != "api.example.com" && !strings.HasSuffix(host, ".example.org") || again.User != nil {
			t.Fatalf("%q leads to %q", text, host)
		}
	})
}
