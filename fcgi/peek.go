package fcgi

import (
	"errors"
	"io"
	"math"
	"strconv"
)

// Ahead is what bytes that were received, but not read yet, hold of a request.
type Peeked struct {
	// Size is how many of the bytes can be read without waiting for others: they
	// end with a complete request, with a record that is answered at once or
	// means nothing, or in an error. 0: there is nothing of the kind.
	Size int
	// Keep is true when the last request that begins in the bytes asks for the
	// connection to be left open (FCGI_KEEP_CONN).
	Keep bool
	// Body is true when all its parameters are there, but not all of the body.
	Body bool
	// ID is the web server's number for it; 0: none has begun.
	ID uint16
}

// Whole reports whether reading leads somewhere without waiting.
func (a Peeked) Complete() bool { return a.Size > 0 }

// Peek judges b, which begins at the border of a record, as everything
// does that a connection receives between two requests. Processes that share
// connections look before they read: what one has read dies with it, what it
// has only looked at is there for the next. What comes behind the first whole
// request is not looked at.
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

// ErrBodyTooLarge tells that a body has more bytes than were allowed.
var ErrBodyTooLarge = errors.New("the body is too large")

// CopyRequest copies what Peek looks at: records, until there is a whole
// request or anything else that ends the looking. It reads nothing beyond, and piece by piece of
// buf, which must have room for 16 bytes. What came before an error is copied and told, too.
//
// The error is ErrBodyTooLarge as soon as the body has more than limit bytes, or
// all of it more than twice as many and 1 MB: records that hold next to nothing.
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

// DeclaredLength returns the CONTENT_LENGTH of the request that begins in b;
// -1 when it has none, or one that is no number, or its parameters are not all
// there.
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

// lookout looks at one record after the other.
type peeker struct {
	Peeked
	begun, paramsEnded bool
	body               int64 // bytes of it
}

// wrong reports whether a record is an error, as soon as its header is read.
func (l *peeker) invalid(v byte, h header) bool {
	return v != version || h.typ == typeBegin && h.id != 0 && h.length != bodyLen
}

// see judges a whole record and reports whether there is an end to the looking.
func (l *peeker) record(h header, content []byte) (end bool) {
	switch {
	case h.id == 0:
	case h.typ == typeBegin && !l.begun:
		l.ID, l.Keep = h.id, content[2]&flagKeepConn != 0
		l.begun = int(content[0])<<8|int(content[1]) == roleResponder // others are refused
		return !l.begun && !l.Keep
	case h.typ == typeBegin:
		return h.id == l.ID // an error; another one is refused in its turn
	case !l.begun, h.id != l.ID:
		// Of no request.
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

// AppendAnswer appends the records of a whole answer to request id: page, which
// is a CGI header, a blank line and a body, and the end of the request. It is
// for whoever answers in place of a responder that cannot any more.
func AppendResponse(dst []byte, id uint16, page []byte) []byte {
	dst = appendStream(dst, typeStdout, id, page)
	dst = appendHeader(dst, typeStdout, id, 0)
	return appendEnd(dst, id, 0, statusComplete)
}
