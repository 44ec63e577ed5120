package gateway

import (
	"encoding/base64"
	"iter"
	"maps"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/httpform"
	"scripter/script"
	"scripter/verbs/html"
)

// masked stands in the place of a secret.
const masked = "(masked)"

// Bounds of the secrets that are looked for in responses, in bytes: a short
// one would be found everywhere, a long one is a file.
const (
	shortSecret = 3
	longSecret  = 4 << 10
)

// masking masks the secrets of one request and remembers them: which, so
// that an owner can be told, and their values, to mask them in the response
// too. A nil masking remembers nothing.
type masking struct {
	names    []string // "HTTP_COOKIE", "field password", "body"
	values   []string
	replacer *strings.Replacer
}

// hide gives what stands in the place of a secret; name is what has it.
func (m *masking) hide(name, value string) string {
	if m == nil || value == masked {
		return masked
	}
	if !slices.Contains(m.names, name) {
		m.names = append(m.names, name)
	}
	if len(value) >= shortSecret && len(value) <= longSecret {
		m.values = append(m.values, value)
	}
	return masked
}

// text masks the secrets in what a script made of them, as they are and
// HTML-escaped.
func (m *masking) text(s string) string {
	if m == nil || len(m.values) == 0 {
		return s
	}
	if m.replacer == nil {
		// The longest first: one secret may hold another.
		slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, v := range m.values {
			pairs = append(pairs, v, masked, html.Escape(v), masked)
		}
		m.replacer = strings.NewReplacer(pairs...)
	}
	return m.replacer.Replace(s)
}

// masked gives a copy of the request whose variables have no secrets:
// credentials, cookies, and form fields whose names speak of a secret.
func (r *Request) masked() *Request {
	h, _ := r.mask()
	return h
}

// mask is masked, and tells what was masked.
func (r *Request) mask() (*Request, *masking) {
	h, m := *r, new(masking)
	h.Params = maps.Clone(r.Params)
	for name, value := range h.Params {
		switch {
		case value == "":
		case strings.Contains(name, "COOKIE"):
			h.Params[name] = m.cookies(name, value)
		case strings.HasSuffix(name, "QUERY_STRING"):
			h.Params[name] = m.form(value)
		case isSecretVariable(name):
			m.credentials(value)
			h.Params[name] = m.hide(name, value)
		}
	}
	for _, name := range []string{"REQUEST_URI", "HTTP_REFERER", "REDIRECT_REQUEST_URI", "REDIRECT_URI"} {
		if path, q, ok := strings.Cut(h.Params[name], "?"); ok {
			h.Params[name] = path + "?" + m.form(q)
		}
	}
	return &h, m
}

// isSecretVariable reports whether a variable of the request contains credentials or
// cookies, or is a secret of the program's environment.
func isSecretVariable(name string) bool {
	switch strings.TrimPrefix(name, "REDIRECT_") {
	case "AUTH_TYPE", "SERVER_SIGNATURE":
		return false
	}
	return strings.Contains(name, "COOKIE") || mentionsSecret(name)
}

// credentials remembers the password of an Authorization field: its response
// may have it decoded.
func (m *masking) credentials(field string) {
	_, token, _ := strings.Cut(field, " ")
	if text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token)); err == nil {
		if _, password, ok := strings.Cut(string(text), ":"); ok && len(password) >= shortSecret {
			m.values = append(m.values, password)
		}
	}
}

func (m *masking) cookies(name, field string) string {
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

// maskForm masks the values of secret fields and leaves all else untouched.
func maskForm(text string) string { return (*masking)(nil).form(text) }

func (m *masking) form(text string) string {
	fields := strings.Split(text, "&")
	for i, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		plain, _ := httpform.Unescape(name, true)
		if !ok || !mentionsSecret(plain) {
			continue
		}
		if decoded, _ := httpform.Unescape(value, true); decoded != value {
			m.hide(fieldItem(plain), decoded)
		}
		fields[i] = name + "=" + m.hide(fieldItem(plain), value)
	}
	return strings.Join(fields, "&")
}

// fieldItem is how an owner is told of a form field.
func fieldItem(name string) string { return "field " + name }

// bodyItem is how an owner is told of a body that was masked or cut whole.
const bodyItem = "body"

// body masks a body. What is no form is kept only when it speaks of no secret.
func (m *masking) body(contentType, text string) string {
	kind := strings.ToLower(contentType)
	switch {
	case text == "":
	case kind == "" || strings.HasPrefix(kind, "application/x-www-form-urlencoded"):
		return m.form(text)
	case strings.HasPrefix(kind, "multipart/form-data"):
		return m.multipart(contentType, text)
	case strings.HasPrefix(kind, "multipart/"), textMentionsSecret(text):
		return m.hide(bodyItem, text)
	}
	return text
}

