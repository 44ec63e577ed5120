package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"scripter/fcgi"
	"scripter/httpform"
	"scripter/runner"
	"scripter/script"
)

// contentLength returns the declared length of the body, or -1 if the body ends with the
// stream: a chunked body has no CONTENT_LENGTH behind Apache's mod_cgi, and -1 behind Caddy.
func contentLength(p map[string]string) (int64, error) {
	s := p["CONTENT_LENGTH"]
	switch {
	case s == "-1", s == "" && strings.Contains(strings.ToLower(p["HTTP_TRANSFER_ENCODING"]), "chunked"):
		return -1, nil
	case s == "":
		return 0, nil
	}
	// RFC 9110, 8.6: digits and nothing else.
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || s[0] == '+' {
		return 0, &Error{Status: 400, Message: fmt.Sprintf("CONTENT_LENGTH is %.40q, not a number of bytes", s)}
	}
	return int64(n), nil
}

// readBody reads the body of the request, up to the limit of the plan.
func (x *exchange) readBody() (err error) {
	if !x.bodyRead {
		x.bodyRead = true
		if x.isSpooled() {
			return x.readSpool()
		}
		x.body, err = x.request.readBody(x.plan.maxBody)
	}
	return err
}

// hasBody reports whether there is a body to be read.
func hasBody(r *Request) bool {
	n, err := contentLength(r.Params)
	return n != 0 || err != nil
}

// bodyArrived reports whether the whole body can be read without waiting for the client. A
// transport tells how much of it has arrived by a method Len of Body.
func (r *Request) bodyArrived() bool {
	arrived, ok := r.Body.(interface{ Len() int })
	n, err := contentLength(r.Params)
	return ok && err == nil && 0 < n && n <= smallBody && int64(arrived.Len()) >= n
}

// readBody returns the whole body, which scripts see as one text (postArgs). The status of its
// error is 413 if the body exceeds the limit, 400 if it has fewer bytes than declared, and 408
// if it does not arrive in time.
func (r *Request) readBody(limit runner.Bound) (string, error) {
	n, err := contentLength(r.Params)
	switch {
	case err != nil:
		return "", err
	case n > limit.Most:
		e := tooLarge(limit, "the body has %d bytes, the limit is %d", n, limit.Most)
		e.Public = fmt.Sprintf("The request is too large: it has %s, and %s are accepted.", inUnits(n), inUnits(limit.Most))
		return "", e
	case n == 0:
		return "", nil
	}
	from := r.Body
	if from == nil {
		from = strings.NewReader("")
	}
	if 0 < n && n <= smallBody {
		return readSmall(from, int(n))
	}
	most := n
	if n < 0 {
		most = limit.Most + 1
	}
	var b strings.Builder
	if n > 0 {
		b.Grow(int(n))
	}
	got, err := io.Copy(&b, io.LimitReader(from, most))
	switch {
	case err != nil:
		return "", bodyError(err, got)
	case got > limit.Most:
		return "", tooLarge(limit, "the body has more than %d bytes", limit.Most)
	case n > 0 && got < n:
		return "", shortBody(got, n)
	}
	return b.String(), nil
}

// smallBody is the size in bytes of the largest body that is read through a pooled buffer.
const smallBody = 64 << 10

var bodyBuffers = sync.Pool{New: func() any { return new([smallBody]byte) }}

// readSmall reads a small body of a declared length.
func readSmall(from io.Reader, n int) (string, error) {
	buffer := bodyBuffers.Get().(*[smallBody]byte)
	defer bodyBuffers.Put(buffer)
	got, err := io.ReadFull(from, buffer[:n])
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return "", shortBody(int64(got), int64(n))
	case err != nil:
		return "", bodyError(err, int64(got))
	}
	return string(buffer[:n]), nil
}

func shortBody(got, n int64) error {
	return &Error{Status: 400, Message: fmt.Sprintf("the body has %d of %d declared bytes", got, n)}
}

