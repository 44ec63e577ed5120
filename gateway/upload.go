package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// An upload is a file of a multipart form, as scripts see it: a table with the cells of uploadShape, and the
// methods save, text and bytes.
type upload struct {
	part   httpform.SpooledPart // with its data, unless it is spooled
	spool  *spool               // nil: it is not
	text   runner.Bound         // bytes that a script gets
	brief  bool                 // only the beginning of its data is shown, for the recorded requests
	kind   string               // its type, once it was looked at
	script *script.Table        // once it was made
}

// The cells of an upload. filename, type, data and size are those that there always were.
var (
	uploadCells = [...]struct {
		name  string
		value func(u *upload) script.Value
	}{
		{"filename", func(u *upload) script.Value { return u.part.FileName }},
		{"name", func(u *upload) script.Value { return cleanName(u.part.FileName) }},
		{"type", func(u *upload) script.Value { return u.mimeType() }},
		{"claimedType", func(u *upload) script.Value { return u.claimed() }},
		{"size", func(u *upload) script.Value { return float64(u.part.Size) }},
		{"data", (*upload).data},
	}
	uploadShape = script.NewShape(uploadNames()...).Defer("data").Methods(map[string]script.Method{
		"save":  uploadMethod((*upload).save),
		"text":  uploadMethod((*upload).readText),
		"bytes": uploadMethod((*upload).readBytes),
	})
)

// uploadType is the type of an upload, for editors.
const uploadType = "{filename: string, name: string, type: string, claimedType: string, size: integer, " +
	"data: string, save: (fun(address: any, ...: string): any), text: (fun(): string), " +
	"bytes: (fun(first?: integer, last?: integer): string)}"

func uploadNames() []string {
	var names []string
	for _, c := range uploadCells {
		names = append(names, c.name)
	}
	return names
}

func uploadMethod(m func(*upload, *script.Call) error) script.Method {
	return func(of script.Cells, c *script.Call) error { return m(of.(*upload), c) }
}

// Cell returns the value of cell i.
func (u *upload) Cell(i int) script.Value { return uploadCells[i].value(u) }

// table returns the upload for scripts.
func (u *upload) table() *script.Table {
	if u.script == nil {
		u.script = script.NewRecord(uploadShape, u)
	}
	return u.script
}

// read returns bytes of the file.
func (u *upload) read(offset, size int64) string {
	if u.spool == nil {
		return u.part.Data[offset : offset+size]
	}
	return u.spool.text(u.part.Offset+offset, size)
}

// whole returns all bytes of the file, or an error if a script cannot have that many.
func (u *upload) whole() (string, error) {
	if u.part.Size > u.text.Most {
		return "", u.text.Error(
			"the file %q has %d bytes, and a script gets %d at most of it: bytes (first, last) gives a part",
			cleanName(u.part.FileName), u.part.Size, u.text.Most)
	}
	return u.read(0, u.part.Size), nil
}

// Bytes returns all bytes of the file, for verbs that take a file.
func (u *upload) Bytes() (string, error) { return u.whole() }

func (u *upload) data() script.Value {
	switch {
	case u.brief:
		return u.read(0, min(u.part.Size, 1<<10))
	case u.part.Size > u.text.Most:
		return script.Deferred(func(func(int)) (script.Value, error) { return u.whole() })
	}
	return u.read(0, u.part.Size)
}

func (u *upload) claimed() string { return u.part.Header.Get("Content-Type") }

// mimeType returns the MIME type of the file's bytes.
func (u *upload) mimeType() string {
	if u.kind == "" {
		u.kind = sniffedType(u.read(0, min(u.part.Size, sniffed)), u.claimed())
	}
	return u.kind
}

// save stores the file in the root as a binary: save (address [, name ...]). It returns the address.
func (u *upload) save(c *script.Call) error {
	a := c.AddressBelow(1)
	if len(a) == 0 {
		c.Bad(1, "the root itself cannot be replaced")
	}
	if u.part.FileName == "" && u.part.Size == 0 {
		return errors.New("no file was chosen")
	}
	if u.part.Size > u.text.Most {
		return u.text.Error("the file %q has %d bytes, and an object of at most %d can be saved",
			cleanName(u.part.FileName), u.part.Size, u.text.Most)
	}
	if site.HasURLs(a) && isActiveType(u.mimeType()) {
		return fmt.Errorf("the file %q is %s, which would run at a URL of the site: save it elsewhere",
			cleanName(u.part.FileName), u.mimeType())
	}
	c.Charge(int(u.part.Size >> 6))
	table, err := c.TableAt(a.Parent())
	if err != nil {
		return err
	}
	if err := c.Store(table, a.Name(), objectdb.Binary{Type: u.mimeType(), Data: u.read(0, u.part.Size)}); err != nil {
		return err
	}
	c.Return(a)
	return nil
}

