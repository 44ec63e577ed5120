package httpheader

import (
	"strconv"
	"time"
)

// FileETag returns an entity tag, in quotes, that changes if the modification time or
// the size of a file changes.
func FileETag(modified time.Time, size int64) string {
	tag := append(make([]byte, 0, 40), '"')
	tag = strconv.AppendInt(tag, size, 16)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, modified.UnixNano(), 16)
	return string(append(tag, '"'))
}
