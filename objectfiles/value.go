package objectfiles

import (
	"bytes"
	"encoding/json"
	"errors"

	"scripter/objectdb"
)

// encodeValue returns the content of the file of a value, the suffix that says its kind, and
// what the index must say if the suffix is not enough.
func encodeValue(v objectdb.Value) (suffix string, content []byte, entry IndexEntry) {
	switch v := v.(type) {
	case objectdb.Script:
		return ".lua", []byte(v), entry
	case objectdb.Text:
		return ".txt", []byte(v), entry
	case objectdb.String:
		return ".str", []byte(v), entry
	case objectdb.Outline:
		if content, ok := encodeOPML(v); ok {
			return ".opml", content, entry
		}
		entry.Kind = v.Kind().String()
		return ".txt", []byte(v), entry
	case objectdb.Binary:
		if suffix = typeSuffixes[v.Type]; suffix == "" {
			suffix = ".bin"
			entry.Kind, entry.Type = v.Kind().String(), v.Type
		}
		return suffix, []byte(v.Data), entry
	}
	return ".json", encodeJSON(v), entry
}

// DecodeValue returns the value of a file with this suffix and content, of which the index
// says entry.
func DecodeValue(suffix string, entry IndexEntry, content string) (objectdb.Value, error) {
	kind, mime := kindOfSuffix(suffix)
	opml := kind == objectdb.KindOutline
	if entry.Kind != "" {
		var err error
		if kind, err = objectdb.ParseKind(entry.Kind); err != nil {
			return nil, err
		}
		mime, opml = entry.Type, false
	} else if entry.Type != "" {
		kind, mime, opml = objectdb.KindBinary, entry.Type, false
	}
	switch kind {
	case objectdb.KindString:
		return objectdb.String(content), nil
	case objectdb.KindText:
		return objectdb.Text(content), nil
	case objectdb.KindOutline:
		if opml {
			return decodeOPML(content)
		}
		return objectdb.Outline(content), nil
	case objectdb.KindScript:
		return objectdb.Script(content), nil
	case objectdb.KindBinary:
		return objectdb.Binary{Type: mime, Data: content}, nil
	case objectdb.KindTable:
		return nil, errors.New("the index says that it is a table, and it is no folder")
	}
	return objectdb.ParseJSON(content)
}

// maxIndent is the depth to which lists are written with one item a line. In deeper lists the
// indentation would take more space than the items.
const maxIndent = 8

// encodeJSON returns the content of a .json file.
func encodeJSON(v objectdb.Value) []byte {
	content := objectdb.AppendJSON(nil, v)
	if depth(v) <= maxIndent {
		var b bytes.Buffer
		if err := json.Indent(&b, content, "", "\t"); err != nil {
			panic(err) // cannot happen: AppendJSON writes JSON
		}
		content = b.Bytes()
	}
	return append(content, '\n')
}

// depth returns how deep lists and records nest.
func depth(v objectdb.Value) int {
	deepest := 0
	switch v := v.(type) {
	case objectdb.List:
		for _, item := range v {
			deepest = max(deepest, depth(item))
		}
	case objectdb.Record:
		for _, f := range v {
			deepest = max(deepest, depth(f.Value))
		}
	default:
		return 0
	}
	return deepest + 1
}
