package objectdb

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseAddress(t *testing.T) {
	tests := []struct {
		text string
		want Address
	}{
		{"", Address{}},
		{"user", Address{"user"}},
		{"user.webserver.saveInterval", Address{"user", "webserver", "saveInterval"}},
		{`user.["odd.name"]`, Address{"user", "odd.name"}},
		{`user["odd.name"].x`, Address{"user", "odd.name", "x"}},
		{`["a b"]["c"]`, Address{"a b", "c"}},
		{`["say \"hi\" \\ \x41\n\r\t"]`, Address{"say \"hi\" \\ A\n\r\t"}},
		{"äöü.日本._x1.7", Address{"äöü", "日本", "_x1", "7"}},
	}
	for _, test := range tests {
		got, err := ParseAddress(test.text)
		require.NoError(t, err, test.text)
		assert.Equal(t, test.want, got)
		again, err := ParseAddress(got.String())
		require.NoError(t, err)
		assert.Equal(t, test.want, again)
	}
}

func TestParseAddressErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{".a", "column 1: a name is wanted here"},
		{"a.", "column 3: a name is wanted here"},
		{"a..b", "column 3: a name is wanted here"},
		{"a b", "column 2: a dot is wanted here"},
		{"ä.é.-x", `column 5: a name with this character is written in brackets and quotes, as in a.["odd name"]`},
		{"a.[b]", `column 4: a quote is wanted after "["`},
		{`a.["b`, "column 6: the quoted name does not end"},
		{`a.["b\`, "column 6: the quoted name does not end"},
		{`a.["b"`, `column 7: "]" is wanted after the quoted name`},
		{`a.["b\q"]`, `column 6: this escape is not known; the escapes are \" \\ \n \r \t \xHH`},
		{`["\x4"]`, `column 3: \x wants two hexadecimal digits`},
		{`a.[""]`, "column 3: name cannot be used: it is empty"},
		{`["\x00"]`, `column 1: name cannot be used: "\x00" holds a NUL`},
		{"\xff", `column 1: a name with this character is written in brackets and quotes, as in a.["odd name"]`},
		{strings.Repeat("x", 256), "column 1: name cannot be used: 256 bytes are more than 255"},
	}
	for _, test := range tests {
		_, err := ParseAddress(test.text)
		require.ErrorIs(t, err, ErrName, test.text)
		assert.True(t, strings.HasSuffix(err.Error(), test.want), err.Error())
	}
}

func TestAddressIsAListOfNames(t *testing.T) {
	a := Address{"a", "b"}
	child := a.Child("c.d")
	assert.Equal(t, `a.b.["c.d"]`, child.String())
	assert.Equal(t, "c.d", child.Name())
	assert.Equal(t, a, child.Parent())
	child.Parent()[0] = "x"
	a.Child("y")[0] = "x"
	assert.Equal(t, Address{"a", "b"}, a)
	assert.Equal(t, "", Address{}.String())
	assert.Equal(t, Address{}, Address{}.Parent())
	assert.Equal(t, "", Address{}.Name())
	assert.True(t, Address{"User", "ÄÖ"}.Equal(Address{"uSER", "äö"}))
	assert.False(t, Address{"a.b"}.Equal(Address{"a", "b"}))
}

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"ABC", "abc", "aBc"}, {"Straße", "STRAẞE"}, {"k", "K", "\u212a"}, {"ſ", "s", "S"}, {"Σ", "σ", "ς"},
		{"Å", "å", "\u212b"},
	} {
		for _, name := range same {
			assert.Equal(t, Fold(same[0]), Fold(name), name)
			assert.Equal(t, Fold(name), Fold(Fold(name)))
		}
	}
	assert.Equal(t, "abc_9", Fold("ABC_9"))
	assert.NotEqual(t, Fold("i"), Fold("ı"))
	assert.NotEqual(t, Fold("ss"), Fold("ß"))
}

func TestParseKind(t *testing.T) {
	for k := KindBoolean; k <= KindTable; k++ {
		got, err := ParseKind(strings.ToUpper(k.String()))
		require.NoError(t, err)
		assert.Equal(t, k, got)
	}
	_, err := ParseKind("wptext")
	assert.EqualError(t, err, `objectdb: "wptext" is no kind; the kinds are boolean, number, string, text, `+
		`outline, script, date, binary, list, address, table`)
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"", "user.webserver.prefs", `user.["odd.name"]`, `a["b"]["\x41\\\""]`,
		"a..b", "[", "ä.é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, again)
		require.Equal(t, a.String(), again.String())
		for _, name := range a {
			require.NoError(t, CheckName(name))
			require.LessOrEqual(t, len(Fold(name)), len(name))
		}
	})
}
