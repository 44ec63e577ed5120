package devserver

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"scripter/gateway"
	"scripter/httpheader"
)

// statusPath is the path of the page with the server's name (specification, 2.2: Set
// Server Name must equal what the /server-status display shows).
const statusPath = "/server-status"

// showsStatus reports whether a request is for the status page and may see it. Only
// this machine may, as with Apache's "Require local".
func showsStatus(hr *http.Request, p string) bool {
	if p != statusPath {
		return false
	}
	host, _, err := net.SplitHostPort(hr.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// status answers /server-status with a page, and /server-status?auto with lines
// for programs, with the names of Apache's mod_status.
func (s *Server) status(hr *http.Request, r *gateway.Request, c *conn) int {
	if hr.Method != "GET" && hr.Method != "HEAD" {
		return s.refuse(hr, r, c, notAllowed("the status answers GET and HEAD only"))
	}
	running, answered := s.Gateway.Requests()
	now := time.Now()
	rows := [][3]string{ // name in mod_status's lines, name on its page, value
		{"ServerVersion", "Server Version", s.Software},
		{"CurrentTime", "Current Time", now.UTC().Format(time.RFC1123)},
		{"ServerUptimeSeconds", "Server uptime in seconds",
			fmt.Sprintf("%.0f", now.Sub(s.Gateway.Started()).Seconds())},
		{"Total Accesses", "Total accesses to scripts and pages", fmt.Sprint(answered)},
		{"BusyWorkers", "Requests being processed", fmt.Sprint(running)},
	}
	resp := &httpheader.Response{Proto: "HTTP/1.1", Status: 200, Reason: "OK", Close: true}
	resp.Add("Server", s.serverName(hr.Context()))
	resp.Add("Cache-Control", "private, no-cache")
	var b strings.Builder
	if query, err := url.ParseQuery(hr.URL.RawQuery); err == nil && query.Has("auto") {
		resp.Add("Content-Type", "text/plain; charset=ISO-8859-1")
		fmt.Fprintf(&b, "%s\n", r.Host())
		for _, row := range rows {
			fmt.Fprintf(&b, "%s: %s\n", row[0], row[2])
		}
	} else {
		resp.Add("Content-Type", "text/html; charset=ISO-8859-1")
		fmt.Fprintf(&b, "<!DOCTYPE html>\n<html><head><title>Server Status</title></head><body>\n"+
			"<h1>Server Status for %s</h1>\n<dl>", html.EscapeString(r.Host()))
		for _, row := range rows {
			fmt.Fprintf(&b, "<dt>%s: %s</dt>\n", row[1], html.EscapeString(row[2]))
		}
		b.WriteString("</dl></body></html>\n")
	}
	resp.Add("Content-Length", fmt.Sprint(b.Len()))
	head, err := resp.AppendNPH(nil)
	if err != nil {
		return s.refuse(hr, r, c, err)
	}
	c.out.Write(head)
	if hr.Method == "GET" {
		c.out.WriteString(b.String())
	}
	return resp.Status
}
