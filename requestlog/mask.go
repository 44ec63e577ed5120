package requestlog

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"scripter/httpform"
	"scripter/script"
	"scripter/verbs/html"
)

// Masked replaces a secret.
const Masked = "(masked)"

// Bounds of the secrets that are masked in responses, in bytes: a shorter one would
// match everywhere, a longer one is probably a file.
const (
	shortSecret = 3
	longSecret  = 4 << 10
)

// A Mask masks the secrets of one request and records them: their names, to show them to
// the owner, and their values, to mask them in the response too. The zero Mask is ready
// for use; a nil one records nothing.
type Mask struct {
	names    []string // "HTTP_COOKIE", "field password", "body"
	values   []string
	replacer *strings.Replacer
}

// hide records a secret and returns its replacement. name says where the secret was.
func (m *Mask) hide(name, value string) string {
	if m == nil || value == Masked {
		return Masked
	}
	if !slices.Contains(m.names, name) {
		m.names = append(m.names, name)
	}
	if len(value) >= shortSecret && len(value) <= longSecret {
		m.values = append(m.values, value)
	}
	return Masked
}

// Hide records a secret that the response has, so that it is masked there.
func (m *Mask) Hide(name, value string) {
	if m != nil {
		m.hide(name, value)
		m.replacer = nil
	}
}

// Text masks the recorded secrets in a text, both unescaped and HTML-escaped.
func (m *Mask) Text(s string) string {
	if m == nil || len(m.values) == 0 {
		return s
	}
	if m.replacer == nil {
		// Longest first: one secret may contain another.
		slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, v := range m.values {
			pairs = append(pairs, v, Masked, html.Escape(v), Masked)
		}
		m.replacer = strings.NewReplacer(pairs...)
	}
	return m.replacer.Replace(s)
}

// Variables returns a copy of CGI variables without secrets: credentials, cookies, and
// form fields whose names mean a secret.
func (m *Mask) Variables(all map[string]string) map[string]string {
	all = maps.Clone(all)
	for name, value := range all {
		switch {
		case value == "":
		case strings.Contains(name, "COOKIE"):
			all[name] = m.cookies(name, value)
		case strings.HasSuffix(name, "QUERY_STRING"):
			all[name] = m.form(value)
		case IsSecretVariable(name):
			m.credentials(value)
			all[name] = m.hide(name, value)
		}
	}
	for _, name := range []string{"REQUEST_URI", "HTTP_REFERER", "REDIRECT_REQUEST_URI", "REDIRECT_URI"} {
		if path, q, ok := strings.Cut(all[name], "?"); ok {
			all[name] = path + "?" + m.form(q)
		}
	}
	return all
}

// credentials records the password of an Authorization field: the response may contain
// the decoded password.
func (m *Mask) credentials(field string) {
	_, token, _ := strings.Cut(field, " ")
	if text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token)); err == nil {
		if _, password, ok := strings.Cut(string(text), ":"); ok && len(password) >= shortSecret {
			m.values = append(m.values, password)
		}
	}
}

func (m *Mask) cookies(name, field string) string {
	parts := strings.Split(field, ";")
	for i, p := range parts {
		if cookie, value, ok := strings.Cut(p, "="); ok {
			parts[i] = cookie + "=" + m.hide(name, value)
		} else {
			parts[i] = m.hide(name, p)
		}
	}
	return strings.Join(parts, ";")
}

// MaskForm masks the values of secret fields in URL-encoded text and changes nothing else.
func MaskForm(text string) string { return (*Mask)(nil).form(text) }

func (m *Mask) form(text string) string {
	return httpform.ReplaceValues(text, func(name, encoded string) string {
		if !IsSecretName(name) {
			return encoded
		}
		if value, _ := httpform.Unescape(encoded, true); value != encoded {
			m.hide(fieldItem(name), value)
		}
		return m.hide(fieldItem(name), encoded)
	})
}

// fieldItem returns the entry for a form field in Masked.
func fieldItem(name string) string { return "field " + name }

// bodyItem is the entry for a body in Masked or Cut.
const bodyItem = "body"

// Body masks a body. A body that is not a form is masked as a whole if it contains the
// name of a secret.
func (m *Mask) Body(contentType, text string) string {
	media, boundary, _ := httpform.Media(contentType)
	switch {
	case text == "":
	case media == httpform.URLEncoded && !isData(text):
		return m.form(text)
	case media == httpform.Multipart:
		return m.multipart(text, boundary)
	case strings.HasPrefix(media, "multipart/"), textMentionsSecret(text):
		return m.hide(bodyItem, text)
	}
	return text
}

// isData reports whether a text that was sent as a form looks like JSON or XML. Programs such as curl send anything
// as a form by default; read as a form, all of it would be the name of a field.
func isData(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && strings.IndexByte("{[<", text[0]) >= 0
}

// WithoutSecrets returns the request with its secrets masked, as it is recorded unless the setting
// flDebugSecrets is on.
func (r *Request) WithoutSecrets() *Request {
	m, s := new(Mask), *r
	s.Secrets = false
	s.Variables, s.Body = m.Variables(r.Variables), m.Body(r.Variables["CONTENT_TYPE"], r.Body)
	s.Error = m.Text(r.Error)
	if r.Answer != nil {
		a := *r.Answer
		var head strings.Builder
		for line := range strings.Lines(a.Head) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Set-Cookie") {
				value, end := strings.CutSuffix(value, "\n")
				line = name + ": " + maskSetCookie(strings.TrimSpace(value))
				if end {
					line += "\n"
				}
			}
			head.WriteString(line)
		}
		a.Head, a.Body = m.Text(head.String()), m.Text(a.Body)
		s.Answer = &a
	}
	s.Fetches, s.Reads = r.fetchesWithoutSecrets(m), r.Reads.withoutSecrets(m)
	s.Masked = slices.Concat(r.Masked, m.names)
	slices.Sort(s.Masked)
	s.Masked = slices.Compact(s.Masked)
	return &s
}

// maxParts is no limit in practice: the limit of the request has been checked before.
const maxParts = 1 << 20

// multipart masks the parts of a multipart form whose names mean a secret.
func (m *Mask) multipart(text, boundary string) string {
	parts, err := httpform.ParseMultipart(text, boundary, maxParts)
	if err != nil {
		return m.hide(bodyItem, text)
	}
	found := false
	for i, p := range parts {
		if IsSecretName(p.Name) {
			found = true
			parts[i].Data = m.hide(fieldItem(p.Name), p.Data)
		}
	}
	if !found {
		return text
	}
	return httpform.FormatMultipart(parts, boundary)
}

// Params masks the fields of a form in a parameter table; body is the masked body.
func (m *Mask) Params(params *script.Table, body string) {
	params.Set("postArgs", body)
	for _, group := range []string{"argTable", "files", "fields", "allFiles"} {
		t, ok := params.Get(group).(*script.Table)
		if !ok {
			continue
		}
		for _, name := range t.Names() {
			if IsSecretName(name) {
				t.Set(name, maskedCell(t.Get(name)))
			}
		}
		if body == Masked && t.Len()+len(t.Names()) > 0 {
			params.Set(group, Masked)
		}
	}
}

// maskedCell returns the mask for a value, or a list of masks for a list.
func maskedCell(v script.Value) script.Value {
	t, ok := v.(*script.Table)
	if !ok || t.Len() == 0 {
		return Masked
	}
	list := script.NewTable()
	for range t.Len() {
		list.Append(Masked)
	}
	return list
}
