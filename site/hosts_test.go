package site

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostRules(t *testing.T) {
	for line, want := range map[string]string{
		"fetch: api.example.com":                      "api.example.com",
		"fetch: API.Example.COM.:08443, *.b.example ": "api.example.com:8443 *.b.example",
		"fetch: https://a.example/ http://b.example":  "https://a.example http://b.example",
		"fetch: * *:8443 93.184.216.34:80":            "* *:8443 93.184.216.34:80",
		"fetch: [2606:4700::0:1111]:443 ab_c.d-e":     "[2606:4700::1111]:443 ab_c.d-e",
		"fetch-private: 10.0.0.5:8080 localhost":      "10.0.0.5:8080 localhost",
		"fetch-private: [::1] [::ffff:10.0.0.1]:80":   "[::1] 10.0.0.1:80",
		"fetch-private: 169.254.169.254 *.intern":     "169.254.169.254 *.intern",

		"fetch: ":                        "error: it names no host",
		"fetch: 10.0.0.5:80":             `error: 10.0.0.5 lies in your own network; hosts there are listed as "fetch-private: 10.0.0.5:80"`,
		"fetch: localhost":               `error: localhost lies in your own network`,
		"fetch: a.localhost":             `error: a.localhost lies in your own network`,
		"fetch: [::1]:80":                `error: ::1 lies in your own network; hosts there are listed as "fetch-private: [::1]:80"`,
		"fetch: [::ffff:192.168.0.1]":    `error: 192.168.0.1 lies in your own network`,
		"fetch-private: *":               `error: "*" is every host of your network`,
		"fetch-private: http://*:80":     "error: \"http://*:80\" is every host",
		"fetch: ftp://a.example":         "error: \"ftp://a.example\" begins with neither",
		"fetch: a.example:0":             "error: \"a.example:0\" has a port",
		"fetch: a.example:65536":         "error: \"a.example:65536\" has a port",
		"fetch: a.example:http":          "error: \"a.example:http\" has a port",
		"fetch: a.example:":              "error: \"a.example:\" has a port",
		"fetch: a.example/path":          "error: \"a.example/path\" is not a host",
		"fetch: user@a.example":          "error: \"user@a.example\" is not a host",
		"fetch: a..example":              "error: \"a..example\" is not a host",
		"fetch: *a.example":              "error: \"*a.example\" is not a host",
		"fetch: a.*.example":             "error: \"a.*.example\" is not a host",
		"fetch: *.10.0.0.1":              "error: \"*.10.0.0.1\" is not a host",
		"fetch-private: 2130706433":      "error: \"2130706433\" is not a host",
		"fetch-private: 0x7f.1":          "error: \"0x7f.1\" is not a host",
		"fetch: ::1":                     "error: \"::1\" has a port",
		"fetch: [::1":                    "error: \"[::1\" is not a host",
		"fetch: [fe80::1%eth0]":          "error: \"[fe80::1%eth0]\" is not a host",
		"fetch: [1.2.3.4]":               "error: \"[1.2.3.4]\" is not a host",
		"fetch: [2606::1]x":              "error: \"[2606::1]x\" is not a host",
		"fetch: b\u00fccher.example":     "error: ",
		"fetch: " + repeated("a", 300):   "error: ",
		"fetch: a.example fetch-private": "a.example fetch-private",
	} {
		var r Reach
		key, value, _ := strings.Cut(line, ": ")
		err := r.Add(key, value)
		if message, wrong := strings.CutPrefix(want, "error: "); wrong {
			if assert.Error(t, err, line) {
				assert.Contains(t, err.Error(), key+": "+message, line)
			}
			continue
		}
		require.NoError(t, err, line)
		assert.Equal(t, want, strings.Join(append(r.Fetch, r.FetchPrivate...), " "), line)
		again, flags := Reach{}, r.Flags()
		for i := 0; i < len(flags); i += 2 {
			require.NoError(t, again.Add(strings.TrimPrefix(flags[i], "--"), flags[i+1]))
		}
		assert.Equal(t, r, again, "the flags say the same")
	}
}

func repeated(s string, n int) string { return strings.Repeat(s, n) }

// TestReachOfHosts: variables, lines and flags are added together.
func TestReachOfHosts(t *testing.T) {
	var r Reach
	require.NoError(t, r.addVariables(map[string]string{
		"SCRIPTER_FETCH": "a.example, b.example", "REDIRECT_SCRIPTER_FETCH_PRIVATE": "10.0.0.1 10.0.0.2",
	}))
	r.AddAll(Reach{Fetch: []string{"b.example", "c.example"}, FetchPrivate: []string{"10.0.0.3"}})
	assert.Equal(t, []string{"a.example", "b.example", "c.example"}, r.Fetch)
	assert.Equal(t, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, r.FetchPrivate)
}

// FuzzHostRule checks that the text of a rule means the same rule, and that a rule for one host matches no other one.
func FuzzHostRule(f *testing.F) {
	for _, s := range []string{"api.example.com", "*.example.org:8443", "https://[2001:db8::1]:443", "10.0.0.1", "*"} {
		f.Add(s, "http://x."+s+"/")
	}
	f.Fuzz(func(t *testing.T, text, address string) {
		rule, err := parseHostRule(text)
		if err != nil {
			return
		}
		again, err := parseHostRule(rule.String())
		require.NoError(t, err, rule.String())
		require.Equal(t, rule, again)
		u, err := url.Parse(address)
		if err != nil || strings.HasPrefix(rule.host, "*") {
			return
		}
		if allowed, _ := (Reach{Fetch: []string{rule.String()}}).MayFetch(u); allowed {
			host, _ := CanonicalHost(u.Hostname())
			require.Equal(t, rule.host, host)
		}
	})
}
