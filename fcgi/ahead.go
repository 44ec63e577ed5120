package fcgi

// Ahead is what bytes that were received, but not read yet, hold of a request.
type Ahead struct {
	// Whole is true when reading what is there leads somewhere without waiting:
	// to a complete request, to a record that has to be answered, or to an error.
	Whole bool
	// Keep is true when the request asks for the connection to be left open
	// (FCGI_KEEP_CONN).
	Keep bool
	// Body is true when all parameters are there, but not all of the body.
	Body bool
	// ID is the web server's number for the request that has begun; 0: none has.
	ID uint16
}

// LookAhead judges b, which begins at the border of a record, as everything
// does that a connection receives between two requests. Processes that share
// connections look before they read: what one has read dies with it, what it
// has only looked at is there for the next.
func LookAhead(b []byte) Ahead {
	var a Ahead
	var begun bool
	for len(b) >= headerLen {
		h := parseHeader(b)
		if b[0] != version || h.typ == typeBegin && h.length != bodyLen {
			a.Whole = true
			return a
		}
		size := headerLen + h.length + h.padding
		// What ends a stream needs no padding to be understood.
		if len(b) < min(size, headerLen+h.length) {
			break
		}
		switch {
		case h.id == 0:
			a.Whole = a.Whole || !begun
		case h.typ == typeBegin && !begun:
			begun = true
			a = Ahead{ID: h.id, Keep: b[headerLen+2]&flagKeepConn != 0}
			if int(b[headerLen])<<8|int(b[headerLen+1]) != roleResponder {
				a.Whole = true // refused at once
			}
		case h.typ == typeBegin:
			a.Whole = true
		case !begun || h.id != a.ID:
		case h.typ == typeParams && h.length == 0:
			a.Body = true
		case h.typ == typeStdin && h.length == 0 && a.Body, h.typ == typeAbort:
			a.Whole = true
		}
		if a.Whole && begun {
			return a
		}
		b = b[min(len(b), size):]
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
