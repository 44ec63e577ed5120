package macros

import "strings"

// marker is what a marker holds.
type marker struct {
	kind Kind
	expr Expr
	call Expr // of if (x), which is a condition or a call
}

// parseMarker reads the marker whose opening is at start. It returns where the
// marker ends, or a negative end if it has no end and thus is not a marker.
//
// A marker with a syntax error also needs an end. parseMarker chooses the one that
// does least harm: an unclosed quote must not swallow the rest of the page.
//
// Trying to read a marker at every opening takes linear time, although a try
// may run over many openings and still fail. Outside quotes a try ends at the
// next "<", hence at an opening every other try that is still going is inside
// quotes. From there a quote character moves all tries at once, and no two of
// them into the same of the three states outside, in double, in single quotes
// (an escape is an error outside). So never more than three tries go on at the
// same place. A try reads if (x) twice, as a condition and as a call.
func parseMarker(page string, start int) (read marker, end int, what *problem) {
	p := parser{text: page, pos: start + len(opening)}
	read, what = p.marker()
	if what == nil {
		return read, p.pos, nil
	}

	// The parsed text has a "-->" only in double quotes. Most likely the closing
	// quote is missing.
	if i := strings.Index(page[start:p.pos], closing); i >= 0 {
		end = start + i + len(closing)
		p = parser{text: page[:end], pos: start + len(opening)}
		_, what = p.marker()
		return read, end, what
	}

	rest := page[p.pos:]
	if i := strings.Index(rest, opening); i >= 0 {
		rest = rest[:i]
	}
	i := closingOutsideQuotes(rest)
	if i < 0 {
		i = strings.Index(rest, closing)
	}
	if i < 0 {
		return marker{}, -1, nil
	}
	return read, p.pos + i + len(closing), what
}

// closingOutsideQuotes returns the offset of the first "-->" outside double
// quotes, or a negative number. Single quotes hide a double quote, but no "-->".
func closingOutsideQuotes(s string) int {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '-' && quote != '"' && strings.HasPrefix(s[i:], closing):
			return i
		case c == '\\' && quote == '\'' && strings.HasPrefix(s[i+1:], closing):
			return i + 1
		case c == '\\' && quote != 0:
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		}
	}
	return -1
}
