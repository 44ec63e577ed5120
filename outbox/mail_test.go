package outbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAddresses checks which addresses are taken, and in which form.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"ada@example.com": "ada@example.com",
		" Ada Lovelace <ada@example.com>, b@example.com ": `"Ada Lovelace" <ada@example.com>|b@example.com`,
		`"Müller, Jörg" <j@example.com>`:                  "=?utf-8?b?TcO8bGxlciwgSsO2cmc=?= <j@example.com>",
		"o'neil+shop@mail.example.com":                    "o'neil+shop@mail.example.com",
	} {
		got, err := ParseAddresses(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, strings.Join(got, "|"))
	}
	for _, text := range []string{
		"", "x", "@", "a@", "@b", "a b@c.d", "a@b@c", "a@b\r\nBcc: c@d.e", "a@b\n", "\"a\r\"@b.c", "\"a b\"@c.d", "a@b, c",
		"ä@b.c", "a@ä.c", "\x00a@b.c", "a@b.c\xff", "Group: a@b.c, d@e.f;x", strings.Repeat("a", 250) + "@b.cde", "<a@b.c",
	} {
		got, err := ParseAddresses(text)
		assert.Error(t, err, "%q: %q", text, got)
	}
	assert.Equal(t, "ada@example.com", Bare(`"Ada" <ada@example.com>`))
	assert.Empty(t, Bare("x"))
}

// FuzzParseAddresses checks that no address has what could end a line of a header or of SMTP, and that it can be
// read again.
func FuzzParseAddresses(f *testing.F) {
	for _, s := range []string{"Ada <ada@example.com>, b@c.d", `"a\"b" <x@y.z>`, "=?utf-8?q?=0A?= <a@b.c>", "g: a@b.c;", "a@[1.2.3.4]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseAddresses(text)
		if err != nil {
			return
		}
		for _, a := range list {
			require.NotContains(t, a, "\n")
			require.NotContains(t, a, "\r")
			bare := Bare(a)
			require.NotEmpty(t, bare, "%q", a)
			require.False(t, strings.ContainsAny(bare, " <>\r\n\x00\t"), "%q", bare)
			again, err := ParseAddresses(a)
			require.NoError(t, err, "%q of %q", a, text)
			require.Len(t, again, 1)
			require.Equal(t, bare, Bare(again[0]))
		}
	})
}