// bodyError returns the error for a body whose reading ended with err.
func bodyError(err error, got int64) error {
	if errors.Is(err, fcgi.ErrBodyTimeout) || os.IsTimeout(err) {
		return &Error{Status: 408, Message: fmt.Sprintf("the body stopped after %d bytes", got), Err: err}
	}
	return &Error{Status: 400, Message: fmt.Sprintf("body truncated after %d bytes", got), Err: err}
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

// lastFields reads URL-encoded text into a table. If a name comes twice, the last
// value counts, so every value is a text.
func lastFields(text string, most runner.Bound, strict bool) (*script.Table, error) {
	t := script.NewTableFor(strings.Count(text, "&") + 1)
	err := httpform.EachField(text, most.Most, strict, func(name, value string) { t.Set(name, value) })
	if err != nil {
		return nil, formError(err, formBounds{fields: most})
	}
	return t, nil
}

// formError returns the error for a visitor whose form cannot be read.
func formError(err error, b formBounds) error {
	var e *httpform.LimitError
	switch {
	case !errors.As(err, &e):
	case e.IsFile:
		too := tooLarge(b.file, "%v", e)
		too.Public = fmt.Sprintf("The file is too large: %s are accepted.", inUnits(e.Most))
		return too
	case e.IsText:
		return tooLarge(b.text, "%v", e)
	default:
		return tooLarge(b.fields, "%v", e)
	}
	return &Error{Status: 400, Message: err.Error(), Err: err}
}

// requestForm is the form in the body of a request.
type requestForm struct {
	args  *script.Table // name -> text, the last one sent
	files *script.Table // name -> the table of an upload, the last one sent; nil if not multipart

	encoded string // the body, when it is URL-encoded
	parts   []part // of a multipart form, in the order sent
}

// part is one field or file of a multipart form.
type part struct {
	name, text string
	file       *upload // nil for a field
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
func parseBody(contentType, body string, b formBounds) (requestForm, error) {
	if body == "" {
		return requestForm{}, nil
	}
	media, boundary, err := httpform.Media(contentType)
	if err != nil {
		return requestForm{}, formError(err, b)
	}
	switch media {
	case httpform.URLEncoded:
		args, err := lastFields(body, b.fields, true)
		return requestForm{args: args, encoded: body}, err
	case httpform.Multipart:
		parts, err := httpform.ParseMultipart(body, boundary, b.fields.Most)
		if err != nil {
			return requestForm{}, formError(err, b)
		}
		list := make([]httpform.SpooledPart, len(parts))
		for i, p := range parts {
			list[i] = httpform.SpooledPart{Part: p, Size: int64(len(p.Data))}
			if p.File && list[i].Size > b.file.Most {
				return requestForm{}, formError(&httpform.LimitError{Most: b.file.Most, IsFile: true, File: p.Name}, b)
			}
		}
		return multipartForm(list, nil, b, false), nil
	}
	return requestForm{}, nil
}

// multipartForm returns the tables of a multipart form; s is nil unless it is spooled. File names are data,
// never paths.
func multipartForm(parts []httpform.SpooledPart, s *spool, b formBounds, brief bool) requestForm {
	f := requestForm{args: script.NewTable(), files: script.NewTable()}
	for _, p := range parts {
		if !p.File {
			f.args.Set(p.Name, p.Data)
			f.parts = append(f.parts, part{name: p.Name, text: p.Data})
			continue
		}
		u := &upload{part: p, spool: s, text: b.text, brief: brief}
		f.files.Set(p.Name, u.table())
		f.parts = append(f.parts, part{name: p.Name, file: u})
	}
	return f
}

// inUnits returns a number of bytes for people.
func inUnits(n int64) string {
	switch {
	case n >= 1<<20:
		return strconv.FormatFloat(float64(n*10>>20)/10, 'f', -1, 64) + " MB"
	case n >= 1<<10:
		return strconv.FormatFloat(float64(n*10>>10)/10, 'f', -1, 64) + " KB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
