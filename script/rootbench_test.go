package script

import (
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/lua"
)

// BenchmarkLua measures what scripts do with the root, a thousand times each.
func BenchmarkLua(b *testing.B) {
	db := site(b)
	for _, c := range []struct{ name, body string }{
		{"loop", ""},
		{"read", "local x = user.webserver.saveInterval"},
		{"call script", "webserver.httpheader ()"},
		{"call verb", "test.nothing ()"},
		{"write", "scratchpad.n = i"},
		{"count", "scratchpad.n = scratchpad.n + 1"},
		{"nth", "local x = scratchpad.fruit [2]"},
		{"pairs", "for k, v in pairs (scratchpad.fruit) do end"},
	} {
		b.Run(c.name, func(b *testing.B) {
			within(b, db, ThreadOptions{Limits: lua.Limits{Instructions: 1 << 60, Time: 1 << 60}}, func(th *Thread) {
				f, err := th.RunSource("test", "scratchpad.n = 0 return function () for i = 1, 1000 do "+c.body+" end end")
				require.NoError(b, err)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := th.CallValue(f); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/each")
			})
		})
	}
}
