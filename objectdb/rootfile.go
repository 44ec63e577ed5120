package objectdb

import "encoding/binary"

// A root in a file and its saved copies are SQLite files. These two numbers in the
// header tell them from other SQLite files. Package sqlitestore describes the rest of
// the file.
const (
	ApplicationID = 0x53437274 // "SCrt"
	// FileVersion is the version of the form in which this program keeps roots in files.
	FileVersion = 5
)

// IsRoot reports whether a file that begins with head, of 100 bytes or more, is a
// root or a copy of one.
func IsRoot(head []byte) bool {
	return len(head) >= 100 && string(head[:16]) == "SQLite format 3\x00" &&
		binary.BigEndian.Uint32(head[68:]) == ApplicationID
}
