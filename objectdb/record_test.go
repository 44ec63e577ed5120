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
		require.True(t, Equal(list, v), text)
	}
}

func mustDate(t *testing.T, s string) Value {
	v, err := parseDate(s)
	require.NoError(t, err)
	return v
}
