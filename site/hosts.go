package site

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A hostRule is a host, or a group of hosts, that scripts may fetch from: one value of a line
// fetch or fetch-private.
type hostRule struct {
	scheme string // http or https; "" = both
	host   string // "api.example.com", "*.example.com", "*", "10.0.0.5" or "::1"
	port   string // "" = the port of the scheme
}

// parseHostRule reads a rule such as api.example.com, *.example.org:8443 or https://[2001:db8::1].
func parseHostRule(text string) (hostRule, error) {
	var r hostRule
	rest := strings.ToLower(text)
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return r, fmt.Errorf("%.100q begins with neither http:// nor https://", text)
		}
		r.scheme, rest = scheme, strings.TrimSuffix(after, "/")
	}
	bad := fmt.Errorf("%.100q is not a host such as api.example.com, *.example.org or 10.0.0.5:8080", text)
	if after, ok := strings.CutPrefix(rest, "["); ok {
		if r.host, rest, ok = strings.Cut(after, "]"); !ok {
			return r, bad
		}
		if a, err := netip.ParseAddr(r.host); err != nil || !a.Is6() || a.Zone() != "" {
			return r, bad
		}
	} else {
		var port string
		r.host, port, ok = strings.Cut(rest, ":")
		if rest = ""; ok {
			rest = ":" + port
		}
	}
	if port, ok := strings.CutPrefix(rest, ":"); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return r, fmt.Errorf("%.100q has a port that is no number from 1 to 65535", text)
		}
		r.port = strconv.FormatUint(n, 10)
	} else if rest != "" {
		return r, bad
	}
	if r.host == "*" {
		return r, nil
	}
	name := strings.TrimPrefix(r.host, "*.")
	host, ok := CanonicalHost(name)
	if !ok || name != r.host && isAddress(host) {
		return r, bad
	}
	r.host = strings.TrimSuffix(r.host, name) + host
	return r, nil
}

// CanonicalHost returns a host of a URL in the form in which rules are compared: a name in lower
// case without a dot at its end, or an IP address as Go writes it. It reports whether it is one of
// them. A name beyond ASCII is written in its ASCII form, xn--….
func CanonicalHost(host string) (string, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), a.Zone() == ""
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || len(host) > 253 {
		return "", false
	}
	last := ""
	for last = range strings.SplitSeq(host, ".") {
		if last == "" {
			return "", false
		}
		for i := range len(last) {
			if !isAlphanumeric(last[i]) && last[i] != '-' && last[i] != '_' {
				return "", false
			}
		}
	}
	// The resolver of the system takes 2130706433, 0x7f.1 and 127.1 for addresses.
	return host, last[0] < '0' || last[0] > '9'
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// String returns the rule as it is written in scripter.conf.
func (r hostRule) String() string {
	host := r.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if r.scheme != "" {
		host = r.scheme + "://" + host
	}
	if r.port != "" {
		host += ":" + r.port
	}
	return host
}

// matches reports whether the rule lists a host with its canonical form, and a port.
func (r hostRule) matches(scheme, host, port string) bool {
	if r.scheme != "" && r.scheme != scheme || port != cmp.Or(r.port, defaultPort(scheme)) {
		return false
	}
	parent, isGroup := strings.CutPrefix(r.host, "*")
	return r.host == host || isGroup && !isAddress(host) && strings.HasSuffix(host, parent)
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// addHosts adds the rules of a line, which has blanks or commas between them.
func (r *Reach) addHosts(key, value string) error {
	rules := splitWords(value)
	if len(rules) == 0 {
		return fmt.Errorf("%s: it names no host, such as api.example.com", key)
	}
	for _, text := range rules {
		rule, err := parseHostRule(text)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		list := &r.Fetch
		if key == KeyFetchPrivate {
			list = &r.FetchPrivate
			if rule.host == "*" {
				return fmt.Errorf("%s: %.100q is every host of your network; name those that scripts may ask", key, text)
			}
		} else if a, err := netip.ParseAddr(rule.host); err == nil && !IsPublic(a) || isLocalName(rule.host) {
			return fmt.Errorf("%s: %s lies in your own network; hosts there are listed as %q",
				key, rule.host, KeyFetchPrivate+": "+rule.String())
		}
		*list = addOnce(*list, rule.String())
	}
	return nil
}

// isLocalName reports whether a name stands for this host (RFC 6761, 6.3).
func isLocalName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// splitWords splits a value at blanks and commas.
func splitWords(value string) []string {
	return strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' })
}

// MayFetch reports whether scripts may fetch from the host of a URL, and whether that host may have
// a private address.
func (r Reach) MayFetch(u *url.URL) (allowed, private bool) {
	host, ok := CanonicalHost(u.Hostname())
	if !ok {
		return false, false
	}
	port := cmp.Or(u.Port(), defaultPort(u.Scheme))
	listed := func(list []string) bool {
		for _, text := range list {
			if rule, err := parseHostRule(text); err == nil && rule.matches(u.Scheme, host, port) {
				return true
			}
		}
		return false
	}
	private = listed(r.FetchPrivate)
	return private || listed(r.Fetch), private
}

// FetchRule returns the rule for the host of a URL alone: "api.example.com:8443".
func FetchRule(u *url.URL) string {
	host, _ := CanonicalHost(u.Hostname())
	r := hostRule{host: host, port: u.Port()}
	if r.port == defaultPort(u.Scheme) {
		r.port = ""
	}
	return r.String()
}

// notPublic are the blocks of addresses that are not of the public internet (the registries of
// special-purpose addresses of IANA, RFC 6890). Those that carry an address of IPv4 within one of IPv6
// (6to4, NAT64, Teredo) are among them, because they lead to any address.
var notPublic = prefixes(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12
	192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
	224.0.0.0/4 240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 3fff::/20`)

// global is the block of the public internet of IPv6.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(list string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range strings.Fields(list) {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// IsPublic reports whether an address belongs to the public internet.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is6() && (a.Zone() != "" || !global.Contains(a)) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
