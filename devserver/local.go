package devserver

import (
	"net"
	"net/http"
	"strings"
)

// isLocal reports whether a request comes directly from a program on this machine:
// both the address and the Host are loopback, and it has no field of a proxy. If the
// name of a foreign page resolves to 127.0.0.1 (DNS rebinding), its requests have that
// name as Host. HTTP/1.0 requests are not local, because nginx uses HTTP/1.0 by default
// for the servers behind it.
func isLocal(hr *http.Request) bool {
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

// namesProxy reports whether proxies add this field. Its name is in lower case.
func namesProxy(field string) bool {
	switch field {
	case "via", "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "client-ip",
		"x-varnish", "x-proxyuser-ip":
		return true
	}
	for _, prefix := range []string{"x-forwarded", "x-original-", "x-envoy-", "cf-", "fastly-"} {
		if strings.HasPrefix(field, prefix) {
			return true
		}
	}
	return false
}
