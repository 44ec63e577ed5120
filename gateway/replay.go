package gateway

import (
	"context"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"time"

	"scripter/httpform"
)

// ReplayOptions say how a kept request is run again.
type ReplayOptions struct {
	// Commit keeps what the run changes in the root.
	Commit bool
	// Developer shows errors in full; without it they are shown as they were
	// then.
	Developer bool
	// DocumentRoot is the document root that the kept request may have, beside the
	// folders that are listed for the root. The kept one is not trusted: it lies in the
	// root, where scripts can write.
	DocumentRoot string
}

// Replay runs a kept request again, on today's scripts and pages. Its clock
// stands at the kept time, math.random gives the numbers of then, and so are
// connectionID and the number of an incident. It is not kept itself.
func (g *Gateway) Replay(ctx context.Context, k *Kept, w io.Writer, o ReplayOptions) (Outcome, *Recorded) {
	x := g.newExchange(&Request{Params: k.Variables, Form: NPH, HandlerNames: k.HandlerNames, Developer: k.Developer || o.Developer}, w)
	defer x.close()
	then := k.Time.Local()
	x.now, x.began = func() time.Time { return then }, then
	x.replay = &o
	x.body, x.bodyRead, x.recorded = k.Body, true, true
	x.connection, x.seed, x.incident = k.connection, k.seed, k.Incident
	x.out.rec = &recorder{}
	if !k.Secrets {
		_, x.out.rec.mask = x.request.mask()
		x.out.rec.mask.body(x.request.Params["CONTENT_TYPE"], k.Body)
	}
	out := x.answer(ctx)
	return out, x.out.rec.recorded(out.Status)
}

// SetVariable gives a CGI variable a value, before a replay.
func (k *Kept) SetVariable(name, value string) {
	k.Variables[name] = value
	k.given(name)
}

// SetBody gives the request another body, before a replay.
func (k *Kept) SetBody(text string) {
	k.Body, k.BodySize = text, int64(len(text))
	if _, ok := k.Variables["CONTENT_LENGTH"]; ok {
		k.Variables["CONTENT_LENGTH"] = fmt.Sprint(len(text))
	}
	k.given(bodyItem)
}

// SetField gives a form field its values, in the query and in the body; the
// last one stands for all that follow. It fails when the request has no such
// field.
func (k *Kept) SetField(name string, values ...string) error {
	found := false
	next := func() func() string {
		i := 0
		return func() string {
			found = true
			v := values[min(i, len(values)-1)]
			i++
			return v
		}
	}
	for _, v := range []string{"QUERY_STRING", "REDIRECT_QUERY_STRING"} {
		if query, ok := k.Variables[v]; ok {
			k.Variables[v] = setField(query, name, next())
		}
	}
	for _, v := range []string{"REQUEST_URI", "REDIRECT_REQUEST_URI", "REDIRECT_URI"} {
		if path, query, ok := strings.Cut(k.Variables[v], "?"); ok {
			k.Variables[v] = path + "?" + setField(query, name, next())
		}
	}
	kind := k.Variables["CONTENT_TYPE"]
	switch media, _, _ := mime.ParseMediaType(kind); media {
	case "", "application/x-www-form-urlencoded":
		k.Body = setField(k.Body, name, next())
	case "multipart/form-data":
		value := next()
		k.Body = eachPart(kind, k.Body, func(head, data string) string {
			if partName(head) == name {
				return value()
			}
			return data
		})
	}
	if !found {
		return fmt.Errorf("the request has no form field %q", name)
	}
	k.given(fieldItem(name))
	return nil
}

// setField replaces the values of a field in URL-encoded text.
func setField(text, name string, value func() string) string {
	fields := strings.Split(text, "&")
	for i, f := range fields {
		raw, _, ok := strings.Cut(f, "=")
		if plain, _ := httpform.Unescape(raw, true); ok && plain == name {
			fields[i] = raw + "=" + string(httpform.Escape(nil, value()))
		}
	}
	return strings.Join(fields, "&")
}

// partName is the field name of a part, from its header.
func partName(head string) string {
	for line := range strings.SplitSeq(head, "\r\n") {
		if field, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(field), "Content-Disposition") {
			if _, params, err := mime.ParseMediaType(strings.TrimSpace(value)); err == nil {
				return params["name"]
			}
		}
	}
	return ""
}

// given takes an item off the lists of what is missing.
func (k *Kept) given(item string) {
	is := func(s string) bool { return s == item }
	k.Masked = slices.DeleteFunc(k.Masked, is)
	k.Cut = slices.DeleteFunc(k.Cut, is)
}

// Incomplete tells why the request cannot be run again as it is: its body
// was too long to be kept, or masked whole. Other masked parts have
// "(masked)" in their place.
func (k *Kept) Incomplete() error {
	switch {
	case slices.Contains(k.Cut, bodyItem):
		return fmt.Errorf("request %d had a body of %d bytes, of which the first %d were kept", k.Number, k.BodySize, len(k.Body))
	case slices.Contains(k.Masked, bodyItem):
		return fmt.Errorf("the body of request %d speaks of a secret and was not kept", k.Number)
	}
	return nil
}
