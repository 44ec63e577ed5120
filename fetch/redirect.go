package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
)

// redirects reports whether a status names another URL to ask.
func redirects(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// follow changes the request to that of a redirect, and returns its URL. The new host is compared with the list. If it
// is another one, it gets no field of the request that may be meant for the first host alone.
func (c *Client) follow(r *Request, from, to *url.URL, status int) (*url.URL, error) {
	u, err := c.Check(to.String())
	if err != nil {
		return nil, err
	}
	if from.Scheme == "https" && u.Scheme == "http" {
		return nil, errors.New("it leads from https to http, where others can read along")
	}
	r.Header = r.Header.Clone()
	toGet := status == http.StatusSeeOther && r.Method != http.MethodHead ||
		status <= http.StatusFound && r.Method == http.MethodPost
	if toGet {
		r.Method, r.Body = http.MethodGet, ""
		for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location"} {
			r.Header.Del(name)
		}
	}
	if from.Scheme != u.Scheme || from.Host != u.Host {
		for name := range r.Header {
			if !slices.Contains(harmless, name) {
				r.Header.Del(name)
			}
		}
	}
	return u, nil
}

// harmless are the fields that another host gets after a redirect.
var harmless = []string{
	"Accept", "Accept-Language", "Content-Type", "Content-Encoding", "Content-Language", "User-Agent",
}
