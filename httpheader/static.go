package httpheader

import (
	"strconv"
	"time"
)

// StaticFile is what the header of a file is made from.
type StaticFile struct {
	Date        time.Time // of the response
	Server      string    // the server's name
	Modified    time.Time // when the file was last written
	Size        int64     // bytes
	ETag        string    // with its quotes; "" for one made of Modified and Size
	ContentType string
}

// Static returns the response that a web server gives for a file, with the
// fields and in the order of the specification's section 4.2: Date, Server,
// Last-Modified, ETag, Content-Length, Accept-Ranges, Connection, Content-Type.
// The body is left to the caller.
func Static(f StaticFile) *Response {
	etag := f.ETag
	if etag == "" {
		etag = FileETag(f.Modified, f.Size)
	}
	return &Response{
		Proto:  "HTTP/1.1",
		Status: 200,
		Reason: "OK",
		Close:  true,
		Fields: []Field{
			{"Date", FormatDate(f.Date)},
			{"Server", f.Server},
			{"Last-Modified", FormatDate(f.Modified)},
			{"ETag", etag},
			{"Content-Length", strconv.FormatInt(f.Size, 10)},
			{"Accept-Ranges", "bytes"},
			{"Content-Type", f.ContentType},
		},
	}
}

// FileETag returns an entity tag, in quotes, that is another one as soon as the
// file's time or size is.
func FileETag(modified time.Time, size int64) string {
	tag := append(make([]byte, 0, 40), '"')
	tag = strconv.AppendInt(tag, size, 16)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, modified.UnixNano(), 16)
	return string(append(tag, '"'))
}
