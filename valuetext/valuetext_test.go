package valuetext

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestFormatAndParse(t *testing.T) {
	for _, c := range []struct {
		v    objectdb.Value
		text string
	}{
		{objectdb.Boolean(true), "true"},
		{objectdb.Number(12.5), "12.5"},
		{objectdb.Number(1e20), "100000000000000000000"},
		{objectdb.Number(1e21), "1e+21"},
		{objectdb.Number(1e-7), "1e-07"},
		{objectdb.Number(math.Inf(-1)), "-Inf"},
		{objectdb.String(" a\n"), " a\n"},
		{objectdb.Text("a\nb"), "a\nb"},
		{objectdb.Outline("a\n\tb"), "a\n\tb"},
		{objectdb.Script("return 1"), "return 1"},
		{objectdb.Date{Time: time.Date(2026, 1, 31, 18, 30, 0, 5, time.UTC)}, "2026-01-31T18:30:00.000000005Z"},
		{objectdb.Binary{Data: "\x00"}, "\x00"},
		{objectdb.Address{"user", "a b"}, `user.["a b"]`},
		{objectdb.List{objectdb.Number(1), objectdb.Null{}, objectdb.List{},
			objectdb.NewRecord(map[string]objectdb.Value{"a": objectdb.Boolean(false)})}, `[1,null,[],{"a":false}]`},
	} {
		assert.Equal(t, c.text, Format(c.v))
		v, err := Parse(c.v.Kind(), c.text)
		require.NoError(t, err, c.text)
		assert.True(t, objectdb.Equal(c.v, v), c.text)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		kind       objectdb.Kind
		text, want string
	}{
		{objectdb.KindBoolean, "yes", `"yes" is no boolean: it is true or false`},
		{objectdb.KindNumber, "12,5", `"12,5" is no number: it is decimal, such as 12.5 or 1e6`},
		{objectdb.KindDate, "today", `"today" is no date: it is like 2026-01-31T18:30:00Z`},
		{objectdb.KindList, `{"a": 1}`, "is no list: it is written as JSON"},
		{objectdb.KindList, "null", "is no list: it is written as JSON"},
		{objectdb.KindList, "[\"\xff\"]", "is no list: it is written as JSON"},
		{objectdb.KindTable, "", "a table cannot be put"},
	} {
		_, err := Parse(c.kind, c.text)
		assert.ErrorContains(t, err, c.want)
	}
	_, err := Parse(objectdb.KindAddress, "a..b")
	assert.Error(t, err)
}

func TestIndented(t *testing.T) {
	assert.Equal(t, "[\n  1,\n  \"a\"\n]\n", Indented(objectdb.List{objectdb.Number(1), objectdb.String("a")}))
	assert.Equal(t, "a", Indented(objectdb.Text("a")))
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(JSON(objectdb.List{objectdb.Number(math.NaN()), objectdb.Binary{Data: "\xff"},
		objectdb.Date{Time: time.Unix(0, 0).UTC()}, objectdb.Address{"a", "b"}}))
	require.NoError(t, err)
	assert.JSONEq(t, `["NaN", "/w==", "1970-01-01T00:00:00Z", "a.b"]`, string(b))
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1204: "1,204 bytes",
		1234567: "1,234,567 bytes"} {
		assert.Equal(t, want, Count(n, "byte"))
	}
}

func TestKindOf(t *testing.T) {
	for file, want := range map[string]objectdb.Kind{
		"": objectdb.KindString, "-": objectdb.KindString, "a/b.LUA": objectdb.KindScript, "x.md": objectdb.KindText,
		"x.png": objectdb.KindBinary, "x.none": objectdb.KindString, "notes.str": objectdb.KindString,
	} {
		assert.Equal(t, want, KindOf(file), file)
	}
}
