package gateway

import (
	"net"
	"net/http"
	"strings"
)

// atThisMachine reports whether a request comes from the machine that the server runs
// on, straight from a program of its user: both the address and the Host are
// loopback, and nothing says that somebody has passed it on. A page that has a
// name of its own lead to 127.0.0.1 (DNS rebinding) comes with that name as Host.
// nginx speaks HTTP/1.0 to a server behind it, unless it is told otherwise.
func atThisMachine(hr *http.Request) bool {
	client, _, err := net.SplitHostPort(hr.RemoteAddr)
	if err != nil || !isLoopback(client) || !hr.ProtoAtLeast(1, 1) {
		return false
	}
	if host := hostName(hr.Host); !isLoopback(host) && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		return false
	}
	for name := range hr.Header {
		if namesProxy(strings.ReplaceAll(strings.ToLower(name), "_", "-")) {
			return false
		}
	}
	return true
}

func isLoopback(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback()
}

// namesProxy reports whether a field, in lower case, is one that proxies add.
func namesProxy(field string) bool {
	switch field {
	case "via", "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "client-ip", "x-varnish", "x-proxyuser-ip":
		return true
	}
	for _, prefix := range []string{"x-forwarded", "x-original-", "x-envoy-", "cf-", "fastly-"} {
		if strings.HasPrefix(field, prefix) {
			return true
		}
	}
	return false
}
