package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"unsafe"

	"scripter/script"
)

// addField adds a field to the result of a verb that parses a form. A second value of
// a name turns its cell into a list, as in the CGI Framework. The tables of a request
// do not do that: see parameters.fields.
func addField(t *script.Table, name string, v script.Value) {
	switch old := t.Get(name).(type) {
	case nil:
		t.Set(name, v)
	case *script.Table:
		if old.Len() > 0 {
			old.Append(v)
			return
		}
		list := script.NewTable()
		list.Append(old)
		list.Append(v)
		t.Set(name, list)
	default:
		list := script.NewTable()
		list.Append(old)
		list.Append(v)
		t.Set(name, list)
	}
}

// addToList appends a value to the list in the cell called name.
func addToList(t *script.Table, name string, v script.Value) {
	list, ok := t.Get(name).(*script.Table)
	if !ok {
		list = script.NewTable()
		t.Set(name, list)
	}
	list.Append(v)
}

// parseForm reads URL-encoded text into a table. A name that comes twice has a list.
func parseForm(text string, most bound, strict bool) (*script.Table, error) {
	t := script.NewTableFor(strings.Count(text, "&") + 1)
	err := eachField(text, most, strict, func(name, value string) { addField(t, name, value) })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// lastFields reads URL-encoded text into a table. If a name comes twice, the last
// value counts, so every value is a text.
func lastFields(text string, most bound, strict bool) (*script.Table, error) {
	t := script.NewTableFor(strings.Count(text, "&") + 1)
	err := eachField(text, most, strict, func(name, value string) { t.Set(name, value) })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// eachField calls add for each field of URL-encoded text: "&" separates fields, the
// first "=" separates name and value, "+" is a blank, %XX a byte. Names are data: they
// never become addresses. It refuses more than most fields; with strict also
// a percent sign without two hex digits, which it otherwise leaves unchanged.
func eachField(text string, most bound, strict bool, add func(name, value string)) error {
	if err := countFields(text, most); err != nil {
		return err
	}
	d := decoder{size: len(text)}
	for rest := text; rest != ""; {
		var field string
		field, rest, _ = strings.Cut(rest, "&")
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		name, ok1 := d.decode(name, true)
		value, ok2 := d.decode(value, true)
		if strict && !(ok1 && ok2) {
			return &Error{Status: 400, Message: fmt.Sprintf("the form field %.60q has a percent sign without two hex digits", field)}
		}
		add(name, value)
	}
	return nil
}

// countFields refuses a form of more than max fields.
func countFields(text string, max bound) error {
	if int64(len(text)) <= max.most || int64(strings.Count(text, "&")) < max.most {
		return nil
	}
	count := int64(0)
	for text != "" {
		var field string
		if field, text, _ = strings.Cut(text, "&"); field != "" {
			count++
		}
	}
	if count > max.most {
		return max.tooLarge("the form has more than %d fields", max.most)
	}
	return nil
}

// unescape decodes %XX, and "+" when form is set. Bad percent signs stay as
// they are; ok tells that there were none.
func unescape(s string, form bool) (text string, ok bool) {
	d := decoder{size: len(s)}
	return d.decode(s, form)
}

// decoder decodes the pieces of one text into one buffer, which has room for all
// of it: nothing becomes longer.
type decoder struct {
	b    []byte // what is not used yet; nil before the first piece that changes
	size int    // of the text
}

func (d *decoder) decode(s string, form bool) (text string, ok bool) {
	i := 0
	for i < len(s) && s[i] != '%' && (s[i] != '+' || !form) {
		i++
	}
	if i == len(s) {
		return s, true
	}
	if d.b == nil {
		d.b = make([]byte, d.size)
	}
	ok = true
	b := d.b
	n := copy(b, s[:i])
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '+' && form:
			c = ' '
		case c != '%':
		case i+2 < len(s) && hexDigit[s[i+1]] < 16 && hexDigit[s[i+2]] < 16:
			c = hexDigit[s[i+1]]<<4 | hexDigit[s[i+2]]
			i += 2
		default:
			ok = false
		}
		b[n] = c
		n++
	}
	d.b = b[n:] // what was written is not written again
	return unsafe.String(&b[0], n), ok
}

