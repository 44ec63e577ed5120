package fcgi

import "encoding/binary"

// A name-value pair is two lengths, of one byte up to 127 or of four bytes with
// the top bit set, then the name and the value (section 3.4).

// cutPair splits the first pair off b. ok is false if b holds no whole pair.
func cutPair[T string | []byte](b T) (name, value, rest T, ok bool) {
	n, b, ok := cutLength(b)
	if !ok {
		return name, value, rest, false
	}
	v, b, ok := cutLength(b)
	// Compared one by one: the sum of two lengths could be out of range.
	if !ok || n > len(b) || v > len(b)-n {
		return name, value, rest, false
	}
	return b[:n], b[n : n+v], b[n+v:], true
}

func cutLength[T string | []byte](b T) (int, T, bool) {
	if len(b) == 0 {
		return 0, b, false
	}
	if b[0] < 0x80 {
		return int(b[0]), b[1:], true
	}
	if len(b) < 4 {
		return 0, b, false
	}
	n := int(b[0]&0x7f)<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	return n, b[4:], true
}

func appendPair(dst []byte, name, value string) []byte {
	dst = appendLength(dst, len(name))
	dst = appendLength(dst, len(value))
	dst = append(dst, name...)
	return append(dst, value...)
}

func appendLength(dst []byte, n int) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n)|1<<31)
}
