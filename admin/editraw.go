package admin

import (
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// pictureTypes are the types of binaries that the page shows. A browser runs nothing in them.
var pictureTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/bmp": true,
	"image/x-icon": true, "image/vnd.microsoft.icon": true,
}

func isPicture(mimeType string) bool { return pictureTypes[mediaType(mimeType)] }

// isTextType reports whether binaries of a type are edited as text.
func isTextType(mimeType string) bool {
	t := mediaType(mimeType)
	switch t {
	case "application/json", "application/javascript", "application/xml", "image/svg+xml", "application/xhtml+xml":
		return true
	}
	return strings.HasPrefix(t, "text/")
}

// mediaType returns a MIME type without its parameters.
func mediaType(mimeType string) string {
	t, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return ""
	}
	return t
}

// rawPolicy is the Content-Security-Policy of a value that is sent as it is: whatever it is, nothing
// in it runs, and it is not part of the web page.
const rawPolicy = "default-src 'none'; sandbox"

// rawValue sends the bytes of a value, to be kept as a file.
func (c *call) rawValue() (*result, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	var file objectfiles.File
	var kind string
	err = c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil {
			return err
		}
		if n.Kind() == objectdb.KindTable {
			return bad("value.table", name(a))
		}
		if !c.maySeeValue(a, n.Kind()) {
			return newProblem(http.StatusForbidden, "value.secret")
		}
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		file = objectfiles.FileOf(n.Name(), v)
		kind = contentType(v, file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &result{serve: func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", rawPolicy)
		h.Set("Content-Type", kind)
		parameters := map[string]string{"filename": fileName(a.Name(), file.Name)}
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", parameters))
		w.Write(file.Content)
	}}, nil
}

// contentType returns the type of a value that is sent as it is.
func contentType(v objectdb.Value, f objectfiles.File) string {
	if b, ok := v.(objectdb.Binary); ok {
		if mediaType(b.Type) == "" {
			return "application/octet-stream"
		}
		return b.Type
	}
	switch {
	case !utf8.Valid(f.Content):
		return "application/octet-stream"
	case path.Ext(f.Name) == ".json":
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

// fileName returns the name of a file for a value, without signs that mean something to a shell or a
// file system. file is the name in a folder form, which has a suffix.
func fileName(name, file string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|%`, r) || !utf8.ValidRune(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	name = strings.Trim(name, ". ")
	if name == "" {
		name = "value"
	}
	suffix := path.Ext(file)
	if strings.EqualFold(path.Ext(name), suffix) || suffix == ".bin" && path.Ext(name) != "" {
		return name
	}
	return name + suffix
}
