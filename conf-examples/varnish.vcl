# Varnish as a cache in front of the web server that has Scripter (tried with 7.1).
#
# Copy to:  /etc/varnish/scripter.vcl
# Change:   where the web server listens.
# Start:    varnishd -a visitors=127.0.0.1:6081 -a purge=127.0.0.1:6082 \
#                    -f /etc/varnish/scripter.vcl -s default,64m
#           (Debian: the line ExecStart of "systemctl edit varnish"). The first
#           port is for visitors and for a TLS proxy, the second for Scripter alone.
# Also:     scripter settings cacheServers '["http://127.0.0.1:6082"]'
#           and a line "cache: 127.0.0.1:6082" in scripter.conf, so that
#           webserver.flushCache () finds it.
vcl 4.1;

import std;

# The web server. It keeps its own port; visitors come to Varnish.
backend web {
    .host = "127.0.0.1";
    .port = "8085";
}

# Who may purge: programs on this machine, and only at the port named "purge". The
# address alone proves nothing: behind a TLS proxy on this machine, every visitor has
# the address 127.0.0.1. If Scripter runs on another machine, add its address here.
acl purgers {
    "127.0.0.1";
    "::1";
}

sub vcl_recv {
    # Varnish's own rules do this too, after these; a PURGE leaves before them, and
    # must find the page under the same name.
    set req.http.Host = std.tolower(req.http.Host);

    # webserver.flushCache sends PURGE, with the host and path of the page.
    if (req.method == "PURGE") {
        if (local.socket != "purge" || client.ip !~ purgers) {
            return (synth(405, "Not allowed"));
        }
        # webserver.flushCache () without a path: every page of every host. The
        # condition is true for all of them.
        if (req.http.Scripter-Flush == "all") {
            ban("obj.status != 0");
            return (synth(200, "All forgotten"));
        }
        # One page, in all its forms (Vary). A URL with a query is another page.
        return (purge);
    }

    # A request with a body is passed on and the response not stored: the key of the
    # cache is the URL alone.
    if (req.http.Content-Length ~ "[1-9]" || req.http.Transfer-Encoding) {
        return (pass);
    }

    # Varnish's own rules follow: only GET and HEAD are answered from the cache, and
    # only without Cookie and Authorization.
}

sub vcl_backend_response {
    # max-age is meant as it is said: no old page while a new one is fetched.
    set beresp.grace = 0s;

    # A page that is no longer fresh is kept for an hour, to ask the script whether
    # it has changed (If-None-Match, If-Modified-Since). If it has not, the answer is
    # 304, and no body goes over the wire.
    set beresp.keep = 1h;

    # "max-age=0, must-revalidate": keep the page, and ask each time. Varnish's own
    # rules would not keep it at all. The other words mean that it must not. (What has
    # lived no time Varnish throws away, so it lives a thousandth of a second.)
    if (beresp.ttl <= 0s && beresp.status == 200 && !beresp.http.Set-Cookie
        && beresp.http.Cache-Control ~ "(?i)must-revalidate"
        && beresp.http.Cache-Control !~ "(?i)private|no-cache|no-store"
        && (beresp.http.ETag || beresp.http.Last-Modified)
        && beresp.http.Vary != "*") {
        set beresp.ttl = 1ms;
        return (deliver);
    }

    # Varnish's own rules follow: what says private, no-cache or no-store is not
    # kept. Scripter says "private, no-cache" wherever a script says nothing.
}