// readText returns the text of the file, which must be UTF-8: text ().
func (u *upload) readText(c *script.Call) error {
	text, err := u.whole()
	if err != nil {
		return err
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("the file %q is not UTF-8: bytes () gives it as it is", cleanName(u.part.FileName))
	}
	c.ReturnText(strings.TrimPrefix(text, "\uFEFF"))
	return nil
}

// readBytes returns bytes of the file, counted from 1: bytes ([first [, last]]).
func (u *upload) readBytes(c *script.Call) error {
	if c.NArgs() == 0 {
		text, err := u.whole()
		if err != nil {
			return err
		}
		c.ReturnText(text)
		return nil
	}
	first, last := int64(c.Int(1)), min(int64(c.OptInt(2, int(u.part.Size))), u.part.Size)
	if first < 1 {
		c.Bad(1, "bytes are counted from 1")
	}
	if first > last {
		c.ReturnText("")
		return nil
	}
	if n := last - first + 1; n > u.text.Most {
		return u.text.Error("these are %d bytes, and a script gets %d at most", n, u.text.Most)
	}
	c.ReturnText(u.read(first-1, last-first+1))
	return nil
}

const maxCleanName = 120 // bytes

// cleanName returns the name of a file as a name that can stand in a header field, a page, a path of every
// system and the root: without folders, control and formatting characters, and the characters that mean
// something to a shell or file system. It is "" if no file was chosen.
func cleanName(name string) string {
	if name == "" {
		return ""
	}
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	var b strings.Builder
	for _, c := range name {
		switch {
		case c == utf8.RuneError, strings.ContainsRune("<>:\"/\\|?*;%&`$'", c), unicode.IsControl(c):
			c = '_'
		case unicode.Is(unicode.Cf, c): // such as those that write the extension backwards
			continue
		case unicode.IsSpace(c):
			c = ' '
		}
		if b.Len()+utf8.RuneLen(c) > maxCleanName {
			break
		}
		b.WriteRune(c)
	}
	if clean := strings.Trim(b.String(), " ."); strings.Trim(clean, " ._") != "" {
		return clean
	}
	return "file"
}

const sniffed = 1 << 10 // bytes of a file that are looked at for its type

// sniffedType returns the MIME type of a file by its first bytes. What the client claims counts only where
// the bytes do not say more than "text", "zip" or nothing, and never for a type that a browser would run.
func sniffedType(head, claimed string) string {
	kind, _, _ := mime.ParseMediaType(http.DetectContentType([]byte(head)))
	if isSVG(head) && (kind == "text/xml" || kind == "text/plain" || kind == htmlType) {
		return "image/svg+xml"
	}
	claim, _, err := mime.ParseMediaType(claimed)
	if err != nil || len(claim) > 100 || isActiveType(claim) || !strings.Contains(claim, "/") {
		return kind
	}
	top, _, _ := strings.Cut(claim, "/")
	switch kind {
	case "text/plain":
		if top == "text" || claim == "application/json" || strings.HasSuffix(claim, "+json") {
			return claim
		}
	case "application/zip": // what office documents are
		if top == "application" {
			return claim
		}
	case "application/octet-stream":
		if top != "text" {
			return claim
		}
	}
	return kind
}

// isSVG reports whether the first bytes of a file are those of an SVG picture.
func isSVG(head string) bool {
	return bytes.Contains(bytes.ToLower([]byte(head)), []byte("<svg"))
}

// isActiveType reports whether a browser that opens a file of this type may run scripts of the file.
func isActiveType(media string) bool {
	switch media {
	case htmlType, "text/xml", "application/xml", "text/xsl", "application/xslt+xml", "application/mathml+xml",
		"text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript",
		"multipart/x-mixed-replace", "message/rfc822", "application/x-shockwave-flash":
		return true
	}
	return strings.HasSuffix(media, "+xml")
}
