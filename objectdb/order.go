package objectdb

import (
	"encoding/binary"
	"math"
	"strings"
)

// The first byte of an ordered value says its kind. Values of different kinds are in this order.
const (
	orderedNothing = iota + 1
	orderedBoolean
	orderedNumber
	orderedDate
	orderedText
	orderedOther
)

// OrderedText is the number of bytes of a folded text that count for its place in an order.
const OrderedText = 200

// AppendOrdered appends a form of v of which the order of the bytes is the order of values, in every store: first
// nothing (nil), then false and true, numbers, dates, texts, and at last all others, between which there is no order.
// Texts are compared as folded names are (see Fold), by their first OrderedText bytes. Strings, texts, outlines, scripts
// and addresses are texts here. No form is the beginning of another one, so that several can follow each other.
func AppendOrdered(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case nil, Null:
		return append(dst, orderedNothing)
	case Boolean:
		if v {
			return append(dst, orderedBoolean, 1)
		}
		return append(dst, orderedBoolean, 0)
	case Number:
		return binary.BigEndian.AppendUint64(append(dst, orderedNumber), orderedBits(float64(v)))
	case Date:
		dst = binary.BigEndian.AppendUint64(append(dst, orderedDate), uint64(v.Unix())^1<<63)
		return binary.BigEndian.AppendUint32(dst, uint32(v.Nanosecond()))
	case List, Binary, Record:
		return append(dst, orderedOther)
	}
	return append(AppendOrderedPrefix(dst, textForm(v)), 0, 0)
}

// AppendOrderedPrefix appends how the ordered form of every text begins that begins with s, without regard to case.
func AppendOrderedPrefix(dst []byte, s string) []byte {
	dst = append(dst, orderedText)
	if len(s) > 2*OrderedText { // a folded text is never longer, and may be shorter
		s = s[:2*OrderedText]
	}
	s = Fold(s)
	if len(s) > OrderedText {
		s = s[:OrderedText]
	}
	if strings.IndexByte(s, 0) < 0 {
		return append(dst, s...)
	}
	for i := 0; i < len(s); i++ {
		if dst = append(dst, s[i]); s[i] == 0 {
			dst = append(dst, 0xff)
		}
	}
	return dst
}

// orderedBits returns bits that sort as numbers do. All NaN are one, before all other numbers, and so are the zeros.
func orderedBits(n float64) uint64 {
	switch {
	case math.IsNaN(n):
		return 0
	case n == 0:
		return 1 << 63
	}
	if bits := math.Float64bits(n); bits>>63 == 0 {
		return bits | 1<<63
	} else {
		return ^bits
	}
}

// AppendReversed appends the form of v that sorts in the reverse order of AppendOrdered.
func AppendReversed(dst []byte, v Value) []byte {
	n := len(dst)
	dst = AppendOrdered(dst, v)
	for i := n; i < len(dst); i++ {
		dst[i] = ^dst[i]
	}
	return dst
}

// OrderedLength returns the length of the ordered form with which s begins; of the reversed form if reversed is true.
func OrderedLength(s string, reversed bool) int {
	if s == "" {
		return 0
	}
	mask := byte(0)
	if reversed {
		mask = 0xff
	}
	switch s[0] ^ mask {
	case orderedBoolean:
		return min(2, len(s))
	case orderedNumber:
		return min(9, len(s))
	case orderedDate:
		return min(13, len(s))
	case orderedText:
		for i := 1; i+1 < len(s); i++ {
			if s[i]^mask != 0 {
				continue
			}
			if i++; s[i]^mask == 0 {
				return i + 1
			}
		}
		return len(s)
	}
	return 1
}

// OrderedEnd returns the end of the ordered values of the same kind as v: they are all before it.
func OrderedEnd(v Value) []byte { return []byte{AppendOrdered(nil, v)[0] + 1} }