// multipart masks the parts of a multipart form whose names speak of a
// secret. Where our cut and the parser's do not agree, all of it is masked.
func (m *masking) multipart(contentType, text string) string {
	before, err := parseBody(contentType, text, manyFields)
	if err != nil {
		return m.hide(bodyItem, text)
	}
	var secrets []string
	for _, p := range before.parts {
		if mentionsSecret(p.name) {
			secrets = append(secrets, p.name)
		}
	}
	if len(secrets) == 0 {
		return text
	}
	own := new(masking)
	text = eachPart(contentType, text, func(head, data string) string {
		if hasSecretLetters(head) || mentionsSecret(partName(head)) {
			return own.hide(bodyItem, data)
		}
		return data
	})
	after, err := parseBody(contentType, text, manyFields)
	if err != nil {
		return m.hide(bodyItem, text)
	}
	for _, p := range after.parts { // all parts, not only the last of each name
		if mentionsSecret(p.name) && p.text != masked {
			return m.hide(bodyItem, text)
		}
	}
	if m != nil {
		m.values = append(m.values, own.values...)
		for _, name := range secrets {
			m.hide(fieldItem(name), "")
		}
	}
	return text
}

// manyFields is no limit: the form's own was looked at before.
var manyFields = maxFields.bound(1 << 20)

// eachPart gives a multipart body with the data of each part replaced by
// what change makes of it. head is the part's header.
func eachPart(contentType, text string, change func(head, data string) string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil || params["boundary"] == "" {
		return text
	}
	pieces := strings.Split(text, "--"+params["boundary"])
	for i := 1; i < len(pieces); i++ {
		head, data, ok := strings.Cut(pieces[i], "\r\n\r\n")
		if !ok {
			continue
		}
		pieces[i] = head + "\r\n\r\n" + change(head, strings.TrimSuffix(data, "\r\n")) + "\r\n"
	}
	return strings.Join(pieces, "--"+params["boundary"])
}

// maskParams puts the masked body into a parameter table.
func maskParams(params *script.Table, body string) {
	params.Set("postArgs", body)
	for _, group := range []string{"argTable", "files", "fields", "allFiles"} {
		t, ok := params.Get(group).(*script.Table)
		if !ok {
			continue
		}
		for _, name := range tableKeys(t) {
			if mentionsSecret(name) {
				t.Set(name, maskedCell(t.Get(name)))
			}
		}
		if body == masked && t.Len()+len(tableKeys(t)) > 0 {
			params.Set(group, masked)
		}
	}
}

// maskedCell returns the mask for a value, or a list of masks for a list.
func maskedCell(v script.Value) script.Value {
	t, ok := v.(*script.Table)
	if !ok || t.Len() == 0 {
		return masked
	}
	list := script.NewTable()
	for range t.Len() {
		list.Append(masked)
	}
	return list
}

// secretLetters mark a name as secret anywhere in it. secretWords mark it only as a
// word of the name: "pin" in user_pin and userPin, but not in shipping. After a word
// of plainCodes, "code" does not mean a secret.
var (
	secretLetters = strings.Fields(`pass pwd secret token auth credit cvv session sessid credential
		apikey api_key api-key accesskey access_key access-key privatekey private_key private-key
		cardnumber card_number card-number`)
	secretWords = newWords("pw pin otp totp jwt bearer sig signature code cvc iban sid csrf xsrf")
	plainCodes  = newWords("zip post postal area country region state city lang language currency color colour status error product item article bar source")
)

func newWords(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// mentionsSecret reports whether the name of a field or variable means a secret.
func mentionsSecret(name string) bool { return hasSecretLetters(name) || hasSecretWord(name) }

func hasSecretLetters(text string) bool {
	text = strings.ToLower(text)
	for _, w := range secretLetters {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// hasSecretWord reports whether a word of a name means a secret. Words end at every
// sign, between letters and digits, and before a capital letter.
func hasSecretWord(name string) bool {
	before := ""
	for word := range nameWords(name) {
		if secretWords[word] && !(word == "code" && plainCodes[before]) {
			return true
		}
		before = word
	}
	return false
}

// nameWords returns the words of a name in lower case: api, key, v and 2 for
// apiKey-v2, user and pin for userPIN.
func nameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		const sign, digit, upper, lower = 0, 1, 2, 3
		class := func(i int) int {
			switch c := name[i]; {
			case c >= '0' && c <= '9':
				return digit
			case c >= 'A' && c <= 'Z':
				return upper
			case c >= 'a' && c <= 'z', c >= utf8.RuneSelf:
				return lower
			}
			return sign
		}
		start := 0
		for i := range len(name) + 1 {
			if i < len(name) && i > 0 {
				this, last := class(i), class(i-1)
				goesOn := this == last || last == upper && this == lower
				if this == upper && last == upper && i+1 < len(name) && class(i+1) == lower {
					goesOn = false // the capital of the next word: PIN, Code
				}
				if goesOn {
					continue
				}
			}
			if i > start && class(start) != sign && !yield(strings.ToLower(name[start:i])) {
				return
			}
			start = i
		}
	}
}

// textMentionsSecret reports whether text that is not a form contains the name of a
// secret. Only words that name something count: "pin": 1 in JSON, pin="1" and <pin>1
// in XML.
func textMentionsSecret(text string) bool {
	if hasSecretLetters(text) {
		return true
	}
	for start, i := -1, 0; i <= len(text); i++ {
		if i < len(text) && isNameLetter(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			after := strings.TrimLeft(text[i:], "\"' \t\r\n")
			if after != "" && strings.IndexByte(":=>", after[0]) >= 0 && hasSecretWord(text[start:i]) {
				return true
			}
		}
		start = -1
	}
	return false
}

func isNameLetter(c byte) bool {
	return isAlnum(c) || c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf
}
