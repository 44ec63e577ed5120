package fcgi

import (
	"errors"
	"io"
	"math"
	"strconv"
)

// Peeked describes the part of a request in bytes that were received but not read.
type Peeked struct {
	// Size is how many of the bytes can be read without waiting for more. They end with a
	// complete request, with a record that is answered at once or ignored, or with an error.
	// 0: none.
	Size int
	// Keep is true if the last request that begins in the bytes asks for the connection to
	// stay open (FCGI_KEEP_CONN).
	Keep bool
	// Body is true if all parameters have arrived, but not all of the body.
	Body bool
	// ID is the request id; 0: no request has begun.
	ID uint16
}

// Complete reports whether reading needs no more data.
func (a Peeked) Complete() bool { return a.Size > 0 }

// Peek examines b, the bytes that a connection has received between two requests. Processes
// that share a connection peek before they read: if a process dies, unread data is still there
// for the next one. Peek does not examine what follows the first complete request.
func Peek(b []byte) Peeked {
	var l peeker
	for at := 0; len(b)-at >= headerLen; {
		h := parseHeader(b[at:])
		if l.invalid(b[at], h) {
			l.Size = len(b)
			break
		}
		next := at + headerLen + h.length + h.padding
		if next > len(b) {
			break
		}
		end := l.record(h, b[at+headerLen:])
		if at = next; end || !l.begun {
			l.Size = at
		}
		if end {
			break
		}
	}
	return l.Peeked
}

// ErrBodyTooLarge is returned by CopyRequest for a body that is too large.
var ErrBodyTooLarge = errors.New("body too large")

// CopyRequest copies records until there is a complete request, or anything else at which
// Peek ends. It reads nothing beyond. It copies in pieces of buf, which must have room for
// 16 bytes. What came before an error is copied and examined, too.
//
// The error is ErrBodyTooLarge as soon as the body has more than limit bytes, or the records
// have more than twice as many and 1 MB, because records can be nearly empty.
func CopyRequest(dst io.Writer, src io.Reader, buf []byte, limit int64) (Peeked, error) {
	var l peeker
	for copied := 0; ; {
		if l.body > limit || int64(copied) > 2*limit+1<<20 {
			return l.Peeked, ErrBodyTooLarge
		}
		if n, err := io.ReadFull(src, buf[:headerLen]); err != nil {
			dst.Write(buf[:n])
			return l.Peeked, err
		}
		h := parseHeader(buf)
		wrong, end := l.invalid(buf[0], h), false
		have, left := headerLen, h.length+h.padding
		for first := true; ; first = false {
			n := 0
			if !wrong {
				var err error
				if n, err = io.ReadFull(src, buf[have:min(len(buf), have+left)]); err != nil {
					dst.Write(buf[:have+n])
					return l.Peeked, err
				}
				if first {
					end = l.record(h, buf[have:])
				}
			}
			if _, err := dst.Write(buf[:have+n]); err != nil {
				return l.Peeked, err
			}
			copied += have + n
			if left -= n; left == 0 || wrong {
				break
			}
			have = 0
		}
		if wrong || end {
			l.Size = copied
			return l.Peeked, nil
		}
	}
}

// DeclaredLength returns the CONTENT_LENGTH of the request that begins in b. It returns -1
// if there is none, if it is not a number, or if the parameters are incomplete.
func DeclaredLength(b []byte) int64 {
	var l peeker
	var block []byte
	for at := 0; len(b)-at >= headerLen && !l.paramsEnded; {
		h := parseHeader(b[at:])
		next := at + headerLen + h.length + h.padding
		if l.invalid(b[at], h) || next > len(b) {
			return -1
		}
		content := b[at+headerLen:][:h.length]
		if l.record(h, content) {
			return -1
		}
		if h.typ == typeParams && l.begun && h.id == l.ID {
			block = append(block, content...)
		}
		at = next
	}
	vars := map[string]string{}
	if !l.paramsEnded || parseParams(vars, string(block), math.MaxInt) != nil {
		return -1
	}
	// RFC 9110, section 8.6: digits and nothing else.
	n, err := strconv.ParseUint(vars["CONTENT_LENGTH"], 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// peeker examines one record after the other.
type peeker struct {
	Peeked
	begun, paramsEnded bool
	body               int64 // bytes of the body
}

// invalid reports whether a record is an error. It needs only the header.
func (l *peeker) invalid(v byte, h header) bool {
	return v != version || h.typ == typeBegin && h.id != 0 && h.length != bodyLen
}

// record examines a whole record, and reports whether there is nothing more to examine.
func (l *peeker) record(h header, content []byte) (end bool) {
	switch {
	case h.id == 0:
	case h.typ == typeBegin && !l.begun:
		l.ID, l.Keep = h.id, content[2]&flagKeepConn != 0
		l.begun = int(content[0])<<8|int(content[1]) == roleResponder // other roles are refused
		return !l.begun && !l.Keep
	case h.typ == typeBegin:
		return h.id == l.ID // an error; a second request is refused later
	case !l.begun, h.id != l.ID:
		// A record of no request is ignored.
	case h.typ == typeParams && h.length == 0:
		l.paramsEnded, l.Body = true, true
	case h.typ == typeStdin && h.length > 0:
		l.body += int64(h.length)
	case h.typ == typeAbort, h.typ == typeStdin && h.length == 0 && l.paramsEnded:
		l.Body = false
		return true
	}
	return false
}

// AppendResponse appends the records of a complete response to request id: page, which is a
// CGI header, a blank line and a body, and the end of the request. It is for a program that
// answers in place of a responder that died.
func AppendResponse(dst []byte, id uint16, page []byte) []byte {
	dst = appendStream(dst, typeStdout, id, page)
	dst = appendHeader(dst, typeStdout, id, 0)
	return appendEnd(dst, id, 0, statusComplete)
}
