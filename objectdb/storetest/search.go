package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// searchAll makes all calls of a search, and returns what they found.
func searchAll(t *T, tx *objectdb.Tx, o objectdb.SearchOptions) (found []objectdb.Found, skipped int) {
	t.Helper()
	for calls := 0; ; calls++ {
		require.Less(t, calls, 100_000, "the search does not end")
		r, err := tx.Search(o)
		require.NoError(t, err)
		require.LessOrEqual(t, r.Searched, r.Total)
		if o.Limit > 0 {
			require.LessOrEqual(t, len(r.Found), o.Limit)
		}
		found, skipped = append(found, r.Found...), skipped+r.Skipped
		if r.Next == "" {
			return found, skipped
		}
		require.NotEqual(t, o.From, r.Next)
		o.From = r.Next
	}
}

// plainLine returns the line of a value that contains query, or 0.
func plainLine(v objectdb.Value, query string) int {
	text := ""
	switch v := v.(type) {
	case objectdb.List:
		for i, item := range v {
			if plainLine(item, query) > 0 && plainText(item) {
				return i + 1
			}
		}
		return 0
	case objectdb.Record:
		for _, f := range v {
			if plainLine(objectdb.String(f.Name), query) > 0 || plainLine(f.Value, query) > 0 && plainText(f.Value) {
				return 1
			}
		}
		return 0
	case objectdb.String:
		text = string(v)
	case objectdb.Text:
		text = string(v)
	case objectdb.Outline:
		text = string(v)
	case objectdb.Script:
		text = string(v)
	default:
		return 0
	}
	before, _, found := strings.Cut(objectdb.Fold(text), objectdb.Fold(query))
	if !found {
		return 0
	}
	return 1 + strings.Count(before, "\n")
}

// plainText reports whether an item of a list is searched in.
func plainText(v objectdb.Value) bool {
	switch v := v.(type) {
	case objectdb.String:
		return utf8.ValidString(string(v))
	case objectdb.Text:
		return utf8.ValidString(string(v))
	case objectdb.Outline:
		return utf8.ValidString(string(v))
	case objectdb.Script:
		return utf8.ValidString(string(v))
	}
	return true
}

// requireSearch compares a search with a walk.
func requireSearch(t *T, tx *objectdb.Tx, o objectdb.SearchOptions, story string) {
	t.Helper()
	story += fmt.Sprintf("\nsearch %+v", o)
	var want, first []string
	require.NoError(t, tx.Walk(o.Below, func(a objectdb.Address, n *objectdb.Node) error {
		if len(a) == len(o.Below) {
			return nil
		}
		fold := objectdb.Fold(n.Name())
		name := o.Name != "" && strings.Contains(fold, objectdb.Fold(o.Name))
		line := 0
		if o.Text != "" && n.Kind() != objectdb.KindTable {
			line = plainLine(Must(tx.Value(n))(t), o.Text)
		}
		if !name && line == 0 {
			return nil
		}
		found := fmt.Sprint(n.ID(), a, n.Kind(), name, line)
		want = append(want, found)
		if name && len(a) == len(o.Below)+1 && strings.HasPrefix(fold, objectdb.Fold(o.Name)) {
			first = append(first, found)
		}
		return nil
	}), story)
	var got []string
	all, skipped := searchAll(t, tx, o)
	require.Zero(t, skipped, story)
	for _, f := range all {
		require.Equal(t, f.Line > 0, f.Text, story)
		got = append(got, fmt.Sprint(f.ID, f.Address, f.Kind, f.Name, f.Line))
		if f.Text {
			require.Equal(t, objectdb.Fold(o.Text), objectdb.Fold(f.Match), story)
		}
	}
	require.Equal(t, first, append([]string(nil), got[:min(len(first), len(got))]...), story)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got, story)
}

// search makes a random search.
func (p *player) search(tx *objectdb.Tx) {
	names := []string{"", "a", "B", "ä", ".", "c.d", "zz"}
	texts := []string{"", "e", "BIG", "ſ", "\u212a", "ä", "\x00", "%", "1", "\n", "Ж", `"`, "\\"}
	o := objectdb.SearchOptions{
		Name: names[p.r.IntN(len(names))], Text: texts[p.r.IntN(len(texts))],
		Limit: 1 + p.r.IntN(20), Budget: time.Hour,
	}
	if o.Name+o.Text == "" {
		return
	}
	if p.r.IntN(2) == 0 {
		o.Budget = 1 // one object or one scan in each call
	}
	if p.r.IntN(2) == 0 {
		a := p.address()
		if n, err := tx.Find(a); err == nil && n.Kind() == objectdb.KindTable {
			o.Below = tx.Address(n)
		}
	}
	requireSearch(p.t, tx, o, strings.Join(p.log, "\n"))
}

