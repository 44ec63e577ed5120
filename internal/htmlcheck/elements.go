package htmlcheck

import "strings"

// An element says what is valid of the elements of one name (WHATWG HTML, 4).
type element struct {
	inline     bool     // it may stand in a text: phrasing content
	phrasing   bool     // it may hold phrasing content only
	also       []string // beside phrasing content
	only       []string // all that may stand in it, nil for any
	within     []string // in what it may stand, nil for any
	attributes []string // beside the global ones
}

var global = strings.Fields("id class lang dir hidden tabindex title role autofocus")

// void elements have no end tag.
var void = map[string]bool{"br": true, "col": true, "hr": true, "img": true, "input": true, "link": true,
	"meta": true, "source": true, "wbr": true}

func words(s string) []string { return strings.Fields(s) }

var elements = map[string]element{
	"html":  {only: words("head body")},
	"head":  {only: words("meta title link script"), within: words("html")},
	"body":  {within: words("html")},
	"title": {within: words("head")},
	"meta":  {within: words("head"), attributes: words("charset name content http-equiv")},
	"link":  {within: words("head"), attributes: words("rel href type media sizes")},
	// Only with src: an inline script would be refused by our Content-Security-Policy.
	"script": {inline: true, attributes: words("src type defer")},

	"header": {}, "footer": {}, "main": {}, "nav": {}, "section": {}, "article": {}, "aside": {}, "div": {},
	"blockquote": {}, "figure": {}, "search": {},
	"figcaption": {within: words("figure")},
	"h1":         {phrasing: true}, "h2": {phrasing: true}, "h3": {phrasing: true}, "h4": {phrasing: true},
	"p": {phrasing: true}, "pre": {phrasing: true}, "hr": {},
	"ul": {only: words("li")},
	"ol": {only: words("li"), attributes: words("reversed start")},
	"li": {within: words("ul ol"), attributes: words("value")},
	"dl": {only: words("dt dd div")},
	"dt": {within: words("dl div")}, "dd": {within: words("dl div")},
	"details": {attributes: words("open name")},
	"summary": {phrasing: true, also: words("h2 h3 h4"), within: words("details")},
	"dialog":  {attributes: words("open")},

	"table":   {only: words("caption colgroup thead tbody tfoot")},
	"caption": {within: words("table")},
	"thead":   {only: words("tr"), within: words("table")},
	"tbody":   {only: words("tr"), within: words("table")},
	"tfoot":   {only: words("tr"), within: words("table")},
	"tr":      {only: words("th td"), within: words("thead tbody tfoot")},
	"th":      {within: words("tr"), attributes: words("scope colspan rowspan")},
	"td":      {within: words("tr"), attributes: words("colspan rowspan")},

	"form":     {attributes: words("action method enctype autocomplete novalidate")},
	"fieldset": {attributes: words("disabled")},
	"legend":   {phrasing: true, within: words("fieldset")},
	"label":    {inline: true, phrasing: true, attributes: words("for")},
	"input": {inline: true, attributes: words("name type value accept autocomplete checked disabled form " +
		"inputmode list max maxlength min minlength multiple pattern placeholder readonly required size step spellcheck")},
	"textarea": {inline: true, attributes: words("name rows cols maxlength minlength required readonly disabled " +
		"placeholder spellcheck autocomplete wrap form")},
	"select": {inline: true, only: words("option optgroup"),
		attributes: words("name multiple required disabled size form")},
	"optgroup": {only: words("option"), attributes: words("label")},
	"option":   {attributes: words("value selected disabled")},
	"datalist": {inline: true, only: words("option")},
	"button":   {inline: true, phrasing: true, attributes: words("type name value form formaction disabled")},
	"output":   {inline: true, phrasing: true, attributes: words("for name")},
	"progress": {inline: true, phrasing: true, attributes: words("max value")},

	"a":      {inline: true, attributes: words("href rel download target")},
	"img":    {inline: true, attributes: words("src alt width height loading decoding srcset sizes")},
	"time":   {inline: true, phrasing: true, attributes: words("datetime")},
	"br":     {inline: true},
	"wbr":    {inline: true},
	"svg":    {inline: true},
	"b":      {inline: true, phrasing: true},
	"code":   {inline: true, phrasing: true},
	"del":    {inline: true, phrasing: true},
	"em":     {inline: true, phrasing: true},
	"i":      {inline: true, phrasing: true},
	"ins":    {inline: true, phrasing: true},
	"kbd":    {inline: true, phrasing: true},
	"mark":   {inline: true, phrasing: true},
	"samp":   {inline: true, phrasing: true},
	"small":  {inline: true, phrasing: true},
	"span":   {inline: true, phrasing: true},
	"strong": {inline: true, phrasing: true},
	"sub":    {inline: true, phrasing: true},
	"sup":    {inline: true, phrasing: true},
	"var":    {inline: true, phrasing: true},
	"abbr":   {inline: true, phrasing: true},
}
