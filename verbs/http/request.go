package http

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"scripter/fetch"
	"scripter/httpform"
	"scripter/script"
	"scripter/verbs/form"
	"scripter/verbs/json"
)

// redirects is how many redirects are followed if the script does not say.
const redirects = 5

type option struct {
	name string
	read func(*reader, script.Value) error
}

// options are the options of a request, in the order in which they are read.
var options = []option{
	{"headers", (*reader).readHeaders},
	{"query", (*reader).readQuery},
	{"body", func(r *reader, v script.Value) error { return r.setBody("", v, r.text) }},
	{"form", func(r *reader, v script.Value) error { return r.setBody(httpform.URLEncoded, v, r.form) }},
	{"json", func(r *reader, v script.Value) error { return r.setBody("application/json", v, r.json) }},
	{"method", (*reader).readMethod},
	{"timeout", (*reader).readTimeout},
	{"redirects", (*reader).readRedirects},
}

type reader struct {
	thread  *script.Thread
	request fetch.Request
	body    bool
}

// ReadRequest reads a request from two arguments of a verb: a URL, and a table of options, which may be missing. The
// timeout is 0 if the script does not say one.
func ReadRequest(c *script.Call, url, table int) (fetch.Request, error) {
	r := reader{thread: c.Thread(), request: fetch.Request{
		Method: http.MethodGet, URL: c.String(url), Header: http.Header{}, Redirects: redirects,
	}}
	t := c.OptTable(table)
	if t == nil {
		return r.request, nil
	}
	var unknown error
	t.Each(func(k, _ script.Value) bool {
		name, ok := k.(string)
		if !ok || !slices.ContainsFunc(options, func(o option) bool { return o.name == name }) {
			unknown = fmt.Errorf("there is no option %v; options are %s", k, optionNames())
		}
		return unknown == nil
	})
	if unknown != nil {
		return r.request, unknown
	}
	for _, o := range options {
		v := t.Get(o.name)
		if v == nil {
			continue
		}
		if err := o.read(&r, v); err != nil {
			return r.request, fmt.Errorf("%s: %w", o.name, err)
		}
	}
	return r.request, nil
}

func optionNames() string {
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	return strings.Join(names, ", ")
}

func (r *reader) eachText(v script.Value, add func(name, value string)) error {
	t, ok := v.(*script.Table)
	if !ok {
		return errors.New("it must be a table")
	}
	return form.EachField(r.thread, t, add)
}

func (r *reader) readHeaders(v script.Value) error {
	return r.eachText(v, func(name, value string) { r.request.Header.Add(name, value) })
}

// readQuery adds fields to the query of the URL.
func (r *reader) readQuery(v script.Value) error {
	query, err := r.form(v)
	if err != nil || query == "" {
		return err
	}
	address, fragment, hasFragment := strings.Cut(r.request.URL, "#")
	switch {
	case !strings.Contains(address, "?"):
		address += "?"
	case !strings.HasSuffix(address, "?") && !strings.HasSuffix(address, "&"):
		address += "&"
	}
	if r.request.URL = address + query; hasFragment {
		r.request.URL += "#" + fragment
	}
	return nil
}

// setBody sets the body, which may be given only once, and its type unless the headers have one.
func (r *reader) setBody(kind string, v script.Value, text func(script.Value) (string, error)) (err error) {
	if r.body {
		return errors.New("the request already has a body: it is one of body, form and json")
	}
	if r.request.Body, err = text(v); err != nil {
		return err
	}
	r.body, r.request.Method = true, http.MethodPost
	if kind != "" && r.request.Header.Get("Content-Type") == "" {
		r.request.Header.Set("Content-Type", kind)
	}
	return nil
}

func (r *reader) text(v script.Value) (string, error) { return r.thread.Text(v) }

func (r *reader) form(v script.Value) (string, error) {
	var b []byte
	err := r.eachText(v, func(name, value string) {
		if len(b) > 0 {
			b = append(b, '&')
		}
		b = httpform.Escape(append(httpform.Escape(b, name), '='), value)
	})
	return string(b), err
}

func (r *reader) json(v script.Value) (string, error) {
	text, err := json.Encode(r.thread, v)
	return string(text), err
}

func (r *reader) readMethod(v script.Value) (err error) {
	r.request.Method, err = r.thread.Text(v)
	return err
}

func (r *reader) readTimeout(v script.Value) error {
	n, ok := v.(float64)
	if !ok || !(n > 0 && n <= 3600) {
		return errors.New("it must be a number of seconds, from above 0 to 3600")
	}
	r.request.Timeout = time.Duration(n * float64(time.Second))
	return nil
}

func (r *reader) readRedirects(v script.Value) error {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || n < 0 || n > 20 {
		return errors.New("it must be a whole number from 0 to 20")
	}
	r.request.Redirects = int(n)
	return nil
}
