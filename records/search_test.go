package records

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func declareSearch(t testing.TB, db *objectdb.DB, fields ...string) {
	t.Helper()
	update(t, db, func(tx *objectdb.Tx) error { return DeclareIndexes(tx, guests, nil, fields) })
	require.NoError(t, db.BuildIndexes(context.Background(), nil))
}

func hitsOf(hits []Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, h.Record.Name())
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	db := testRoot(t)
	update(t, db, func(tx *objectdb.Tx) error {
		for _, err := range []error{
			addRecord(tx, "a", "name", objectdb.String("Zoë Müller"), "text", objectdb.Text("Die Straße ist <b>lang</b>.")),
			addRecord(tx, "b", "name", objectdb.String("ZOE MULLER"), "text", objectdb.String("long roads, long texts")),
			addRecord(tx, "c", "name", objectdb.String("Bob"), "text", objectdb.String("texts about long and winding roads")),
			addRecord(tx, "d", "name", objectdb.String("roads"), "text", objectdb.String("日本語のテキスト"), "n", objectdb.Number(7)),
			addRecord(tx, "e", "tags", objectdb.List{objectdb.String("Winding"), objectdb.Number(1)}),
			tx.Put(guests.Child("f"), objectdb.String("roads")),
		} {
			require.NoError(t, err)
		}
		return nil
	})
	search := func(words string, fields ...string) (found string, total int) {
		update(t, db, func(tx *objectdb.Tx) error {
			hits, n, err := table(t, tx).Search(Search{Words: words, Fields: fields})
			found, total = hitsOf(hits), n
			return err
		})
		return found, total
	}
	for _, index := range []bool{false, true} {
		if index {
			declareSearch(t, db, "name", "text", "tags")
		}
		for _, c := range []struct{ words, want string }{
			{"muller", "b a"},
			{"MÜLLER zoe", "b a"},
			{"strasse", "a"},
			{"roads", "d b c"},
			{"roads long", "b c"},
			{`"long roads"`, "b"},
			{`"winding roads"`, "c"},
			{"road*", "d b c"},
			{"win*", "e c"},
			{"r* wind*", "c"},
			{"roads -long", "d"},
			{"-long", ""},
			{"本", "d"},
			{"nowhere", ""},
			{"", ""},
			{` " - * -" `, ""},
		} {
			got, total := search(c.words)
			assert.ElementsMatch(t, strings.Fields(c.want), strings.Fields(got), "%v %s", index, c.words)
			assert.Equal(t, len(strings.Fields(c.want)), total, c.words)
		}
		got, _ := search("roads", "name")
		assert.Equal(t, "d", got)
		got, _ = search("roads long", "text")
		assert.Contains(t, []string{"b c", "c b"}, got)
	}
	// What the transaction has written itself is found.
	update(t, db, func(tx *objectdb.Tx) error {
		require.NoError(t, addRecord(tx, "z", "text", objectdb.String("fresh roads")))
		require.NoError(t, tx.Delete(guests.Child("b")))
		hits, _, err := table(t, tx).Search(Search{Words: "roads"})
		assert.ElementsMatch(t, []string{"z", "d", "c"}, strings.Fields(hitsOf(hits)))
		return err
	})
	update(t, db, func(tx *objectdb.Tx) error {
		for _, bad := range []Search{{Words: "a", Limit: -1}, {Words: "a", Limit: MaxHits + 1}, {Words: "a", Fields: []string{""}}} {
			_, _, err := table(t, tx).Search(bad)
			assert.Error(t, err)
		}
		return nil
	})
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("before it ", 30) + "the Wörd & more " + strings.Repeat("after it ", 50)
	for _, c := range []struct{ words, text, want string }{
		{"lang", "ist <b>lang</b>.", "ist &lt;b&gt;<mark>lang</mark>&lt;/b&gt;."},
		{"none", "a <text>", "a &lt;text&gt;"},
		{"a* ''", "Ada, \"and\"\n\tBob", "<mark>Ada</mark>, &#34;<mark>and</mark>&#34; Bob"},
		{"word", long, "…it before it before it before it before it before it the <mark>Wörd</mark> &amp; more "},
	} {
		w := parseWords(c.words)
		got := w.snippet([]string{"", c.text})
		assert.True(t, strings.HasPrefix(got, c.want), got)
		assert.Less(t, len(got), snippetBytes+100)
	}
}

