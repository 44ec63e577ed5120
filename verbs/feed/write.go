package feed

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"time"

	"scripter/httpheader"
	"scripter/script"
)

// maxText bounds a feed, in bytes.
const maxText = 16 << 20

// write returns the feed of argument 1 to the script, in the form that form makes.
func write(v *script.Call, form func(*document) any) error {
	d, err := read(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", " ")
	if err := e.Encode(form(d)); err != nil {
		return err
	}
	if b.Len() > maxText {
		return fmt.Errorf("the feed is longer than %d bytes", maxText)
	}
	b.WriteByte('\n')
	v.Charge(b.Len() / 16)
	v.ReturnText(b.String())
	return nil
}

// Atom: RFC 4287.
type (
	atomFeed struct {
		XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Lang    string      `xml:"xml:lang,attr,omitempty"`
		Title   string      `xml:"title"`
		Text    string      `xml:"subtitle,omitempty"`
		Links   []atomLink  `xml:"link"`
		ID      string      `xml:"id"`
		Updated string      `xml:"updated"`
		Author  *atomPerson `xml:"author"`
		Entries []atomEntry `xml:"entry"`
	}
	atomLink struct {
		Rel    string `xml:"rel,attr,omitempty"`
		Type   string `xml:"type,attr,omitempty"`
		Length string `xml:"length,attr,omitempty"`
		Href   string `xml:"href,attr"`
	}
	atomPerson struct {
		Name string `xml:"name"`
	}
	atomText struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
	atomCategory struct {
		Term string `xml:"term,attr"`
	}
	atomEntry struct {
		Title      string         `xml:"title"`
		Links      []atomLink     `xml:"link"`
		ID         string         `xml:"id"`
		Published  string         `xml:"published"`
		Updated    string         `xml:"updated"`
		Author     *atomPerson    `xml:"author"`
		Categories []atomCategory `xml:"category"`
		Summary    string         `xml:"summary,omitempty"`
		Content    *atomText      `xml:"content"`
	}
)

func atomOf(d *document) any {
	f := &atomFeed{
		Lang: d.language, Title: d.title, Text: d.summary, Links: []atomLink{{Href: d.link}}, ID: d.id,
		Updated: d.updated.Format(time.RFC3339), Author: person(d.author),
	}
	if d.self != "" {
		f.Links = append(f.Links, atomLink{Rel: "self", Href: d.self})
	}
	if f.Author == nil { // RFC 4287, 4.1.1: a feed whose entries have no author has one
		f.Author = person(d.title)
	}
	for _, e := range d.items {
		x := atomEntry{
			Title: e.title, Links: []atomLink{{Href: e.link}}, ID: e.id, Published: e.date.Format(time.RFC3339),
			Updated: e.updated.Format(time.RFC3339), Author: person(e.author), Summary: e.summary,
		}
		if file := e.enclosure; file != nil {
			x.Links = append(x.Links, atomLink{Rel: "enclosure", Type: file.kind, Length: file.length, Href: file.url})
		}
		for _, c := range e.categories {
			x.Categories = append(x.Categories, atomCategory{c})
		}
		if e.content != "" {
			x.Content = &atomText{"html", e.content}
		}
		f.Entries = append(f.Entries, x)
	}
	return f
}

func person(name string) *atomPerson {
	if name == "" {
		return nil
	}
	return &atomPerson{name}
}

// RSS 2.0: https://www.rssboard.org/rss-specification. Authors are names, for which RSS has no element
// of its own; content is HTML beside a summary. Both come from the usual extensions.
type (
	rss struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		DC      string   `xml:"xmlns:dc,attr"`
		Content string   `xml:"xmlns:content,attr"`
		Atom    string   `xml:"xmlns:atom,attr"`
		Channel rssChannel
	}
	rssChannel struct {
		XMLName     xml.Name `xml:"channel"`
		Title       string   `xml:"title"`
		Link        string   `xml:"link"`
		Self        *rssSelf `xml:"atom:link"`
		Description string   `xml:"description"`
		Language    string   `xml:"language,omitempty"`
		Author      string   `xml:"dc:creator,omitempty"`
		Date        string   `xml:"lastBuildDate"`
		Items       []rssItem
	}
	rssSelf struct {
		Rel  string `xml:"rel,attr"`
		Type string `xml:"type,attr"`
		Href string `xml:"href,attr"`
	}
	rssGUID struct {
		IsLink bool   `xml:"isPermaLink,attr"`
		ID     string `xml:",chardata"`
	}
	rssFile struct {
		URL    string `xml:"url,attr"`
		Length string `xml:"length,attr"`
		Type   string `xml:"type,attr"`
	}
	rssItem struct {
		XMLName     xml.Name `xml:"item"`
		Title       string   `xml:"title"`
		Link        string   `xml:"link"`
		GUID        rssGUID  `xml:"guid"`
		Date        string   `xml:"pubDate"`
		Author      string   `xml:"dc:creator,omitempty"`
		Categories  []string `xml:"category"`
		Description string   `xml:"description,omitempty"`
		Content     string   `xml:"content:encoded,omitempty"`
		File        *rssFile `xml:"enclosure"`
	}
)

func rssOf(d *document) any {
	c := rssChannel{
		Title: d.title, Link: d.link, Description: d.summary, Language: d.language, Author: d.author,
		Date: httpheader.FormatDate(d.updated),
	}
	if c.Description == "" { // RSS requires one
		c.Description = d.title
	}
	if d.self != "" {
		c.Self = &rssSelf{"self", "application/rss+xml", d.self}
	}
	for _, e := range d.items {
		x := rssItem{
			Title: e.title, Link: e.link, GUID: rssGUID{e.id == e.link, e.id}, Date: httpheader.FormatDate(e.date),
			Author: e.author, Categories: e.categories, Description: e.summary, Content: e.content,
		}
		if file := e.enclosure; file != nil {
			length := file.length
			if length == "" {
				length = "0" // RSS requires one; 0 is what writers give that do not know it
			}
			x.File = &rssFile{file.url, length, file.kind}
		}
		c.Items = append(c.Items, x)
	}
	return &rss{
		Version: "2.0", DC: "http://purl.org/dc/elements/1.1/", Content: "http://purl.org/rss/1.0/modules/content/",
		Atom: "http://www.w3.org/2005/Atom", Channel: c,
	}
}
