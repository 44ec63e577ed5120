package foldersync

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"scripter/objectdb"
)

// object is what one side has at a place. The zero value means that there is nothing.
type object struct {
	Name string `json:"name,omitempty"` // as it is spelled
	Sum  string `json:"sum,omitempty"`  // kind and checksum: see sumOf
}

const (
	tableSum   = "table"   // the sum of every table
	unknownSum = "unknown" // a sum in the base that no object has
)

func (o object) exists() bool  { return o.Sum != "" }
func (o object) isTable() bool { return o.Sum == tableSum }

// kind returns the name of the kind of an object.
func (o object) kind() string {
	kind, _, _ := strings.Cut(o.Sum, ":")
	return kind
}

// sumOf returns the kind of a value and a checksum of both.
func sumOf(v objectdb.Value) string {
	h := sha256.New()
	switch v := v.(type) {
	case objectdb.Script:
		io.WriteString(h, string(v))
	case objectdb.Text:
		io.WriteString(h, string(v))
	case objectdb.String:
		io.WriteString(h, string(v))
	case objectdb.Outline:
		io.WriteString(h, string(v))
	case objectdb.Binary:
		io.WriteString(h, v.Type+"\x00"+v.Data)
	default:
		h.Write(objectdb.AppendJSON(nil, v))
	}
	return v.Kind().String() + ":" + hex.EncodeToString(h.Sum(nil))
}

// A key names an object below the synced table without regard to case: the folded names, with
// keySeparator before each. No name contains that. A key sorts before those of the objects in it.
const keySeparator = "\x00"

func childKey(parent, name string) string { return parent + keySeparator + objectdb.Fold(name) }

// parentKey returns the key of the table that holds an object; "" is the synced table.
func parentKey(key string) string { return key[:strings.LastIndex(key, keySeparator)] }

// isPasswordHash reports whether a value is a password hash, in the usual text form.
func isPasswordHash(v objectdb.Value) bool {
	s, ok := v.(objectdb.String)
	return ok && len(s) < 512 && strings.HasPrefix(string(s), "$argon2")
}