// TestRandomSearches compares searches with an index with those that look at all records.
func TestRandomSearches(t *testing.T) {
	db := testRoot(t)
	r := rand.New(rand.NewPCG(3, 4))
	text := func() objectdb.Value {
		var words []string
		for range r.IntN(6) {
			words = append(words, fmt.Sprintf("w%d%c", r.IntN(6), 'a'+r.IntN(3)))
		}
		return objectdb.String(strings.Join(words, " "))
	}
	update(t, db, func(tx *objectdb.Tx) error {
		for i := range 900 { // more than are read at once
			if err := addRecord(tx, fmt.Sprintf("k%04d", i), "a", text(), "b", text()); err != nil {
				return err
			}
		}
		return nil
	})
	run := func(s Search) (keys []string) {
		update(t, db, func(tx *objectdb.Tx) error {
			hits, total, err := table(t, tx).Search(s)
			assert.Len(t, hits, total)
			keys = strings.Fields(hitsOf(hits))
			return err
		})
		slices.Sort(keys)
		return keys
	}
	var searches []Search
	for range 60 {
		var words []string
		for range 1 + r.IntN(3) {
			word := fmt.Sprintf("w%d%c", r.IntN(6), 'a'+r.IntN(3))
			words = append(words, []string{word, word, word[:2] + "*", "-" + word, `"` + word + " w1a" + `"`}[r.IntN(5)])
		}
		s := Search{Words: strings.Join(words, " "), Limit: MaxHits}
		s.Fields = [][]string{{"a", "b"}, {"b"}}[r.IntN(2)]
		searches = append(searches, s)
	}
	var want [][]string
	for _, s := range searches {
		want = append(want, run(s))
	}
	declareSearch(t, db, "a", "b")
	for i, s := range searches {
		assert.Equal(t, want[i], run(s), "%+v", s)
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{`a "b c" -d e*`, `"`, "-", "ä-ö*", "\xff<&>"} {
		f.Add(s, "text "+s)
	}
	f.Fuzz(func(t *testing.T, s, text string) {
		w := parseWords(s)
		if len(w.terms) > maxTerms {
			t.Error(s)
		}
		snippet := w.snippet([]string{text})
		plain := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(snippet)
		if strings.ContainsAny(plain, "<>\"'") || !utf8.ValidString(snippet) ||
			strings.Count(snippet, "<mark>") != strings.Count(snippet, "</mark>") {
			t.Errorf("%q: %q", text, snippet)
		}
		_ = html.UnescapeString(snippet)
		for _, k := range objectdb.WordsOf([]string{text}) {
			if !strings.HasSuffix(k.Key, "\x00") || strings.Count(k.Key, "\x00") != 1 {
				t.Errorf("%q: %q", text, k.Key)
			}
		}
	})
}

// BenchmarkSearch searches 23,000 entries of about 30 words.
func BenchmarkSearch(b *testing.B) {
	db := testRoot(b)
	r := rand.New(rand.NewPCG(5, 6))
	for n := 0; n < 23_000; {
		update(b, db, func(tx *objectdb.Tx) error {
			for range 1000 {
				var words []string
				for range 30 {
					words = append(words, fmt.Sprintf("word%d", int(r.ExpFloat64()*1000)))
				}
				words = append(words, "common", "usual")
				err := addRecord(tx, fmt.Sprintf("k%08d", n), "name", objectdb.String(fmt.Sprintf("name %d", n/10)),
					"message", objectdb.Text(strings.Join(words, " ")))
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
	}
	run := func(name, words string) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				update(b, db, func(tx *objectdb.Tx) error {
					hits, _, err := table(b, tx).Search(Search{Words: strings.ReplaceAll(words, "%", fmt.Sprint(i*37%2000))})
					if len(hits) == 0 && i < 10 {
						b.Log("nothing is found")
					}
					return err
				})
			}
		})
	}
	if testing.Short() {
		run("walk", "word%")
	}
	declareSearch(b, db, "name", "message")
	run("oneWord", "word%")
	run("twoWords", "word% usual")
	run("beginning", "word%*")
	run("phrase", `"common usual" word%`)
	run("wordOfAll", "common")
	run("twoWordsOfAll", "common usual")
}
