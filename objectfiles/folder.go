package objectfiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"scripter/objectdb"
)

// The folder form: one object, one file. A table is a folder with the name
// of the table; any other object a file with its name and a suffix for its
// kind. Bytes of a name that some file system or tool would mistake are
// written %XX. What name and suffix cannot say stands in _index.json.

// file is the form in which one object lies in a folder.
type file struct {
	name    string // of the file or folder
	content []byte
	entry   indexEntry // what the index must say; zero: nothing
}

const (
	maxFileName = 255
	otherBinary = ".bin"
)

// kindSuffixes says the kinds that have a suffix of their own; all others but
// binary are .json.
var kindSuffixes = map[objectdb.Kind]string{
	objectdb.KindScript: ".lua", objectdb.KindText: ".txt", objectdb.KindString: ".str", objectdb.KindOutline: ".opml",
}

// suffixTypes are the MIME types with a suffix of their own.
var suffixTypes = map[string]string{
	".avif": "image/avif", ".bin": "application/octet-stream", ".bmp": "image/bmp",
	".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".gz": "application/gzip",
	".html": "text/html", ".ico": "image/vnd.microsoft.icon", ".jpg": "image/jpeg",
	".js": "text/javascript", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".ogg": "audio/ogg", ".otf": "font/otf", ".pdf": "application/pdf", ".png": "image/png",
	".svg": "image/svg+xml", ".ttf": "font/ttf", ".wasm": "application/wasm", ".wav": "audio/wav",
	".webm": "video/webm", ".webp": "image/webp", ".woff": "font/woff", ".woff2": "font/woff2",
	".xml": "application/xml", ".zip": "application/zip",
}

// typeSuffixes is suffixTypes the other way round.
var typeSuffixes = func() map[string]string {
	m := make(map[string]string, len(suffixTypes))
	for suffix, mime := range suffixTypes {
		m[mime] = suffix
	}
	return m
}()

// readSuffixes are further suffixes that are read and never written.
var readSuffixes = map[string]string{".jpeg": "image/jpeg", ".htm": "text/html", ".mjs": "text/javascript"}

func isSuffix(s string) bool {
	_, ok := kindOfSuffix(s)
	return ok
}

// kindOfSuffix gives the kind that a suffix says; 0 for .json, whose content says it.
func kindOfSuffix(suffix string) (objectdb.Kind, bool) {
	suffix = strings.ToLower(suffix)
	for k, s := range kindSuffixes {
		if s == suffix {
			return k, true
		}
	}
	if suffixTypes[suffix] != "" || readSuffixes[suffix] != "" {
		return objectdb.KindBinary, true
	}
	return 0, suffix == ".json"
}

// fileOf gives the form of an object with the given name; v is nil for a table.
func fileOf(name string, v objectdb.Value) file {
	var f file
	suffix := ".json"
	switch v := v.(type) {
	case nil:
		suffix = ""
	case objectdb.Script:
		suffix, f.content = ".lua", []byte(v)
	case objectdb.Text:
		suffix, f.content = ".txt", []byte(v)
	case objectdb.String:
		suffix, f.content = ".str", []byte(v)
	case objectdb.Outline:
		if content, ok := encodeOPML(v); ok {
			suffix, f.content = ".opml", content
		} else {
			suffix, f.content = ".txt", []byte(v)
			f.entry.Kind = objectdb.KindOutline.String()
		}
	case objectdb.Binary:
		f.content = []byte(v.Data)
		if suffix = typeSuffixes[v.Type]; suffix == "" {
			suffix = otherBinary
			f.entry.Kind, f.entry.Type = objectdb.KindBinary.String(), v.Type
		}
	default:
		f.content = encodeJSONFile(v)
	}
	f.name = escapeName(name, v == nil) + suffix
	if isReadme(f.name) {
		f.name = "%" + hex.EncodeToString([]byte(f.name[:1])) + f.name[1:]
	}
	if len(f.name) > maxFileName {
		f.name = shortName(name) + suffix
		f.entry.Name = name
	}
	return f
}

// isReadme reports whether a file tells people about the folder that it is in, as
// GitHub and its like show it. It is no object: an import would publish it.
func isReadme(fileName string) bool { return strings.EqualFold(fileName, "README.md") }

// maxIndent is how deep lists may nest and still be written with one item a
// line: what stands before the items of deeper ones would outgrow them.
const maxIndent = 8

