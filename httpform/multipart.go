package httpform

import (
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"
)

// A Part is one field or file of a multipart form.
type Part struct {
	Name   string
	Header textproto.MIMEHeader
	Data   string // the text of a field, or the bytes of a file

	// File is set for a file. FileName has no folder; it is "" if no file was chosen.
	File     bool
	FileName string
}

// ParseMultipart returns the parts of a multipart form, in their order. It returns a
// [LimitError] for more than most parts.
func ParseMultipart(body, boundary string, most int64) ([]Part, error) {
	if err := checkBoundary(boundary); err != nil {
		return nil, err
	}
	var list []Part
	parts := multipart.NewReader(strings.NewReader(body), boundary)
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if int64(len(list)) == most {
			return nil, &LimitError{Most: most, what: "parts"}
		}
		var data strings.Builder
		if _, err := io.Copy(&data, p); err != nil {
			return nil, unreadable(err)
		}
		part := newPart(p)
		part.Data = data.String()
		list = append(list, part)
	}
}

// newPart returns a part without its data.
func newPart(p *multipart.Part) Part {
	return Part{Name: p.FormName(), Header: p.Header, File: isFile(p.Header), FileName: p.FileName()}
}

func checkBoundary(boundary string) error {
	if boundary == "" || len(boundary) > 70 {
		return errors.New("the multipart form cannot be read: its boundary is missing or longer than 70 bytes")
	}
	return nil
}

// isFile reports whether a part is a file: it has a file name, which may be empty.
func isFile(header textproto.MIMEHeader) bool {
	_, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil {
		return false
	}
	_, ok := params["filename"]
	return ok
}

// FormatMultipart returns the body of a multipart form. [ParseMultipart] reads the same
// parts from it, except for white space at the end of a header field.
func FormatMultipart(parts []Part, boundary string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("--" + boundary + "\r\n")
		for _, name := range slices.Sorted(maps.Keys(p.Header)) {
			for _, value := range p.Header[name] {
				b.WriteString(name + ": " + value + "\r\n")
			}
		}
		b.WriteString("\r\n" + p.Data + "\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.String()
}
