package lua

// inClass reports whether c belongs to the class %k, in the C locale.
func inClass(c, k byte) bool {
	in := false
	switch k | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = c < ' ' || c == 127
	case 'd':
		in = isDigit(c)
	case 'l':
		in = 'a' <= c && c <= 'z'
	case 'p':
		in = '!' <= c && c <= '~' && !isAlpha(c) && !isDigit(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = 'A' <= c && c <= 'Z'
	case 'w':
		in = isAlpha(c) || isDigit(c)
	case 'x':
		in = isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return k == c
	}
	if k < 'a' && isAlpha(k) {
		return !in
	}
	if !isAlpha(k) {
		return k == c
	}
	return in
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// inSet reports whether c belongs to the set from p, its '[', to end, its ']'.
func (m *matcher) inSet(c byte, p, end int) bool {
	member := true
	if m.pattern[p+1] == '^' {
		member = false
		p++
	}
	for p++; p < end; p++ {
		switch {
		case m.pattern[p] == '%':
			p++
			if p < len(m.pattern) && inClass(c, m.pattern[p]) {
				return member
			}
		case p+2 < end && m.pattern[p+1] == '-':
			if m.pattern[p] <= c && c <= m.pattern[p+2] {
				return member
			}
			p += 2
		case m.pattern[p] == c:
			return member
		}
	}
	return !member
}

// isSpace is C's isspace in the C locale.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }
