package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
)

// This file has what responses with binaries of the root need: validators, ranges, and the fields that keep a
// browser from running what visitors have sent.

// typeOf returns the MIME type of a binary; one without a type is just bytes.
func typeOf(b objectdb.Binary) string { return cmp.Or(b.Type, "application/octet-stream") }

// objectResponse returns the response with a binary that a URL names. It is its author's: it may have scripts.
func (c *attempt) objectResponse(n *objectdb.Node, b objectdb.Binary) (script.Value, error) {
	v, err := c.serveTyped(typeOf(b), b.Data)
	if err != nil {
		return nil, err
	}
	r := v.(responseValue)
	r.ranged = true
	if n.Version() > 0 {
		r.resp.Set("ETag", `"`+strconv.FormatInt(n.Version(), 36)+"-"+strconv.FormatInt(n.Modified().UnixNano(), 36)+`"`)
		r.resp.Set("Last-Modified", httpheader.FormatDate(n.Modified()))
	}
	completeBinary(r.resp)
	return r, nil
}

// binaryFields completes the response with a binary that a script has returned, alone or as the body of a
// table. A visitor may have sent it: a browser runs nothing of it, unless the script says what it may do.
func (c *attempt) binaryFields(resp *httpheader.Response) {
	if media, _, err := mime.ParseMediaType(resp.Get("Content-Type")); err != nil || isActiveType(media) {
		if !resp.Has("Content-Security-Policy") {
			resp.Set("Content-Security-Policy", "sandbox")
		}
	}
	c.ranged = resp.Status == 200
	completeBinary(resp)
}

// completeBinary adds the fields of every binary.
func completeBinary(resp *httpheader.Response) {
	if !resp.Has("X-Content-Type-Options") {
		resp.Set("X-Content-Type-Options", "nosniff")
	}
	if resp.Status != 200 {
		return
	}
	if !resp.Has("ETag") {
		sum := sha256.Sum256([]byte(resp.Body))
		resp.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	}
	resp.Set("Accept-Ranges", "bytes")
}

// rangeFields are the fields of requests that [http.ServeContent] answers. Those that may make a 304 have been
// looked at before.
var rangeFields = []string{"Range", "If-Range", "If-Match", "If-Unmodified-Since"}

// sendRanged sends a response of which the request may want a part. done is false if it wants the whole.
func (x *exchange) sendRanged(resp *httpheader.Response) (done bool, err error) {
	r := x.request
	method := r.Params["REQUEST_METHOD"]
	if method != "GET" && method != "HEAD" || resp.Status != 200 {
		return false, nil
	}
	req := &http.Request{Method: method, Header: http.Header{}}
	for _, name := range rangeFields {
		if v := r.field(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	if len(req.Header) == 0 {
		return false, nil
	}
	w := &fileWriter{a: x.out, r: r, header: http.Header{}, from: resp}
	for _, name := range []string{"Content-Type", "ETag"} {
		w.header.Set(name, resp.Get(name))
	}
	modified, _ := httpheader.ParseDate(resp.Get("Last-Modified")) // the zero time is none
	http.ServeContent(w, req, "", modified, strings.NewReader(resp.Body))
	return true, w.err
}

// verbDownload is the verb webserver.download.
func verbDownload(v *script.Call) error {
	var b objectdb.Binary
	switch value := v.Value(1).(type) {
	case objectdb.Binary:
		b = value
	case string:
		b = objectdb.Binary{Type: "application/octet-stream", Data: value}
	default:
		v.Bad(1, "binary or string expected")
	}
	headers := script.NewTable()
	headers.Set("Content-Type", typeOf(b))
	headers.Set("Content-Disposition", disposition(cleanName(v.String(2))))
	t := script.NewTable()
	t.Set("headers", headers)
	t.Set("body", b)
	v.Return(t)
	return nil
}

// disposition returns the value of Content-Disposition (RFC 6266) for a file that a browser saves under a
// clean name.
func disposition(name string) string {
	if name == "" {
		name = "file"
	}
	plain := strings.Map(func(c rune) rune {
		if c >= 0x80 {
			return '_'
		}
		return c
	}, name)
	value := fmt.Sprintf("attachment; filename=%q", plain)
	if plain != name {
		value += "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	}
	return value
}
