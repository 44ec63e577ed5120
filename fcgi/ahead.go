package fcgi

// Ahead is what bytes that were received, but not read yet, hold of a request.
type Ahead struct {
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
func (a Ahead) Whole() bool { return a.Size > 0 }

// LookAhead judges b, which begins at the border of a record, as everything
// does that a connection receives between two requests. Processes that share
// connections look before they read: what one has read dies with it, what it
// has only looked at is there for the next. What comes behind the first whole
// request is not looked at.
func LookAhead(b []byte) Ahead {
	var a Ahead
	begun, params := false, false
	for rest := b; len(rest) >= headerLen; {
		h := parseHeader(rest)
		if rest[0] != version || h.typ == typeBegin && h.id != 0 && h.length != bodyLen {
			a.Size = len(b) // an error, as soon as it is read
			return a
		}
		size := headerLen + h.length + h.padding
		if len(rest) < size {
			return a
		}
		content := rest[headerLen:]
		rest = rest[size:]
		switch {
		case h.id == 0:
		case h.typ == typeBegin && !begun:
			a.ID, a.Keep = h.id, content[2]&flagKeepConn != 0
			begun = int(content[0])<<8|int(content[1]) == roleResponder // others are refused
			if !begun && !a.Keep {
				a.Size = len(b) - len(rest)
				return a
			}
		case h.typ == typeBegin && h.id == a.ID:
			a.Size = len(b) // an error
			return a
		case h.typ == typeBegin, !begun, h.id != a.ID:
			// Refused in its turn, or of no request.
		case h.typ == typeParams && h.length == 0:
			params, a.Body = true, true
		case h.typ == typeAbort, h.typ == typeStdin && h.length == 0 && params:
			a.Size, a.Body = len(b)-len(rest), false
			return a
		}
		if !begun {
			a.Size = len(b) - len(rest)
		}
	}
	return a
}

// AppendAnswer appends the records of a whole answer to request id: page, which
// is a CGI header, a blank line and a body, and the end of the request. It is
// for whoever answers in place of a responder that cannot any more.
func AppendAnswer(dst []byte, id uint16, page []byte) []byte {
	dst = appendStream(dst, typeStdout, id, page)
	dst = appendHeader(dst, typeStdout, id, 0)
	return appendEnd(dst, id, 0, statusComplete)
}