// encodeJSONFile gives the JSON form as a file has it: lists with one item a line.
func encodeJSONFile(v objectdb.Value) []byte {
	if nesting(v) > maxIndent {
		return append(objectdb.AppendJSON(nil, v), '\n')
	}
	var b bytes.Buffer
	if err := json.Indent(&b, objectdb.AppendJSON(nil, v), "", "\t"); err != nil {
		panic(err) // appendJSON writes JSON
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// nesting returns how deep lists and records nest.
func nesting(v objectdb.Value) int {
	deepest := 0
	switch v := v.(type) {
	case objectdb.List:
		for _, item := range v {
			deepest = max(deepest, nesting(item))
		}
	case objectdb.Record:
		for _, f := range v {
			deepest = max(deepest, nesting(f.Value))
		}
	default:
		return 0
	}
	return deepest + 1
}

// escapeName gives the file name for a name, without a suffix. Two names that
// differ by more than case never get file names that differ by less.
func escapeName(name string, folder bool) string {
	dot := -1
	if folder { // "logo.gif" is a binary called logo; a table called so is not
		if dot = strings.LastIndexByte(name, '.'); dot >= 0 && !isSuffix(name[dot:]) {
			dot = -1
		}
	}
	reserved := isReserved(name)
	b := make([]byte, 0, len(name)+8)
	for i := 0; i < len(name); i++ {
		c := name[i]
		first, last := i == 0, i == len(name)-1
		switch {
		case i == dot, first && reserved,
			c == '.' && (first || last && folder),
			c == ' ' && (first || last),
			!isFileByte(c):
			b = fmt.Appendf(b, "%%%02X", c)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// isFileByte tells which bytes mean nothing to shells, Git, embed and the
// file systems of Unix, macOS and Windows.
func isFileByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("-_.,+=@ ", c) >= 0
}

// isReserved tells names that are not free: our own index, and the devices
// that Windows finds in every folder, whatever the suffix.
func isReserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "_index", "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && '0' <= stem[3] && stem[3] <= '9'
}

// shortName stands for a name that makes too long a file name. "%_" is no
// escape, so no other name gets it; the index has the name itself.
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

var errEscape = errors.New(`"%" in a file name must be followed by two hexadecimal digits`)

// unescapeName returns the name for which escapeName returned this one.
func unescapeName(name string) (string, error) {
	name, err := url.PathUnescape(name)
	if err != nil {
		return "", errEscape
	}
	return name, nil
}

// nameOf gives the name of the object that a file or folder stands for, and of a
// file the suffix.
func nameOf(fileName string, folder bool, entry indexEntry) (name, suffix string, err error) {
	name = fileName
	if !folder {
		dot := strings.LastIndexByte(fileName, '.')
		if dot < 0 || !isSuffix(fileName[dot:]) {
			return "", "", fmt.Errorf("its suffix says no kind of object; use .lua, .txt, .str, .opml, .json or that of a MIME type such as .png, or give it a kind in %s", indexFile)
		}
		name, suffix = fileName[:dot], strings.ToLower(fileName[dot:])
	}
	if entry.Name != "" {
		name = entry.Name
	} else if name, err = unescapeName(name); err != nil {
		return "", "", err
	}
	return name, suffix, objectdb.CheckName(name)
}

// valueOf gives the value that a file holds.
func valueOf(suffix string, entry indexEntry, content string) (objectdb.Value, error) {
	kind, _ := kindOfSuffix(suffix)
	mime := suffixTypes[suffix]
	if mime == "" {
		mime = readSuffixes[suffix]
	}
	written := false // whether the file holds the text itself
	if entry.Kind != "" {
		k, err := objectdb.ParseKind(entry.Kind)
		if err != nil {
			return nil, err
		}
		switch k {
		case objectdb.KindTable:
			return nil, errors.New("the index says that it is a table, and it is no folder")
		case objectdb.KindBoolean, objectdb.KindNumber, objectdb.KindList, objectdb.KindAddress, objectdb.KindDate:
			kind = 0 // JSON, whatever the suffix
		default:
			kind, written = k, true
		}
		if k == objectdb.KindBinary {
			mime = entry.Type
		}
	} else if entry.Type != "" {
		kind, mime = objectdb.KindBinary, entry.Type
	}
	switch {
	case kind == 0:
		return objectdb.ParseJSON(content)
	case kind == objectdb.KindOutline && !written:
		return decodeOPML(content)
	}
	switch kind {
	case objectdb.KindString:
		return objectdb.String(content), nil
	case objectdb.KindText:
		return objectdb.Text(content), nil
	case objectdb.KindOutline:
		return objectdb.Outline(content), nil
	case objectdb.KindScript:
		return objectdb.Script(content), nil
	}
	return objectdb.Binary{Type: mime, Data: content}, nil
}
