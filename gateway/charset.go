package gateway

import (
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"scripter/httpheader"
	"scripter/runner"
	"scripter/site"
)

// charsetTypes are the types outside of text/ whose parameter charset browsers respect
// (RFC 3236, RFC 9239). JSON has no such parameter (RFC 8259), and other XML
// declares its encoding in the document.
var charsetTypes = []string{
	"application/xhtml+xml", "application/javascript", "application/x-javascript", "application/ecmascript",
}

// hasCharset reports whether a MIME type has a parameter charset.
func hasCharset(kind string) bool {
	return strings.HasPrefix(kind, "text/") || isOneOf(kind, charsetTypes)
}

// completeType completes the Content-Type of a response if its script has left that to the
// gateway. rest is the rest of the body, or nil. Of a streamed response only the first piece
// is looked at.
func (c *attempt) completeType(resp *httpheader.Response, rest *runner.Output, streamed bool) error {
	if !c.ownType {
		return nil
	}
	if kind := c.defaultType(); c.page != "" && kind != htmlType && strings.EqualFold(resp.Get("Content-Type"), htmlType) {
		resp.Set("Content-Type", kind)
	}
	if resp.Body == "" && !streamed {
		return nil
	}
	var more io.Reader
	if rest != nil {
		var err error
		if more, err = rest.Rest(); err != nil {
			return err
		}
	}
	return c.nameCharset(resp, more, streamed)
}

// nameCharset adds "; charset=utf-8" to the type of a text in UTF-8 that names no
// charset. Browsers would take such a text for Latin-1 and send its forms in
// Latin-1. It does not change the type of a page that declares another charset.
func (c *attempt) nameCharset(resp *httpheader.Response, more io.Reader, streamed bool) error {
	if !c.Site().Flag(site.FlAddCharset) || !resp.Has("Content-Type") {
		return nil
	}
	kind, err := withCharset(resp.Get("Content-Type"), resp.Body, more, streamed)
	if err == nil {
		resp.Set("Content-Type", kind)
	}
	return err
}

// withCharset returns the type with the charset of its text, or unchanged.
func withCharset(kind, text string, more io.Reader, cut bool) (string, error) {
	plain := kind
	if kind != htmlType { // which most responses have
		media, params, err := mime.ParseMediaType(kind)
		if _, has := params["charset"]; err != nil || has || !hasCharset(media) {
			return kind, nil
		}
		plain = media
	}
	if namesCharset(plain, text) {
		return kind, nil
	}
	if ok, err := isUTF8(text, more, cut); err != nil || !ok {
		return kind, err
	}
	return strings.TrimRight(kind, "; \t") + "; charset=utf-8", nil
}

// ownCharset finds the charset that a text declares: in HTML's meta, in the XML
// declaration, in the first rule of CSS.
var ownCharset = map[string]*regexp.Regexp{
	"text/html":             regexp.MustCompile(metaCharset + "|" + xmlCharset),
	"application/xhtml+xml": regexp.MustCompile(metaCharset + "|" + xmlCharset),
	"text/xml":              regexp.MustCompile(xmlCharset),
	"text/css":              regexp.MustCompile(`(?i)^@charset "([^"]+)"`),
}

const (
	metaCharset = `(?i)<meta\s+(?:charset|http-equiv[^>]*charset)\s*=\s*["']?([^\s"'/>;]+)`
	xmlCharset  = `(?i)^\s*<\?xml\s[^>]*encoding\s*=\s*["']([^"']+)`
)

// namesCharset reports whether a text of that type declares at its beginning a
// charset other than UTF-8.
func namesCharset(kind, text string) bool {
	const most = 1024 // bytes that browsers look at
	find := ownCharset[kind]
	if find == nil {
		return false
	}
	text = text[:min(len(text), most)]
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "charset") && !strings.Contains(lower, "encoding") {
		return false // most texts; the search below is slow
	}
	m := find.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	name := strings.Join(m[1:], "")
	return !strings.EqualFold(name, "utf-8") && !strings.EqualFold(name, "utf8")
}

// isUTF8 reports whether text, continued by more, is valid UTF-8. With cut, it may
// end within a character.
func isUTF8(text string, more io.Reader, cut bool) (bool, error) {
	if more == nil {
		if cut {
			text = text[:len(text)-unfinished(text)]
		}
		return utf8.ValidString(text), nil
	}
	left := unfinished(text)
	if !utf8.ValidString(text[:len(text)-left]) {
		return false, nil
	}
	buf := make([]byte, 64<<10)
	n := copy(buf, text[len(text)-left:])
	for {
		got, err := more.Read(buf[n:])
		n += got
		if err == io.EOF {
			return utf8.Valid(buf[:n]), nil
		}
		if err != nil {
			return false, err
		}
		left := unfinished(string(buf[max(0, n-utf8.UTFMax):n]))
		if !utf8.Valid(buf[:n-left]) {
			return false, nil
		}
		n = copy(buf, buf[n-left:n])
	}
}

// unfinished returns the number of bytes of an incomplete character at the end of a
// text.
func unfinished(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}

// fileTyping finds the MIME type of a plain file.
type fileTyping struct {
	ext     string
	table   string // type of the extension in the mime table, or ""
	charset bool   // flAddCharset
}

// typingOf returns the fileTyping for a file with this name.
func typingOf(s *site.Snapshot, name string) fileTyping {
	ext := filepath.Ext(name)
	t, _ := s.MimeType(ext)
	return fileTyping{ext: ext, table: t.Type, charset: s.Flag(site.FlAddCharset)}
}

// of returns the MIME type of a file, with the charset of its text: the type from
// the mime table, else the system's for the extension, else the detected one.
func (ft fileTyping) of(f io.ReadSeeker) (string, error) {
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	kind := ft.table
	if kind == "" {
		if kind = mime.TypeByExtension(ft.ext); kind == "" {
			kind = http.DetectContentType(head[:n])
		}
		// The library adds charset=utf-8 to every text type.
		if plain, _, err := mime.ParseMediaType(kind); err == nil && hasCharset(plain) {
			kind = plain
		}
	}
	if !ft.charset {
		return kind, nil
	}
	return withCharset(kind, string(head[:n]), nil, true)
}
