package gateway

import (
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"

	"scripter/script"
	escape "scripter/verbs/html"
)

// This file finds out where in HTML a marker stands, and makes data safe for that place: the text of an
// element, an attribute, a URL. It looks at what was written so far, so it does not matter which
// branch of a condition was taken, and what parts and the objects of the root have begun or ended.

// pageText is the text of a page that is being written.
type pageText struct {
	strings.Builder
	at htmlState
}

// htmlState is the state of reading a text as HTML, as the tokenizer of the HTML standard reads it. Only pages that
// insert data are read.
type htmlState struct {
	read  int // bytes
	state htmlStep
	begin int    // where the name, the value, the comment or the text of the element begins
	end   bool   // the tag is an end tag
	tag   string // the name of the tag or of the element, in small letters
	attr  string // the name of the attribute, in small letters
	quote byte   // around the value; 0: none
}

type htmlStep int

const (
	inText     htmlStep = iota
	inTagOpen           // after <
	inEndOpen           // after </
	inDecl              // after <!
	inDeclDash          // after <!-
	inComment           // begin is after <!--
	inBogus             // a comment that ends with >
	inTagName
	inTag      // where a name of an attribute may begin
	inAttrName // begin is its first byte
	afterAttrName
	beforeValue // after =
	inValue     // begin is its first byte
	inElement   // the text of an element without elements
)

// textElements are the elements that contain only text.
var textElements = map[string]bool{
	"script": true, "style": true, "title": true, "textarea": true, "xmp": true, "iframe": true, "noembed": true,
	"noframes": true, "plaintext": true,
}

// place reads what was written since the last call, and returns the place in HTML at the end of the text.
func (p *pageText) place() *htmlState {
	p.at.readOn(p.String())
	return &p.at
}

// readOn reads the rest of s.
func (h *htmlState) readOn(s string) {
	for h.read < len(s) {
		h.step(s)
	}
}

// step reads one byte of s or more.
func (h *htmlState) step(s string) {
	c := s[h.read]
	switch h.state {
	case inText:
		if i := strings.IndexByte(s[h.read:], '<'); i >= 0 {
			h.read, h.state = h.read+i+1, inTagOpen
		} else {
			h.read = len(s)
		}
		return
	case inElement:
		h.element(s)
		return
	case inComment:
		h.comment(s)
		return
	case inValue:
		h.value(s)
		return
	case inTagOpen, inEndOpen:
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			h.end, h.begin, h.state = h.state == inEndOpen, h.read, inTagName
		case c == '/' && h.state == inTagOpen:
			h.state = inEndOpen
		case c == '!' && h.state == inTagOpen:
			h.state = inDecl
		case c == '>' && h.state == inEndOpen:
			h.state = inText
		case c == '?' || h.state == inEndOpen:
			h.state = inBogus
		default:
			h.state = inText
			return // c may be <
		}
	case inDecl, inDeclDash:
		switch {
		case c == '-' && h.state == inDecl:
			h.state = inDeclDash
		case c == '-':
			h.state, h.begin = inComment, h.read+1
		default:
			h.state = inBogus
			return // c may be >
		}
	case inBogus:
		if c == '>' {
			h.state = inText
		}
	default:
		h.inside(s, c)
		return
	}
	h.read++
}

// inside reads a byte within a tag.
func (h *htmlState) inside(s string, c byte) {
	space, ends := isHTMLSpace(c), c == '/' || c == '>' || isHTMLSpace(c)
	switch h.state {
	case inTagName:
		if ends {
			h.tag, h.state = strings.ToLower(s[h.begin:h.read]), inTag
			return
		}
	case inAttrName:
		if ends || c == '=' && h.read > h.begin {
			h.attr, h.state = strings.ToLower(s[h.begin:h.read]), afterAttrName
			return
		}
	case inTag, afterAttrName:
		switch {
		case c == '>':
			h.closeTag(h.read + 1)
		case c == '=' && h.state == afterAttrName:
			h.state = beforeValue
		case c == '/':
			h.state = inTag
		case !space:
			h.state, h.begin = inAttrName, h.read
		}
	case beforeValue:
		switch {
		case c == '"' || c == '\'':
			h.state, h.quote, h.begin = inValue, c, h.read+1
		case c == '>':
			h.closeTag(h.read + 1)
		case !space:
			h.state, h.quote, h.begin = inValue, 0, h.read
			return
		}
	}
	h.read++
}

// closeTag ends a tag whose > is before begin.
func (h *htmlState) closeTag(begin int) {
	h.state = inText
	if !h.end && textElements[h.tag] {
		h.state, h.begin = inElement, begin
	}
}

// value reads the value of an attribute.
func (h *htmlState) value(s string) {
	if h.quote != 0 {
		if i := strings.IndexByte(s[h.read:], h.quote); i >= 0 {
			h.read, h.state = h.read+i+1, inTag
		} else {
			h.read = len(s)
		}
		return
	}
	if c := s[h.read]; c == '>' || isHTMLSpace(c) {
		h.state = inTag
		return
	}
	h.read++
}

// comment reads a comment, which ends with --> or --!>.
func (h *htmlState) comment(s string) {
	i := strings.IndexByte(s[h.read:], '>')
	if i < 0 {
		h.read = len(s)
		return
	}
	before := s[h.begin-2 : h.read+i] // with the two dashes of the opening
	h.read += i + 1
	if strings.HasSuffix(before, "--") || strings.HasSuffix(before, "--!") {
		h.state = inText
	}
}

