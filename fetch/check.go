package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"scripter/httpheader"
	"scripter/site"
)

// Refused is the error for a request that may not be made, or not in this way. To try it again is no use.
type Refused struct{ Message string }

func (r *Refused) Error() string { return r.Message }

func refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Check returns the URL of a request if it may be made: its host is listed. The error is a [*Refused].
func (c *Client) Check(text string) (*url.URL, error) {
	u, err := parse(text)
	if err != nil {
		return nil, err
	}
	if allowed, _ := c.options.Reach.MayFetch(u); !allowed {
		rule := site.FetchRule(u)
		key := keyFor(u.Hostname())
		return nil, refuse("%s is no host that scripter.conf lists: add the line %q there, or give the program --%s %s",
			rule, key+": "+rule, key, rule)
	}
	return u, nil
}

// CheckForm returns an error for a request that no host would get: its URL, its method or a field is malformed. It
// writes the names of fields as Go does.
func CheckForm(r *Request) error {
	if _, err := parse(r.URL); err != nil {
		return err
	}
	return checkRequest(r)
}

// parse returns a URL with the canonical form of its host.
func parse(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, refuse("the URL has %d bytes, more than %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // without the URL, which may have a password
			err = parse.Err
		}
		return nil, refuse("the URL cannot be read: %v", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse("%q is no URL that begins with http:// or https://", shown(text))
	case u.User != nil:
		return nil, refuse("the URL has a user or a password before its host; put them into the header Authorization: " +
			`"Basic " .. base64.encode ("user:password")`)
	}
	host, ok := site.CanonicalHost(u.Hostname())
	if !ok {
		return nil, refuse("%q is neither the name of a host nor an IP address", clip(u.Hostname()))
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	return u, nil
}

// keyFor returns the line that may list a host.
func keyFor(host string) string {
	var r site.Reach
	if r.Add(site.KeyFetch, hostText(host)) != nil {
		return site.KeyFetchPrivate
	}
	return site.KeyFetch
}

func hostText(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// ruleText returns the rule for a host, which has a port unless that is "".
func ruleText(host, port string) string {
	if port == "" {
		return hostText(host)
	}
	return net.JoinHostPort(host, port)
}

// shown returns a URL for a message: without its query, which may have secrets, and clipped.
func shown(text string) string {
	if path, _, ok := strings.Cut(text, "?"); ok {
		text = path + "?…"
	}
	return clip(text)
}

func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// Check returns a [*Refused] for a method or a field that no request may have.
func (r *Request) Check() error { return checkRequest(r) }

// checkRequest checks the method and the fields of a request. It writes the names of the fields as Go does.
func checkRequest(r *Request) error {
	switch r.Method {
	case http.MethodConnect, http.MethodTrace:
		return refuse("the method %s is not for scripts", r.Method)
	}
	method := httpheader.Field{Name: r.Method}
	if method.CheckLine() != nil || strings.ToUpper(r.Method) != r.Method {
		return refuse("%q is no method such as GET or POST", clip(r.Method))
	}
	size, header := 0, make(http.Header, len(r.Header))
	for name, values := range r.Header {
		for _, value := range values {
			f := httpheader.Field{Name: name, Value: value}
			if err := f.CheckLine(); err != nil {
				return refuse("headers: %s", fieldError(err))
			}
			size += len(name) + len(value) + len(": \r\n")
		}
		switch name = http.CanonicalHeaderKey(name); {
		case httpheader.OfConnection(name), name == "Host", name == "Content-Length", name == "Expect":
			return refuse("headers: %s is made by http.fetch itself", name)
		}
		header[name] = append(header[name], values...)
	}
	r.Header = header
	if size > maxHeader {
		return refuse("headers: they have %d bytes, more than %d", size, maxHeader)
	}
	return nil
}

// fieldError returns the message about a field, without the words that call it one of a response.
func fieldError(err error) string {
	var e *httpheader.Error
	switch {
	case !errors.As(err, &e):
		return err.Error()
	case e.Field != "":
		return e.Field + ": " + e.Message
	}
	return e.Message
}

type addr = netip.Addr

// dialer returns a function that connects to a host. It compares the address right before the connection is made, so
// that it does not matter whether the name had another address a moment before.
func (c *Client) dialer(
	check func(host, port string, a addr) error,
) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if port == "80" || port == "443" {
			port = ""
		}
		d := net.Dialer{Timeout: dialTime, Resolver: c.options.Resolver}
		d.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return err
			}
			return check(host, port, to.Addr().Unmap())
		}
		conn, err := d.DialContext(ctx, network, address)
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			err = fmt.Errorf("its name cannot be resolved: %s", unknown.Err) // without the name server
		}
		return conn, err
	}
}

// checkPublic allows addresses of the public internet.
func checkPublic(host, port string, a addr) error {
	if site.IsPublic(a) {
		return nil
	}
	return refuse("%s has the address %v, which is not of the public internet; if scripts may ask it, list it in "+
		"scripter.conf as %q", host, a, site.KeyFetchPrivate+": "+ruleText(host, port))
}

// checkPrivate allows all addresses of hosts, of this one too. Clouds answer with passwords at an address of the link
// (169.254.169.254), so such an address must itself be listed.
func checkPrivate(host, port string, a addr) error {
	if listed, err := netip.ParseAddr(host); err == nil && listed.Unmap() == a {
		return nil
	}
	if a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || a == ec2Metadata {
		return refuse("%s has the address %v, which scripts may ask only if scripter.conf lists the address itself: %q",
			host, a, site.KeyFetchPrivate+": "+ruleText(a.String(), port))
	}
	return nil
}

// ec2Metadata is where Amazon's machines find their metadata by IPv6.
var ec2Metadata = netip.MustParseAddr("fd00:ec2::254")
