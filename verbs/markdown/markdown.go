// Package markdown has the verb that makes HTML of Markdown.
package markdown

import (
	"bytes"
	"errors"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "markdown.html",
		Doc: "Markdown (CommonMark) as HTML. Whoever wrote the text cannot harm a page with it: HTML in it is left " +
			"out, and so are the targets of links that run scripts, such as javascript:.",
		Params: []script.Param{
			script.Arg("text", "string", "at most 1 MB"),
			script.Opt("options", "table", "", "all are false as supplied. tables: tables as on GitHub; breaks: the end of "+
				"a line is <br>; ids: headings get an id made of their words; raw: HTML and all links go in as they are, "+
				"for texts of the site's own authors"),
		},
		Results: script.Returns("string", ""),
		Errors:  "a longer text; a table of more than 100000 cells",
		Example: "markdown.html (\"*Hello* <script>\")",
		Gives:   "<p><em>Hello</em> <!-- raw HTML omitted --></p>\n",
		Page:    true,
		Func:    toHTML,
	},
}

// maxSource and maxHTML bound a text and what is made of it, in bytes.
const (
	maxSource = 1 << 20
	maxHTML   = 16 << 20
)

// A dialect says which Markdown is meant.
type dialect struct{ tables, breaks, ids, raw bool }

// converters holds a goldmark.Markdown for each dialect that was used.
var converters sync.Map

// converter returns the converter of a dialect, which any number of runs may use at once.
func (d dialect) converter() goldmark.Markdown {
	if md, ok := converters.Load(d); ok {
		return md.(goldmark.Markdown)
	}
	var extensions []goldmark.Extender
	if d.tables {
		extensions = append(extensions, tables{})
	}
	parsers := guards
	if d.ids {
		parsers = append(parsers[:len(parsers):len(parsers)], parser.WithAutoHeadingID())
	}
	var renderers []renderer.Option
	if d.breaks {
		renderers = append(renderers, html.WithHardWraps())
	}
	if d.raw {
		renderers = append(renderers, html.WithUnsafe())
	}
	md, _ := converters.LoadOrStore(d, goldmark.New(goldmark.WithExtensions(extensions...),
		goldmark.WithParserOptions(parsers...), goldmark.WithRendererOptions(renderers...)))
	return md.(goldmark.Markdown)
}

func toHTML(v *script.Call) error {
	source := v.String(1)
	o := v.Options(2, "tables", "breaks", "ids", "raw")
	d := dialect{
		tables: o.Bool("tables", false), breaks: o.Bool("breaks", false), ids: o.Bool("ids", false),
		raw: o.Bool("raw", false),
	}
	if len(source) > maxSource {
		v.Bad(1, "the text is longer than %d bytes", maxSource)
	}
	v.Charge(len(source))
	md := d.converter()
	pc := parser.NewContext()
	pc.Set(callKey, v)
	doc := md.Parser().Parse(text.NewReader([]byte(source)), parser.WithContext(pc))
	out := &limited{}
	if err := md.Renderer().Render(out, []byte(source), doc); err != nil {
		return err
	}
	v.ReturnText(out.String())
	return nil
}

// limited is a buffer that refuses more than maxHTML bytes.
type limited struct{ bytes.Buffer }

var errTooLong = errors.New("the HTML is longer than 16 MB")

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxHTML {
		return 0, errTooLong
	}
	return l.Buffer.Write(p)
}
