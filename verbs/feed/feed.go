// Package feed has the verbs that write and read feeds: Atom (RFC 4287) and RSS 2.0.
package feed

import (
	"scripter/script"
)

const fields = "title, link (the URL of the site), self (the URL of the feed), description, author, language, " +
	"updated (a date), id, and items: a list, or a table of the root, of tables with title, link, id, date, updated, " +
	"summary (text), content (HTML), author, categories (a list), enclosure (a table with url, type and length)"

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "feed.atom",
		Doc: "A feed in Atom. What readers need and the table does not say is made of what it says: an item's id is " +
			"its link, the feed's date that of its newest item.",
		Params:  []script.Param{script.Arg("feed", "table", fields)},
		Results: script.Returns("string", "for the type application/atom+xml"),
		Errors:  "a feed or an item without title, link or date; a value of a wrong kind, with its place",
		Example: `local day = odb.date ("2026-01-31")
local items = {{title = "A < B", link = "https://example.com/1", date = day}}
return feed.atom ({title = "News", link = "https://example.com/", items = items}):match ("<title>A.-</title>")`,
		Gives: "<title>A &lt; B</title>",
		Func:  func(v *script.Call) error { return write(v, atomOf) },
	},
	{
		Name:    "feed.rss",
		Doc:     "A feed in RSS 2.0, for readers that know no Atom.",
		Params:  []script.Param{script.Arg("feed", "table", fields)},
		Results: script.Returns("string", "for the type application/rss+xml"),
		Errors:  "a feed or an item without title, link or date; a value of a wrong kind, with its place",
		Example: `local day = odb.date ("2026-01-31")
local items = {{title = "First", link = "https://example.com/1", date = day}}
return feed.rss ({title = "News", link = "https://example.com/", items = items}):match ("<pubDate>.-</pubDate>")`,
		Gives: "<pubDate>Sat, 31 Jan 2026 00:00:00 GMT</pubDate>",
		Func:  func(v *script.Call) error { return write(v, rssOf) },
	},
	{
		Name: "feed.parse",
		Doc: "What a feed says, in Atom, RSS 2.0 or RSS 1.0: a table with the names that feed.atom knows. What the " +
			"feed does not say is nil. Its texts are foreign: escape them in pages.",
		Params:  []script.Param{script.Arg("text", "string", "UTF-8")},
		Results: script.Returns("table", ""),
		Errors:  "XML that is not well-formed, or is no feed",
		Example: `feed.parse ('<rss version="2.0"><channel><item><title>A</title></item></channel></rss>').items [1].title`,
		Gives:   "A",
		Func:    parse,
	},
}

// itemCharge is what an item counts, in instructions.
const itemCharge = 200
