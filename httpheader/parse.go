package httpheader

import (
	"strconv"
	"strings"
)

// Parse reads a script's complete response: status line, fields, blank line,
// body. A line ends with CR LF, LF or, as on the classic Macintosh, CR; a text
// may mix them. Body is the rest of text, not a copy.
//
// Parse checks the syntax only. [Response.Check] checks whether the response may be
// sent with this status and these fields.
func Parse(text string) (*Response, error) {
	line, rest, ended := cutLine(text)
	r := &Response{Fields: make([]Field, 0, 8)}
	if err := r.parseStatus(line); err != nil {
		return nil, err
	}
	for n := 2; ended; n++ {
		line, rest, ended = cutLine(rest)
		if line == "" && ended {
			r.Body = rest
			return r, nil
		}
		if line == "" {
			break
		}
		field, err := parseField(line, n)
		if err != nil {
			return nil, err
		}
		r.Fields = append(r.Fields, field)
	}
	return nil, &Error{Message: "it has no end: a blank line must follow the last field"}
}

// cutLine returns the first line of text and the text after its line end.
func cutLine(text string) (line, rest string, ended bool) {
	for i := range len(text) {
		switch text[i] {
		case '\n':
			return text[:i], text[i+1:], true
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				return text[:i], text[i+2:], true
			}
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// parseStatus parses a status line (RFC 9112, 4). The reason and the blank
// before it may be missing.
func (r *Response) parseStatus(line string) error {
	proto, status, _ := strings.Cut(line, " ")
	if !isProto(proto) {
		return &Error{Line: 1, Message: `expected a status line such as "HTTP/1.0 200 OK", found ` + excerpt(line)}
	}
	var ok bool
	r.Proto = proto
	r.Status, r.Reason, ok = splitStatus(strings.Trim(status, " \t"))
	if !ok {
		message := "expected a status of three digits after " + proto + ", found " + excerpt(status)
		return &Error{Line: 1, Message: message}
	}
	if i := badByte(r.Reason); i >= 0 {
		return &Error{Line: 1, Message: control("reason", r.Reason, i)}
	}
	return nil
}

// isProto reports whether s is a version: HTTP/ and one or two numbers.
func isProto(s string) bool {
	version, ok := strings.CutPrefix(s, "HTTP/")
	if !ok {
		return false
	}
	major, minor, dotted := strings.Cut(version, ".")
	return isDigits(major) && (!dotted || isDigits(minor))
}

// splitStatus splits "404 FILE NOT FOUND". The reason may be missing.
func splitStatus(s string) (code int, reason string, ok bool) {
	digits, reason, _ := strings.Cut(s, " ")
	if len(digits) != 3 || !isDigits(digits) {
		return 0, "", false
	}
	code, err := strconv.Atoi(digits)
	return code, strings.Trim(reason, " \t"), err == nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// parseField parses line n. A line that begins with a blank would continue the one
// before it (obs-fold). RFC 9112, 5.2 forbids sending it, and some web servers answer
// 500 to it.
func parseField(line string, n int) (Field, error) {
	if line[0] == ' ' || line[0] == '\t' {
		return Field{}, &Error{Line: n, Message: "it begins with a blank: a field must be on one line"}
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		if strings.HasPrefix(line, "HTTP/") {
			return Field{}, &Error{Line: n, Message: "a second status line: " + excerpt(line)}
		}
		message := `expected a field such as "Content-type: text/html", found ` + excerpt(line)
		return Field{}, &Error{Line: n, Message: message}
	}
	if why := badName(name); why != "" {
		return Field{}, &Error{Line: n, Message: why}
	}
	value = strings.Trim(value, " \t")
	if i := badByte(value); i >= 0 {
		return Field{}, &Error{Line: n, Field: name, Message: control("value", value, i)}
	}
	return Field{name, value}, nil
}

// excerpt returns the beginning of s in quotes, for a message.
func excerpt(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
