package httpheader

import (
	"slices"
	"strconv"
)

// AppendNPH appends the complete header with the status line first, as a program
// sends it directly to the client (an nph- program, RFC 3875, 5). This includes the
// blank line, but not the body. If [Response.Check] returns an error, AppendNPH
// returns dst unchanged and the error.
func (r *Response) AppendNPH(dst []byte) ([]byte, error) {
	if err := r.Check(); err != nil {
		return dst, err
	}
	dst = r.grow(dst)
	proto := r.Proto
	if proto == "" {
		proto = ours
	}
	dst = append(append(dst, proto...), ' ')
	dst = r.appendStatus(dst)
	closed := !r.Close
	for _, f := range r.Fields {
		if !closed && sameName(f.Name, "Content-Type") {
			dst = append(dst, "Connection: close\r\n"...)
			closed = true
		}
		dst = f.append(dst)
	}
	if !closed {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}

// AppendParsed appends the header as a web server expects it from a CGI or
// FastCGI program (RFC 3875, 6.2): the first field is Status. The web server chooses
// the version and manages the connection. Errors are those of [Response.AppendNPH].
func (r *Response) AppendParsed(dst []byte) ([]byte, error) {
	if err := r.Check(); err != nil {
		return dst, err
	}
	dst = r.grow(dst)
	dst = append(dst, "Status: "...)
	dst = r.appendStatus(dst)
	for _, f := range r.Fields {
		dst = f.append(dst)
	}
	return append(dst, "\r\n"...), nil
}

func (r *Response) appendStatus(dst []byte) []byte {
	dst = strconv.AppendInt(dst, int64(r.Status), 10)
	dst = append(dst, ' ')
	if r.Reason == "" {
		dst = append(dst, ReasonText(r.Status)...)
	} else {
		dst = append(dst, r.Reason...)
	}
	return append(dst, "\r\n"...)
}

func (f Field) append(dst []byte) []byte {
	dst = append(dst, f.Name...)
	dst = append(dst, ": "...)
	dst = append(dst, f.Value...)
	return append(dst, "\r\n"...)
}

// grow reserves space in dst for the whole header.
func (r *Response) grow(dst []byte) []byte {
	n := len("HTTP/1.0 200 \r\n\r\n") + len("Connection: close\r\n") + 40 + len(r.Reason)
	for i := range r.Fields {
		n += len(r.Fields[i].Name) + len(r.Fields[i].Value) + len(": \r\n")
	}
	return slices.Grow(dst, n)
}
