// Package fetch asks other hosts by HTTP: those that scripter.conf lists, and no others.
//
// A [Client] compares the host of each request, and of each redirect, with the list. Then it compares the address
// that it connects to, whatever the name of the host has been resolved to before: only a host of a line fetch-private
// may have an address that is not of the public internet.
//
//	c := fetch.New(fetch.Options{Reach: reach})
//	answer, err := c.Do(ctx, fetch.Request{URL: "https://api.example.com/rates", Timeout: 5 * time.Second, MaxBytes: 1 << 20})
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"scripter/site"
)

// Options say what a Client may reach. Reach is needed, the rest has defaults.
type Options struct {
	Reach    site.Reach
	Agent    string         // User-Agent of requests that set none; "" = Scripter
	RootCAs  *x509.CertPool // whose certificates are trusted; nil = the system's
	Resolver *net.Resolver  // nil = the system's
}

// A Client makes requests. It has no cookies and no passwords. It is safe for concurrent use. Clients share no
// connections, so each root has one of its own.
type Client struct {
	options         Options
	public, private *http.Transport
}

// The times and sizes that no caller changes.
const (
	dialTime     = 10 * time.Second
	idleTime     = 30 * time.Second
	idlePerHost  = 4
	maxHeader    = 64 << 10 // of a request, and of a response
	maxURL       = 16 << 10
	maxRedirects = 20
)

// New returns a client. It opens no connection yet.
func New(o Options) *Client {
	if o.Agent == "" {
		o.Agent = "Scripter"
	}
	c := &Client{options: o}
	c.public, c.private = c.transport(checkPublic), c.transport(checkPrivate)
	return c
}

// transport returns a transport that connects to an address only if check allows it. There is no proxy: it would
// connect to addresses that nobody checks.
func (c *Client) transport(check func(host, port string, a addr) error) *http.Transport {
	return &http.Transport{
		DialContext:            c.dialer(check),
		TLSClientConfig:        &tls.Config{RootCAs: c.options.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// Close closes the connections that no request uses.
func (c *Client) Close() {
	c.public.CloseIdleConnections()
	c.private.CloseIdleConnections()
}

// A Request is what a client asks for.
type Request struct {
	Method    string // "" = GET
	URL       string // http or https, with neither user nor password
	Header    http.Header
	Body      string
	Timeout   time.Duration // for everything together, redirects and the body included
	MaxBytes  int64         // of the body of the answer, uncompressed
	Redirects int           // how many are followed; 0 = a redirect is an answer like others
}

// A Response is the answer. A status such as 404 or 500 is no error.
type Response struct {
	Status int
	Header http.Header
	Body   string
	URL    string // the last one, after redirects
}

// ErrTooLarge is the error for an answer with more than Request.MaxBytes.
var ErrTooLarge = errors.New("the answer is too large")

// Do makes the request and follows its redirects. The error is a [*Refused] if the request may not be made at all.
// After any other error it may be tried again.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	u, err := c.Check(r.URL)
	if err != nil {
		return nil, err
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if err := checkRequest(&r); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for hops := 0; ; hops++ {
		answer, to, err := c.ask(within, &r, u)
		switch {
		case err == nil && to == nil:
			return answer, nil
		case err == nil && hops == min(r.Redirects, maxRedirects):
			return nil, fmt.Errorf("%s: more than %d redirects", shown(r.URL), hops)
		case err == nil:
			if u, err = c.follow(&r, u, to, answer.Status); err != nil {
				return nil, fmt.Errorf("redirect of %s: %w", shown(r.URL), err)
			}
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case within.Err() != nil:
			return nil, fmt.Errorf("%s has not answered within %v", u.Host, r.Timeout)
		}
		var refused *Refused
		if errors.As(err, &refused) { // by the dialer
			return nil, refused
		}
		return nil, fmt.Errorf("%s: %w", u.Host, err)
	}
}

// ask makes one request. If a redirect is to be followed, it returns where to.
func (c *Client) ask(ctx context.Context, r *Request, u *url.URL) (answer *Response, to *url.URL, err error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), strings.NewReader(r.Body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = r.Header.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.options.Agent)
	}
	transport := c.public
	if _, private := c.options.Reach.MayFetch(u); private {
		transport = c.private
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	answer = &Response{Status: resp.StatusCode, Header: resp.Header, URL: u.String()}
	if r.Redirects > 0 && redirects(resp.StatusCode) && resp.Header.Get("Location") != "" {
		if to, err = resp.Location(); err != nil {
			err = fmt.Errorf("status %d leads to a URL that cannot be read", resp.StatusCode)
		}
		return answer, to, err
	}
	answer.Body, err = read(resp, r.MaxBytes)
	return answer, nil, err
}

// read returns the body of an answer. Go has uncompressed it, so that the limit counts what a script gets.
func read(resp *http.Response, most int64) (string, error) {
	if resp.ContentLength > most && resp.Request.Method != http.MethodHead {
		return "", ErrTooLarge
	}
	var b strings.Builder
	if resp.ContentLength > 0 {
		b.Grow(int(min(resp.ContentLength, most)))
	}
	n, err := io.Copy(&b, io.LimitReader(resp.Body, most+1))
	if err == nil && n > most {
		err = ErrTooLarge
	}
	return b.String(), err
}
