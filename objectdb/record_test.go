package objectdb

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecordsOnDisk: lists with records are written as plain JSON wherever that is enough.
func TestRecordsOnDisk(t *testing.T) {
	for text, list := range map[string]List{
		`[]`:                        {},
		`[[],{},null]`:              {List{}, Record{}, Null{}},
		`[{"age":36,"name":"Ada"}]`: {Record{{"age", Number(36)}, {"name", String("Ada")}}},
		`[{"at":{"date":"2026-01-02T15:04:05Z"}}]`: {Record{{"at", mustDate(t, "2026-01-02T15:04:05Z")}}},
		`[{"record":{"text":"hello"}}]`:            {Record{{"text", String("hello")}}},
		`[{"text":"hello"}]`:                       {Text("hello")},
		`[{"text":"hello","to":"you"}]`:            {Record{{"text", String("hello")}, {"to", String("you")}}},
		`[{"type":"a"}]`:                           {Record{{"type", String("a")}}},
		`[{"Date":"soon"}]`:                        {Record{{"Date", String("soon")}}},
	} {
		assert.Equal(t, text, string(AppendJSON(nil, list)))
		v, err := ParseJSON(text)
		require.NoError(t, err, text)
		requireEqual(t, list, v)
	}
}

func mustDate(t *testing.T, s string) Value {
	v, err := parseDate(s)
	require.NoError(t, err)
	return v
}

// TestRecordsAreOfLists: no object is a record or null, and a stored list shares nothing
// with the caller's.
func TestRecordsAreOfLists(t *testing.T) {
	db := open(t)
	update(t, db, func(tx *Tx) {
		a := Address{"x"}
		require.ErrorContains(t, tx.Put(a, Record{}), "a record can only be within a list")
		require.ErrorContains(t, tx.Put(a, Null{}), "a null can only be within a list")
		require.ErrorContains(t, tx.Put(a, List{Record{{"a", Number(1)}, {"a", Number(2)}}}), `the field "a" occurs twice`)
		require.ErrorContains(t, tx.Put(a, List{Record{{"\xff", Number(1)}}}), "is not UTF-8")
		require.ErrorContains(t, tx.Put(a, List{Record{{"b", nil}}}), `item 1: field "b"`)
		deep := Value(List{})
		for range maxListDepth {
			deep = List{deep}
		}
		require.ErrorContains(t, tx.Put(a, deep), "nest more than 200 deep")

		r := Record{{"b", Number(2)}, {"a", Number(1)}}
		require.NoError(t, tx.Put(a, List{r}))
		r[0].Value = Number(3)
		got, err := tx.Get(a)
		require.NoError(t, err)
		requireEqual(t, List{Record{{"a", Number(1)}, {"b", Number(2)}}}, got)
	})
	_, err := ParseKind("record")
	assert.ErrorContains(t, err, "the kinds are boolean, number, string, text, outline, script, date, binary, list, address, table")
}
