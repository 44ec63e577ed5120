package markdown_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/script"
	"scripter/verbs/markdown"
)

// TestLimits passes texts that take goldmark a time of the square of their length, and more. A run that
// they would keep busy for too long is ended by its limits.
func TestLimits(t *testing.T) {
	engine := script.NewEngine(markdown.Verbs)
	columns := strings.Repeat("|a", 20_000) + "\n" + strings.Repeat("|-", 20_000) + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"brackets":        {strings.Repeat("[a](", 200_000), "limit"},
		"nested brackets": {strings.Repeat("[](", 300_000), "limit"},
		"nested quotes":   {strings.Repeat("> ", 400_000), "limit"},
		"definitions":     {strings.Repeat("[a]: b\n", 140_000), "limit"},
		"cells":           {columns + strings.Repeat("|\n", 20_000), "a table has more than 100000 cells"},
		"emphasis":        {strings.Repeat("*a **a ", 20_000), ""},
		"quoted lists":    {strings.Repeat("> - a\n\n", 5_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := lua.DefaultLimits()
			if l.Time = time.Second; c.want == "" {
				l.Time = 10 * time.Second
			}
			thread := engine.NewThread(context.Background(), script.ThreadOptions{Limits: l})
			defer thread.Close()
			start := time.Now()
			_, err := thread.RunSource("test", `local text = ... return markdown.html (text, {tables = true})`, c.text)
			assert.Less(t, time.Since(start), 8*time.Second)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func BenchmarkHTML(b *testing.B) {
	engine := script.NewEngine(markdown.Verbs)
	text := strings.Repeat("# Title\n\nSome *text* with a [link](https://example.com/) and `code`.\n\n- one\n- two\n\n", 50)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		thread := engine.NewThread(context.Background(), script.ThreadOptions{})
		_, err := thread.RunSource("test", `local text = ... return markdown.html (text)`, text)
		require.NoError(b, err)
		thread.Close()
	}
}