func testSearch(t *T) {
	db := open(t)
	long := strings.Repeat("nothing here\n", int(objectdb.ScannedValue)/10)
	Put(t, db,
		"t.Needle", objectdb.Number(1), "t.needle2", objectdb.Text("a needle"), "t.x.theNEEDLE", objectdb.Boolean(true),
		"t.x.s", objectdb.Script("-- one\n\t\tlocal x = Needle ()  \nneedle"),
		"t.x.list", objectdb.List{objectdb.Number(1),
			objectdb.List{objectdb.Record{{Name: "a \"needle\"", Value: objectdb.Null{}}}}},
		"t.x.binary", objectdb.Binary{Data: "needle"}, "t.x.address", objectdb.Address{"needle"},
		"t.x.nul", objectdb.String("\x00\xff needle"),
		"t.x.long", objectdb.Text(long+"STRASSE Straße"), "other.needle", objectdb.String("straßE 100%"),
		"t.huge", objectdb.Text(strings.Repeat("x", int(objectdb.MaxSearched)+1)))
	look := func(tx *objectdb.Tx) {
		find := func(o objectdb.SearchOptions) string {
			o.Budget = time.Hour
			all, _ := searchAll(t, tx, o)
			var list []string
			for _, f := range all {
				s := f.Address.String()
				if f.Text {
					s += fmt.Sprintf(":%d:%s[%s]%s", f.Line, f.Before, f.Match, f.After)
				}
				list = append(list, s)
			}
			return strings.Join(list, " | ")
		}
		assert.Equal(t, "t.Needle | t.needle2 | t.x.theNEEDLE",
			find(objectdb.SearchOptions{Below: Addr(t, "t"), Name: "needlE"}))
		assert.Equal(t, "t.Needle | t.needle2 | t.x.theNEEDLE | other.needle",
			find(objectdb.SearchOptions{Name: "needle"}))
		assert.Equal(t, "t.needle2:1:a [needle] | t.x.s:2:local x = [Needle] () | t.x.list:2:a \"[needle]\" | "+
			"t.x.nul:1:\x00\ufffd [needle]", find(objectdb.SearchOptions{Text: "NEEDLE"}))
		assert.Equal(t, fmt.Sprintf("t.x.long:%d:STRASSE [Straße] | other.needle:1:[straßE] 100%%",
			strings.Count(long, "\n")+1),
			find(objectdb.SearchOptions{Text: "straẞe"}))
		assert.Equal(t, "other.needle:1:straßE 10[0%]", find(objectdb.SearchOptions{Text: "0%"}))
		assert.Equal(t, "t.x.list:2:a [\"n]eedle\"", find(objectdb.SearchOptions{Text: `"N`}))
		assert.Equal(t, "", find(objectdb.SearchOptions{Below: Addr(t, "t"), Name: "other", Text: "0%"}))
		r := Must(tx.Search(objectdb.SearchOptions{Text: "x", Budget: time.Hour}))(t)
		assert.Equal(t, 1, r.Skipped)
		assert.Equal(t, r.Total, r.Searched)
	}
	View(t, db, look)
	View(t, db, func(tx *objectdb.Tx) {
		for _, o := range []objectdb.SearchOptions{
			{}, {Name: "\xff"}, {Text: strings.Repeat("x", 1001)}, {Name: "x", From: "x"}, {Name: "x", From: "i-1"},
			{Name: "x", Below: Addr(t, "t.needle")}, {Name: "x", Below: Addr(t, "t.missing")},
		} {
			_, err := tx.Search(o)
			assert.Error(t, err, "%+v", o)
		}
		n, exact, err := tx.CountObjects()
		require.NoError(t, err)
		assert.Equal(t, int64(15), n)
		assert.True(t, exact)
	})
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Search(objectdb.SearchOptions{Name: "x"})
		return err
	})
	assert.EqualError(t, err, "objectdb: search the root: only a transaction of View can search")
	generation := int64(0)
	View(t, db, func(tx *objectdb.Tx) { generation = tx.Generation() })
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(Addr(t, "t")))
		require.NoError(t, tx.Put(Addr(t, "other.needle"), objectdb.String("new needle")))
	})
	View(t, db, func(tx *objectdb.Tx) {
		all, _ := searchAll(t, tx, objectdb.SearchOptions{Name: "needle", Text: "needle"})
		require.Len(t, all, 1)
		assert.Equal(t, "new ", all[0].Before)
		n, _, err := tx.CountObjects()
		require.NoError(t, err)
		assert.Equal(t, int64(3), n)
	})
	past := db.At(generation, nil)
	if assert.NoError(t, past.View(context.Background(), func(*objectdb.Tx) error { return nil })) {
		View(t, past, func(tx *objectdb.Tx) {
			n, exact, err := tx.CountObjects()
			require.NoError(t, err)
			assert.Equal(t, int64(15), n)
			assert.True(t, exact)
		})
	}
}

// testSearchOfManyObjects: the scans of a search, and the samples of an estimate, cover the whole root.
func testSearchOfManyObjects(t *T) {
	db := open(t)
	const n = 30_000
	Update(t, db, func(tx *objectdb.Tx) {
		for i := range n {
			a := objectdb.Address{fmt.Sprint("table", i%100), fmt.Sprint("object", i)}
			require.NoError(t, tx.Put(a, objectdb.String(fmt.Sprint("value ", i))))
		}
	})
	Update(t, db, func(tx *objectdb.Tx) {
		for i := range 10 {
			require.NoError(t, tx.Delete(objectdb.Address{fmt.Sprint("table", i)}))
		}
	})
	View(t, db, func(tx *objectdb.Tx) {
		all, _ := searchAll(t, tx, objectdb.SearchOptions{Name: "T2999", Text: "VALUE 7", Budget: 1})
		ids := map[int64]bool{}
		for _, f := range all {
			ids[f.ID] = true
		}
		want := 0
		for i := range n {
			if i%100 >= 10 && (strings.HasPrefix(fmt.Sprint(i), "7") || strings.HasPrefix(fmt.Sprint(i), "2999")) {
				want++
			}
		}
		assert.Equal(t, want, len(all))
		assert.Equal(t, want, len(ids))
		count, exact, err := tx.CountObjects()
		require.NoError(t, err)
		assert.False(t, exact)
		assert.InEpsilon(t, n*9/10, count, 0.05)
	})
}
