package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/script"
)

// cgiparams is where the parameters of the last request are kept when
// Debugging is checked (specification, 2.2 and 2.3).
var cgiparams = objectdb.Address{"scratchpad", "cgiparams"}

// Bounds of what is kept, in bytes: of one text, of all, and what an object
// takes beside its text.
const (
	keptText     = 64 << 10
	keptInAll    = 256 << 10
	keptOverhead = 100
)

// masked stands in the place of a secret.
const masked = "(masked)"

// keepParams keeps the parameters of a request at scratchpad.cgiparams, in a
// transaction of its own, so that the request of a failing script is kept
// too. It never fails the request.
func (g *Gateway) keepParams(ctx context.Context, r *Request) {
	r.kept = true
	err := g.db.Update(ctx, func(tx *objectdb.Tx) error {
		hidden := r.masked()
		c := g.newCall(ctx, tx, hidden, newAnswer(nil, hidden))
		var err error
		if c.target, err = dispatch(hidden, c.tables); err != nil {
			return err
		}
		params, err := c.buildParams()
		if err != nil {
			return err
		}
		hidden.maskBody(params)
		if err := tx.Delete(cgiparams); err != nil && !errors.Is(err, objectdb.ErrNotFound) {
			return err
		}
		if err := tx.NewTable(cgiparams); err != nil {
			return err
		}
		k := keeper{tx, keptInAll}
		return k.table(cgiparams, params)
	})
	if err != nil {
		g.log.Warn("parameters not kept", "path", r.path(), "err", err)
	}
}

// keeper stores parameters, up to a number of bytes in all: a visitor must
// not fill the disk because debugging is on.
type keeper struct {
	tx   *objectdb.Tx
	left int
}

// table stores a Lua table of texts, numbers, lists and tables. Names that
// the root cannot hold, or that differ only in case, get a number.
func (k *keeper) table(a objectdb.Address, t *script.Table) error {
	for i, name := range tableKeys(t) {
		if k.left -= len(name) + keptOverhead; k.left < 0 {
			return nil
		}
		safe := name
		if objectdb.CheckName(safe) != nil {
			safe = fmt.Sprintf("name %d", i+1)
		}
		if _, err := k.tx.Stat(a.Child(safe)); err == nil {
			safe = fmt.Sprintf("%.200s (%d)", strings.ToValidUTF8(safe, ""), i+1)
		}
		if err := k.value(a.Child(safe), t.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) value(a objectdb.Address, v script.Value) error {
	switch v := v.(type) {
	case string:
		return k.tx.Put(a, k.text(v))
	case float64:
		return k.tx.Put(a, objectdb.Number(v))
	case *script.Table:
		if v.Len() > 0 {
			return k.list(a, v)
		}
		if err := k.tx.NewTable(a); err != nil {
			return err
		}
		return k.table(a, v)
	}
	return nil
}

// list stores the values of a field that came more than once.
func (k *keeper) list(a objectdb.Address, t *script.Table) error {
	list := objectdb.List{}
	var err error
	t.Each(func(n, v script.Value) bool {
		switch v := v.(type) {
		case string:
			list = append(list, k.text(v))
		case *script.Table: // several files under one name
			err = k.value(a.Child(fmt.Sprintf("file %v", n)), v)
		}
		return err == nil && k.left > 0
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return k.tx.Put(a, list)
}

func (k *keeper) text(s string) objectdb.String {
	s = cutText(s, min(keptText, k.left))
	k.left -= len(s)
	return objectdb.String(s)
}

// cutText cuts a text to n bytes at most, between characters.
func cutText(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	for i := 0; i < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}

// masked gives a copy of the request whose secrets are masked: credentials,
// cookies, and form fields whose names speak of a secret.
func (r *Request) masked() *Request {
	h := *r
	h.Params = maps.Clone(r.Params)
	for name, value := range h.Params {
		switch {
		case value == "":
		case strings.Contains(name, "COOKIE"):
			h.Params[name] = maskCookies(value)
		case strings.HasSuffix(name, "QUERY_STRING"):
			h.Params[name] = maskForm(value)
		case strings.HasPrefix(name, "HTTP_") || strings.HasPrefix(name, "REDIRECT_") || strings.HasPrefix(name, "AUTH"):
			if mentionsSecret(name) && name != "AUTH_TYPE" && name != "REDIRECT_AUTH_TYPE" {
				h.Params[name] = masked
			}
		}
	}
	for _, name := range []string{"REQUEST_URI", "HTTP_REFERER", "REDIRECT_REQUEST_URI", "REDIRECT_URI"} {
		if path, q, ok := strings.Cut(h.Params[name], "?"); ok {
			h.Params[name] = path + "?" + maskForm(q)
		}
	}
	return &h
}

// maskBody masks the body after its form was parsed. What is no URL-encoded
// form is kept only when it speaks of no secret.
func (r *Request) maskBody(params *script.Table) {
	text, kind := r.body.text, strings.ToLower(r.Params["CONTENT_TYPE"])
	switch {
	case kind == "" || strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		text = maskForm(text)
	case strings.HasPrefix(kind, "multipart/"), mentionsSecret(text):
		text = masked
	}
	params.Set("postArgs", text)
	if t, ok := params.Get("argTable").(*script.Table); ok {
		for _, name := range tableKeys(t) {
			if mentionsSecret(name) {
				t.Set(name, masked)
			}
		}
	}
	if text == masked {
		params.Set("files", masked)
	}
}

func maskCookies(field string) string {
	parts := strings.Split(field, ";")
	for i, p := range parts {
		if name, _, ok := strings.Cut(p, "="); ok {
			parts[i] = name + "=" + masked
		} else {
			parts[i] = masked
		}
	}
	return strings.Join(parts, ";")
}

// maskForm masks the values of secret fields and leaves all else untouched.
func maskForm(text string) string {
	if plain, _ := unescape(text, true); !mentionsSecret(plain) {
		return text
	}
	fields := strings.Split(text, "&")
	for i, f := range fields {
		name, _, ok := strings.Cut(f, "=")
		if plain, _ := unescape(name, true); ok && mentionsSecret(plain) {
			fields[i] = name + "=" + masked
		}
	}
	return strings.Join(fields, "&")
}

// secretWords are parts of names whose values are masked.
var secretWords = []string{"pass", "pwd", "secret", "token", "auth", "apikey", "api_key", "api-key", "credit", "cvv", "session"}

func mentionsSecret(name string) bool {
	name = strings.ToLower(name)
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}