// element reads the text of an element up to its end tag.
func (h *htmlState) element(s string) {
	for from := max(h.begin, h.read-len(h.tag)-2); ; {
		i := strings.Index(s[from:], "</")
		if i < 0 {
			break
		}
		from += i + 2
		name := from + len(h.tag)
		if name < len(s) && strings.EqualFold(s[from:name], h.tag) &&
			(s[name] == '/' || s[name] == '>' || isHTMLSpace(s[name])) {
			h.read, h.end, h.state = name, true, inTag
			return
		}
	}
	h.read = len(s)
}

func isHTMLSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// urlAttributes are the attributes that hold a URL.
var urlAttributes = map[string]bool{
	"href": true, "src": true, "action": true, "formaction": true, "data": true, "cite": true, "poster": true,
	"background": true, "longdesc": true, "manifest": true, "ping": true, "xlink:href": true, "codebase": true,
	"usemap": true, "profile": true, "classid": true, "archive": true, "icon": true, "srcset": true, "imagesrcset": true,
}

// isCode reports whether the value of an attribute is a script or a style.
func isCode(attr string) bool {
	return strings.HasPrefix(attr, "on") || attr == "style" || attr == "srcdoc"
}

// isText reports whether HTML may be inserted: the place is the text of an element, a comment, or an
// attribute in quotes that holds text.
func (h *htmlState) isText() bool {
	switch h.state {
	case inText, inComment, inBogus, inDecl, inDeclDash:
		return true
	case inElement:
		return h.tag != "script" && h.tag != "style"
	case inValue:
		return h.quote != 0 && !urlAttributes[h.attr] && !isCode(h.attr)
	}
	return false
}

// isContent reports whether elements may be inserted: the place is between others.
func (h *htmlState) isContent() bool { return h.state == inText }

// String says where the place is.
func (h *htmlState) String() string {
	switch h.state {
	case inElement:
		return "in the element " + h.tag
	case inValue, beforeValue:
		return "in the attribute " + h.attr
	case inText, inComment, inBogus, inDecl, inDeclDash:
		return "in text"
	}
	return "in a tag"
}

// escaped returns the text of data, safe for the end of what was written so far. Numbers and booleans are
// safe in scripts, too.
func (p *pageText) escaped(v script.Value, text string) (string, error) {
	h := p.place()
	switch {
	case h.isText():
		return escape.Escape(text), nil
	case h.state == inElement || (h.state == inValue || h.state == beforeValue) && isCode(h.attr):
		switch v.(type) {
		case float64, bool:
			return text, nil
		}
		return "", fmt.Errorf("what comes from a visitor or from data cannot stand %s, where it would be code: "+
			"put it into an attribute such as data-name, and read that", h)
	case h.state != inValue && h.state != beforeValue:
		return "", errors.New(
			"what comes from a visitor or from data cannot stand in a tag, outside of the value of an attribute")
	}
	begin := p.Len()
	if h.state == inValue {
		begin = h.begin
	}
	if urlAttributes[h.attr] {
		var err error
		if text, err = escapeURL(html.UnescapeString(p.String()[begin:]), text); err != nil {
			return "", err
		}
	}
	if h.state == inValue && h.quote != 0 {
		return escape.Escape(text), nil
	}
	if text == "" && begin == p.Len() {
		return `""`, nil
	}
	return escapeUnquoted(text), nil
}

// escapeUnquoted returns a text escaped for an attribute value without quotes, or for part of one.
func escapeUnquoted(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; isAlnum(c) || c >= 0x80 || strings.IndexByte("-._~:/%", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("&#" + strconv.Itoa(int(c)) + ";")
		}
	}
	return b.String()
}

// escapeURL returns data as a part of a URL, of which before is the beginning. A whole URL keeps its
// form. If the page has written the beginning, data can only be part of a path or of a query.
func escapeURL(before, data string) (string, error) {
	// Browsers ignore these at the beginning of a URL, and line ends and tabs anywhere in it.
	before = strings.TrimLeftFunc(before, func(r rune) bool { return r <= ' ' })
	if err := checkScheme(before + data); err != nil {
		return "", err
	}
	switch {
	case before == "":
		return percent(strings.TrimSpace(data), "!*'();:@&=+$,/?#[]%"), nil
	case strings.ContainsAny(before, "?#"):
		return percent(data, ""), nil
	}
	rest := strings.TrimLeft(data, `/\`)
	if before != "/" || rest == data {
		return percent(data, "!*'();:@&=+$,/"), nil
	}
	return percent(data[:len(data)-len(rest)], "") + percent(rest, "!*'();:@&=+$,/"), nil // //host would be another site
}

// checkScheme returns an error for a URL that is a script, or that another program would open.
func checkScheme(url string) error {
	var b strings.Builder
	for i := 0; i < len(url); i++ {
		switch c := url[i]; {
		case c <= ' ':
		case c == '/' || c == '?' || c == '#':
			return nil
		case c == ':':
			switch strings.ToLower(b.String()) {
			case "http", "https", "mailto", "tel", "ftp", "sms":
				return nil
			}
			return fmt.Errorf("a visitor or data has given the URL %q: "+
				"only those with http, https, mailto, tel, sms and ftp are inserted", clip(url, 100))
		default:
			b.WriteByte(c)
		}
	}
	return nil
}

// percent encodes every byte of a URL but letters, digits, - . _ ~ and those that are kept. A % is kept before
// two hexadecimal digits.
func percent(s, kept string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		keep := isAlnum(c) || strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(kept, c) >= 0
		if c == '%' && keep {
			keep = i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		}
		if keep {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
