package objectdb

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the length of the longest name, in bytes.
const MaxName = 255

// CheckName reports whether an object may have this name: 1 to 255 bytes of
// UTF-8, any character but NUL. The error is an ErrName and says what is wrong.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: %d bytes are more than %d", ErrName, len(name), MaxName)
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%w: %q holds a NUL", ErrName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrName, name)
	}
	return nil
}

// Fold returns the form of a name that is compared: two names are the same
// in a table when Fold gives the same for both, and children are listed in the
// order of the bytes of their folded names.
//
// Each character is replaced by the smallest of those that simple case folding
// (Unicode, CaseFolding.txt, as package unicode has it) holds equal, and
// an ASCII letter by its lower case. A folded name is never longer.
func Fold(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return string(appendFold(make([]byte, 0, len(name)), name))
		}
	}
	return name
}

// appendFold appends the folded name to dst.
func appendFold(dst []byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= utf8.RuneSelf {
			return appendFoldUnicode(dst, name[i:])
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func appendFoldUnicode(dst []byte, name string) []byte {
	for _, r := range name {
		dst = utf8.AppendRune(dst, foldRune(r))
	}
	return dst
}

func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
