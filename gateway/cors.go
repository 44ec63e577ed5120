package gateway

import (
	"slices"
	"strconv"
	"strings"

	"scripter/httpheader"
	"scripter/site"
)

// originField is the field in which a browser names the site of the page that makes a request.
const originField = "Origin"

// cors says what the pages of other sites may do with the response (https://fetch.spec.whatwg.org, 3.2). It
// is nil if no row of user.webserver.cors is for the path.
type cors struct {
	row    *site.CORS
	origin string // of the page; "" = the request names none
}

// corsOf returns the row of user.webserver.cors for a request.
func corsOf(r *Request, t Target, s *site.Snapshot) *cors {
	row := s.CORS(t.Path + t.Extra)
	if row == nil || t.Admin {
		return nil // the web page for people is for no other site
	}
	origin := r.field(originField)
	switch {
	case row.Why != nil:
		r.trace("the row %s lets no other site in: %v", site.CORSRows.Child(row.Prefix), row.Why)
	case row.Admits(origin):
		r.trace("pages of %s may call this (%s)", origin, site.CORSRows.Child(row.Prefix))
	case origin != "":
		r.trace("pages of %s may not call this (%s)", origin, site.CORSRows.Child(row.Prefix))
	}
	return &cors{row, origin}
}

// add adds the fields for browsers to a response. A script that has its own keeps them.
func (c *cors) add(resp *httpheader.Response) {
	if c == nil || c.row.Why != nil || resp.Has("Access-Control-Allow-Origin") {
		return
	}
	if !c.row.AnyOrigin() {
		vary(resp, originField) // without an Origin, too: a cache keeps one answer for all
	}
	if !c.row.Admits(c.origin) {
		return
	}
	c.allow(resp)
	if len(c.row.Expose) > 0 {
		resp.Set("Access-Control-Expose-Headers", strings.Join(c.row.Expose, ", "))
	}
}

// allow adds the fields that let the page's site in.
func (c *cors) allow(resp *httpheader.Response) {
	if c.row.AnyOrigin() {
		resp.Set("Access-Control-Allow-Origin", "*")
		return
	}
	resp.Set("Access-Control-Allow-Origin", c.origin)
	if c.row.Credentials {
		resp.Set("Access-Control-Allow-Credentials", "true")
	}
}

// vary adds the name of a request's field to Vary.
func vary(resp *httpheader.Response, name string) {
	for _, f := range resp.Fields {
		if !strings.EqualFold(f.Name, "Vary") {
			continue
		}
		for word := range strings.SplitSeq(f.Value, ",") {
			if word = strings.TrimSpace(word); word == "*" || strings.EqualFold(word, name) {
				return
			}
		}
	}
	resp.Add("Vary", name)
}

// isPreflight reports whether the request is a browser's question whether a page may make another request, for
// a path that has a row. Scripts do not see it.
func (c *cors) isPreflight(r *Request) bool {
	return c != nil && r.Params["REQUEST_METHOD"] == "OPTIONS" && c.origin != "" &&
		r.field("Access-Control-Request-Method") != ""
}

// answerPreflight holds the answer to a preflight. Without the fields that let it in, a browser does not make
// the request.
func (c *attempt) answerPreflight() error {
	x := c.out.cors
	resp := &httpheader.Response{Status: 204, Reason: httpheader.ReasonText(204)}
	resp.Add("Server", c.server())
	resp.Add("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	method := c.request.field("Access-Control-Request-Method")
	if x.row.Admits(x.origin) && slices.Contains(x.row.Methods, method) {
		x.allow(resp)
		resp.Add("Access-Control-Allow-Methods", strings.Join(x.row.Methods, ", "))
		if len(x.row.Headers) > 0 {
			resp.Add("Access-Control-Allow-Headers", strings.Join(x.row.Headers, ", "))
		}
		resp.Add("Access-Control-Max-Age", strconv.Itoa(x.row.MaxAge))
	}
	c.out.cors = nil // its fields are all there
	if err := c.finish(resp); err != nil {
		return err
	}
	c.hold(held{resp: resp})
	return nil
}
