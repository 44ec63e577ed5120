package feed_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/script"
	"scripter/verbs/feed"
	"scripter/verbs/json"
)

const source = `
local form, text = ...
if text then
	return json.encode (feed.parse (text))
end
return feed [form] ({
	title = "A & B", link = "https://example.com/", self = "https://example.com/feed", language = "en", author = "Ada",
	description = "News\1", items = {
		{title = "<1>", link = "https://example.com/1", date = odb.date ("2026-01-31 18:30"), categories = {"x", "y"},
			summary = "short", content = "<p>long &amp; <b>bold</b></p>", author = "Tom",
			enclosure = {url = "https://example.com/1.mp3", type = "audio/mpeg", length = 12}},
		{title = "2", link = "https://example.com/2", id = "urn:x:2", date = odb.date ("2026-02-01"),
			updated = odb.date ("2026-02-03")},
	},
})`

// TestRoundTrip reads what the verbs have written.
func TestRoundTrip(t *testing.T) {
	engine := script.NewEngine(append(feed.Verbs, json.Verbs...))
	run := func(args ...script.Value) string {
		thread := engine.NewThread(context.Background(), script.ThreadOptions{})
		defer thread.Close()
		v, err := thread.RunSource("test", source, args...)
		require.NoError(t, err)
		return v.(string)
	}
	const first = `"content":"<p>long &amp; <b>bold</b></p>","author":"Tom","date":"2026-01-31T18:30:00Z",`
	for form, want := range map[string][]string{
		"atom": {
			`"title":"A & B","id":"https://example.com/","description":"News�","author":"Ada"`,
			`"updated":"2026-02-03T00:00:00Z","link":"https://example.com/","self":"https://example.com/feed"`,
			`"title":"<1>","id":"https://example.com/1","summary":"short",` + first,
			`"enclosure":{"url":"https://example.com/1.mp3","type":"audio/mpeg","length":"12"},"categories":["x","y"]`,
			`"title":"2","id":"urn:x:2","date":"2026-02-01T00:00:00Z","updated":"2026-02-03T00:00:00Z"`,
		},
		"rss": {
			`"title":"A & B","language":"en","description":"News�"`,
			`"updated":"2026-02-03T00:00:00Z","link":"https://example.com/","self":"https://example.com/feed"`,
			`"title":"<1>","id":"https://example.com/1","description":"short","summary":"short",` + first,
			`"enclosure":{"url":"https://example.com/1.mp3","type":"audio/mpeg","length":"12"},"categories":["x","y"]`,
		},
	} {
		text := run(form)
		got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(run(form, text))
		for _, w := range want {
			assert.Contains(t, got, w, text)
		}
	}
}

// TestParse reads forms that the verbs do not write.
func TestParse(t *testing.T) {
	engine := script.NewEngine(append(feed.Verbs, json.Verbs...))
	for text, want := range map[string]string{
		`<rdf:RDF xmlns:rdf="r"><channel><title>T</title></channel><item><dc:date>2026-01-31</dc:date></item></rdf:RDF>`: `{"title":"T","items":[{"date":"2026-01-31T00:00:00Z"}]}`,
		`<rss><channel><atom:link href="s" rel="self"/><link>l</link><item><pubDate>Sat, 31 Jan 2026 10:00:00 EST</pubDate>
		</item></channel></rss>`: `{"link":"l","self":"s","items":[{"date":"2026-01-31T15:00:00Z"}]}`,
		`<feed><link rel="edit" href="e"/><link href="l"/><entry><updated>soon</updated><category term="c"/></entry></feed>`: `{"link":"l","items":[{"categories":["c"]}]}`,
	} {
		thread := engine.NewThread(context.Background(), script.ThreadOptions{})
		v, err := thread.RunSource("test", source, "", text)
		require.NoError(t, err)
		assert.Equal(t, want, v)
		thread.Close()
	}
}
