package gateway

import (
	"errors"
	"strings"

	"scripter/httpform"
	"scripter/runner"
	"scripter/script"
)

// addToList appends a value to the list in the cell called name.
func addToList(t *script.Table, name string, v script.Value) {
	list, ok := t.Get(name).(*script.Table)
	if !ok {
		list = script.NewTable()
		t.Set(name, list)
	}
	list.Append(v)
}

// lastFields reads URL-encoded text into a table. If a name comes twice, the last
// value counts, so every value is a text.
func lastFields(text string, most runner.Bound, strict bool) (*script.Table, error) {
	t := script.NewTableFor(strings.Count(text, "&") + 1)
	err := httpform.EachField(text, most.Most, strict, func(name, value string) { t.Set(name, value) })
	if err != nil {
		return nil, formError(err, most)
	}
	return t, nil
}

// formError returns the error for a visitor whose form cannot be read.
func formError(err error, most runner.Bound) error {
	var e *httpform.LimitError
	if errors.As(err, &e) {
		return tooLarge(most, "%v", e)
	}
	return &Error{Status: 400, Message: err.Error(), Err: err}
}

// requestForm is what the body of a request says when it is a form.
type requestForm struct {
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
func (f *requestForm) eachText(most runner.Bound, add func(name, value string)) {
	_ = httpform.EachField(f.encoded, most.Most, false, add)
	for _, p := range f.parts {
		if p.file == nil {
			add(p.name, p.text)
		}
	}
}

// parseBody reads a body of the two form types. Any other type leaves both tables
// empty, and the script has postArgs.
func parseBody(contentType, body string, most runner.Bound) (requestForm, error) {
	if body == "" {
		return requestForm{}, nil
	}
	media, boundary, err := httpform.Media(contentType)
	if err != nil {
		return requestForm{}, formError(err, most)
	}
	switch media {
	case httpform.URLEncoded:
		args, err := lastFields(body, most, true)
		return requestForm{args: args, encoded: body}, err
	case httpform.Multipart:
		parts, err := httpform.ParseMultipart(body, boundary, most.Most)
		if err != nil {
			return requestForm{}, formError(err, most)
		}
		return multipartForm(parts), nil
	}
	return requestForm{}, nil
}

// multipartForm makes the tables of a multipart form. File names are data and never
// paths.
func multipartForm(parts []httpform.Part) requestForm {
	f := requestForm{args: script.NewTable(), files: script.NewTable()}
	for _, p := range parts {
		if !p.File {
			f.args.Set(p.Name, p.Data)
			f.parts = append(f.parts, part{name: p.Name, text: p.Data})
			continue
		}
		t := script.NewTable()
		t.Set("filename", p.FileName)
		t.Set("type", p.Header.Get("Content-Type"))
		t.Set("data", p.Data)
		t.Set("size", float64(len(p.Data)))
		f.files.Set(p.Name, t)
		f.parts = append(f.parts, part{p.Name, p.Data, t})
	}
	return f
}

// parseCookies reads a Cookie field: ";" separates cookies, the first "=" name and
// value, which stays as it was sent. Apache joins several fields with a comma, which a
// value may contain: it is left alone.
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
