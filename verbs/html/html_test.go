package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEscape(t *testing.T) {
	slow := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{
		"", "plain", "&", "&&<<", "a<b>c", "'\"'", "ends with <", string(all), strings.Repeat("<é>", 1000),
	} {
		assert.Equal(t, slow.Replace(s), Escape(s))
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, s := range map[string]string{
		"plain": "f01",
		"dense": strings.Repeat(`a <b> & "c" `, 5),
		"text":  strings.Repeat("Lorem ipsum dolor sit amet & more. ", 60),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Escape(s)
			}
		})
	}
}
