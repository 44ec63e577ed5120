package gateway

import (
	"mime"
	"strconv"
	"strings"

	"scripter/httpheader"
	"scripter/script"
	"scripter/verbs/json"
)

// This file has what the gateway does for programs that speak JSON.

// problemPage returns the answer to a failure for a program (RFC 9457).
func problemPage(r *Request, status int, message, incident string) *httpheader.Response {
	resp := newFailure(r, status, json.ProblemType)
	resp.Body = json.Problem{
		Title: httpheader.ReasonText(status), Status: status,
		Detail: strings.ToValidUTF8(message, "\uFFFD"), Incident: incident,
	}.Text()
	return resp
}

// wantsJSON reports whether a failure is answered with a problem rather than a page: the request accepts
// JSON and does not prefer HTML, or it sends JSON and says nothing of HTML.
func (r *Request) wantsJSON() bool {
	data, page := accepted(r.Params["HTTP_ACCEPT"])
	if data > 0 || page > 0 {
		return data > 0 && data >= page
	}
	return r.sendsJSON()
}

// sendsJSON reports whether the type of the request's body is one of JSON.
func (r *Request) sendsJSON() bool {
	kind := r.Params["CONTENT_TYPE"]
	if len(kind) < len(json.Type) || !strings.Contains(strings.ToLower(kind), "json") {
		return false
	}
	media, _, _ := mime.ParseMediaType(kind) // an invalid parameter is ignored
	return json.IsType(media)
}

// accepted returns the highest qualities that an Accept field (RFC 9110, 12.5.1) names for JSON and for
// HTML. Wildcards do not count: browsers and programs send them alike.
func accepted(field string) (data, page float64) {
	for item := range strings.SplitSeq(field, ",") {
		media, params, _ := strings.Cut(item, ";")
		media = strings.ToLower(strings.TrimSpace(media))
		isData := json.IsType(media)
		if !isData && media != htmlType && media != "application/xhtml+xml" {
			continue
		}
		q := quality(params)
		if isData {
			data = max(data, q)
		} else {
			page = max(page, q)
		}
	}
	return data, page
}

// quality returns the quality among the parameters of an item of an Accept field; 1 if there is none, 0 if it
// is invalid.
func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(0 <= q && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// json returns the value of a body that is JSON by its type, nil for any other body. It is decoded when a
// script reads it; a body that is not JSON is then answered 400.
func (p *parameters) json(map[string]string) script.Value {
	if p.body == "" || !p.request.sendsJSON() {
		return nil
	}
	return script.Deferred(func(charge func(int)) (script.Value, error) {
		v, err := json.Decode(p.body, charge)
		if err != nil {
			message := "the body is not JSON: " + err.Error()
			return nil, &Error{Status: 400, Message: message, Public: "The body is not JSON: " + err.Error() + ".", Err: err}
		}
		return v, nil
	})
}
