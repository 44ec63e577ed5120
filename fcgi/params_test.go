package fcgi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pairs(s ...string) string {
	var b []byte
	for i := 0; i < len(s); i += 2 {
		b = appendPair(b, s[i], s[i+1])
	}
	return string(b)
}

func TestParseParams(t *testing.T) {
	for name, tc := range map[string]struct {
		block string
		want  map[string]string
		err   error
	}{
		"nothing":   {"", map[string]string{}, nil},
		"ordinary":  {pairs("A", "b", "C", ""), map[string]string{"A": "b", "C": ""}, nil},
		"last wins": {pairs("A", "b", "X", "y", "A", "c"), map[string]string{"A": "c", "X": "y"}, nil},
		"fields are joined": {
			pairs("HTTP_ACCEPT", "a", "HTTP_ACCEPT", "b", "HTTP_ACCEPT", "c"),
			map[string]string{"HTTP_ACCEPT": "a, b, c"}, nil,
		},
		"cookies are joined": {
			pairs("HTTP_COOKIE", "a=1", "HTTP_COOKIE", "b=2"), map[string]string{"HTTP_COOKIE": "a=1; b=2"}, nil,
		},
		"lighttpd, two names": {
			pairs("HTTP_X_A", "a", "SERVER_SOFTWARE", "lighttpd/1.4.69", "HTTP_X_A", "b"), nil, errConflict,
		},
		"nginx, one name": {
			pairs("HTTP_X_A", "a", "SERVER_SOFTWARE", "nginx/1.22.1", "HTTP_X_A", "b"),
			map[string]string{"HTTP_X_A": "a, b", "SERVER_SOFTWARE": "nginx/1.22.1"}, nil,
		},
		"same length twice": {
			pairs("CONTENT_LENGTH", "3", "CONTENT_LENGTH", "3"), map[string]string{"CONTENT_LENGTH": "3"}, nil,
		},
		"two lengths":          {pairs("CONTENT_LENGTH", "3", "CONTENT_LENGTH", "4"), nil, errConflict},
		"two scripts":          {pairs("SCRIPT_NAME", "/a", "SCRIPT_NAME", "/b"), nil, errConflict},
		"third length differs": {pairs("CONTENT_LENGTH", "3", "CONTENT_LENGTH", "3", "CONTENT_LENGTH", ""), nil, errConflict},
		"overrun":              {pairs("A", "b") + "\x01\x02A", nil, errMalformed},
		"ten of them":          {strings.Repeat(pairs("A", ""), 10), map[string]string{"A": ""}, nil},
		"eleven of them":       {strings.Repeat(pairs("A", ""), 11), nil, errTooMany},
	} {
		t.Run(name, func(t *testing.T) {
			m := map[string]string{}
			err := parseParams(m, tc.block, 10)
			require.Equal(t, tc.err, err)
			if err == nil {
				assert.Equal(t, tc.want, m)
			}
		})
	}
}

func TestPairLengths(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 255, 256, 65535, 65536, 1 << 20} {
		value := strings.Repeat("v", n)
		got, again, rest, ok := cutPair(string(appendPair(nil, value, "x"+value)) + "rest")
		require.True(t, ok)
		assert.True(t, got == value && again == "x"+value && rest == "rest", "%d bytes", n)
	}
}

// FuzzParams checks that an accepted block has the same parameters after it is encoded again,
// and that they lie within the input.
func FuzzParams(f *testing.F) {
	f.Add(pairs("SCRIPT_NAME", "/a", "QUERY_STRING", ""))
	f.Add(pairs("A", strings.Repeat("v", 200), "HTTP_X", "1", "HTTP_X", "2"))
	f.Add("\x80\x00\x00\x01\x80\x00\x00\x00A")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xffAA")
	f.Add("\x01\x05Aabc")
	f.Fuzz(func(t *testing.T, block string) {
		m := map[string]string{}
		if parseParams(m, block, 100) != nil {
			return
		}
		var again []byte
		size := 0
		for name, value := range m {
			require.NotEmpty(t, name)
			require.NotContains(t, name+value, "\x00")
			again = appendPair(again, name, value)
			size += len(name) + len(value)
		}
		require.LessOrEqual(t, size, len(block))
		m2 := map[string]string{}
		require.NoError(t, parseParams(m2, string(again), 100))
		require.Equal(t, m, m2)
	})
}

func BenchmarkParseParams(b *testing.B) {
	var block []byte
	for i := range 30 {
		block = appendPair(block, fmt.Sprintf("HTTP_X_HEADER_%d", i), strings.Repeat("v", 20))
	}
	m := map[string]string{}
	b.ReportAllocs()
	for b.Loop() {
		clear(m)
		if err := parseParams(m, string(block), 1000); err != nil {
			b.Fatal(err)
		}
	}
}