// hexDigit gives the values of the hex digits; of all other characters it is 16.
var hexDigit = func() (values [256]byte) {
	for c := range values {
		values[c] = 16
	}
	for n := range byte(10) {
		values['0'+n] = n
	}
	for n := range byte(6) {
		values['a'+n], values['A'+n] = 10+n, 10+n
	}
	return values
}()

// escapeForm is the inverse of unescape with form set: letters, digits and
// "-._*" stay, a blank becomes "+" (WHATWG URL, application/x-www-form-urlencoded).
func escapeForm(dst []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isAlnum(c) || strings.IndexByte("-._*", c) >= 0:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// form is what the body of a request says when it is a form.
type form struct {
	args  *script.Table // name -> text, the last one sent
	files *script.Table // name -> {filename, type, data, size}, the last one sent; nil if the form cannot have any

	encoded string // the body, when it is URL-encoded
	parts   []part // of a multipart form, in the order sent
}

// part is one field or file of a multipart form.
type part struct {
	name, text string        // the text of a field, or the bytes of a file
	file       *script.Table // nil for a field
}

// eachText calls add for each field that is not a file, in the order of the body.
// parseBody has read the body before with the same bound.
func (f *form) eachText(most bound, add func(name, value string)) {
	_ = eachField(f.encoded, most, false, add)
	for _, p := range f.parts {
		if p.file == nil {
			add(p.name, p.text)
		}
	}
}

const formType = "application/x-www-form-urlencoded"

// parseBody reads a body of the two form types; any other type leaves both
// tables empty, and the script has postArgs. A body without a type is read
// as a form, as it always was.
func parseBody(contentType, body string, max bound) (form, error) {
	if contentType == formType && body != "" {
		args, err := lastFields(body, max, true)
		return form{args: args, encoded: body}, err
	}
	f := form{args: script.NewTable(), files: script.NewTable()}
	if body == "" {
		return f, nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	if contentType != "" && err != nil && media == "" {
		return f, &Error{Status: 400, Message: fmt.Sprintf("the content type %.80q is none", contentType), Err: err}
	}
	switch {
	case contentType == "" || media == formType:
		f.encoded = body
		f.args, err = lastFields(body, max, true)
		return f, err
	case media == "multipart/form-data":
		err = f.parseMultipart(body, params["boundary"], max)
		return f, err
	}
	return f, nil
}

// parseMultipart reads RFC 7578. File names are data and never paths.
func (f *form) parseMultipart(body, boundary string, max bound) error {
	bad := func(err error) error {
		return &Error{Status: 400, Message: "the multipart form cannot be read: " + err.Error(), Err: err}
	}
	if boundary == "" || len(boundary) > 70 {
		return bad(errors.New("its boundary is missing or longer than 70 bytes"))
	}
	parts := multipart.NewReader(strings.NewReader(body), boundary)
	for count := int64(1); ; count++ {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return bad(err)
		}
		if count > max.most {
			return max.tooLarge("the form has more than %d parts", max.most)
		}
		var data strings.Builder
		if _, err := io.Copy(&data, p); err != nil {
			return bad(err)
		}
		name, file := p.FormName(), p.FileName()
		if _, isFile := fileParam(p.Header.Get("Content-Disposition")); !isFile {
			f.args.Set(name, data.String())
			f.parts = append(f.parts, part{name: name, text: data.String()})
			continue
		}
		t := script.NewTable()
		t.Set("filename", file)
		t.Set("type", p.Header.Get("Content-Type"))
		t.Set("data", data.String())
		t.Set("size", float64(data.Len()))
		f.files.Set(name, t)
		f.parts = append(f.parts, part{name, data.String(), t})
	}
}

// fileParam tells whether a part is a file: an empty file name is one too,
// of a field for which no file was chosen.
func fileParam(disposition string) (string, bool) {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return "", false
	}
	name, ok := params["filename"]
	return name, ok
}

// parseCookies reads a Cookie field: ";" parts them, the first "=" parts
// name and value, which stays as it was sent. Apache joins several fields
// with a comma, which a value may contain: it is left alone.
func parseCookies(field string) *script.Table {
	t := script.NewTable()
	for field != "" {
		var c string
		c, field, _ = strings.Cut(field, ";")
		name, value, _ := strings.Cut(strings.TrimSpace(c), "=")
		if name = strings.TrimSpace(name); name == "" || t.Get(name) != nil {
			continue
		}
		value = strings.TrimSpace(value)
		if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		t.Set(name, value)
	}
	return t
}
