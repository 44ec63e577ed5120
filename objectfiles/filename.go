package objectfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"scripter/objectdb"
)

// maxFileName is the length of the longest name of a file, in bytes, that all file systems
// allow.
const maxFileName = 255

// File is the file or folder of one object.
type File struct {
	Name    string
	Content []byte     // nil for a folder
	Entry   IndexEntry // its entry in the index, or zero if it needs none
}

// FileOf returns the file of an object with this name and value, or the folder of a table,
// whose value is nil.
func FileOf(name string, v objectdb.Value) File {
	var f File
	var suffix string
	if v != nil {
		suffix, f.Content, f.Entry = encodeValue(v)
	}
	f.Name = escapeName(name, v == nil) + suffix
	if isReadme(f.Name) {
		f.Name = escapeByte(f.Name[0]) + f.Name[1:]
	}
	if len(f.Name) > maxFileName {
		f.Name = shortName(name) + suffix
		f.Entry.Name = name
	}
	return f
}

// NameOf returns the name of the object of a file or folder, and the suffix of a file.
func NameOf(fileName string, folder bool, entry IndexEntry) (name, suffix string, err error) {
	name = fileName
	if !folder {
		dot := strings.LastIndexByte(fileName, '.')
		if dot < 0 || !isSuffix(fileName[dot:]) {
			return "", "", fmt.Errorf("its suffix says no kind of object; use .lua, .txt, .str, .opml, .json "+
				"or that of a MIME type such as .png, or give it a kind in %s", IndexFile)
		}
		name, suffix = fileName[:dot], fileName[dot:]
	}
	if entry.Name != "" {
		name = entry.Name
	} else if name, err = unescapeName(name); err != nil {
		return "", "", err
	}
	return name, suffix, objectdb.CheckName(name)
}

// escapeName returns the name of the file or folder of an object, without a suffix. Two names
// that are different without regard to case never get the same name without regard to case.
func escapeName(name string, folder bool) string {
	dot := -1
	if folder { // the file of a binary called logo is "logo.gif"; so a table "logo.gif" needs another name
		if dot = strings.LastIndexByte(name, '.'); dot >= 0 && !isSuffix(name[dot:]) {
			dot = -1
		}
	}
	reserved := isReserved(name)
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		first, last := i == 0, i == len(name)-1
		switch {
		case i == dot, first && reserved,
			c == '.' && (first || last && folder),
			c == ' ' && (first || last),
			!isFileByte(c):
			b.WriteString(escapeByte(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func escapeByte(c byte) string { return fmt.Sprintf("%%%02X", c) }

// unescapeName returns the name that escapeName has escaped.
func unescapeName(escaped string) (string, error) {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return "", errors.New(`"%" in a file name must be followed by two hexadecimal digits`)
	}
	return name, nil
}

// isFileByte reports whether a byte has no special meaning for shells, Git, package embed and
// the file systems of Unix, macOS and Windows.
func isFileByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("-_.,+=@ ", c) >= 0
}

// isReserved reports whether a name is that of the index, or of a device that Windows finds
// in every folder, with any suffix.
func isReserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "_index", "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && '0' <= stem[3] && stem[3] <= '9'
}

// shortName returns a file name, without a suffix, for a name whose own would be too long. No
// other name gets it, because "%_" is no escape. The index has the name.
func shortName(name string) string {
	sum := sha256.Sum256([]byte(name))
	short := []byte{}
	for i := 0; i < len(name) && len(short) < 60; i++ {
		if c := name[i]; c != '.' && c != ' ' && isFileByte(c) {
			short = append(short, c)
		}
	}
	return string(short) + "%_" + hex.EncodeToString(sum[:12])
}
