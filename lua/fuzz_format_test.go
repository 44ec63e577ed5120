package lua

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// FuzzFormat: every format returns a text or raises an error for all values; a number
// that was formatted reads back the same; os.date returns for every format.
func FuzzFormat(f *testing.F) {
	for _, format := range []string{"%d", "%5.2f|%-8s|", "%q", "%x%X%o%u%c%i", "%e %g %G %E", "%%", "%", "%99.99f", "%100d", "%s %s %s %s", "%+05d% d%#x", "%z", "%.3s", "%c\x00%q"} {
		f.Add(format, "text\x00\r\n\"\\", 1.5)
		f.Add(format, "", math.Inf(-1))
	}
	f.Add("%Y-%m-%d %H:%M:%S %A %B %c %x %X %p %y %%", "!*t", 1e9)
	f.Add("%d", "0x7fffffffffffffff", -9223372036854775808.0)
	f.Add("%5s", "1e+308 ", math.NaN())
	f.Fuzz(func(t *testing.T, format, text string, n float64) {
		s := newSandbox(t, Limits{Time: patience, StringBytes: 1 << 20})
		s.L.G.Global.RawSetString("F", luaString(format))
		s.L.G.Global.RawSetString("T", luaString(text))
		s.L.G.Global.RawSetString("N", lua.LNumber(n))
		start := time.Now()
		_, err := s.run(`
			for _, v in ipairs {N, T, tostring (N), #T, -#T} do
				pcall (string.format, F, v, T, N, v, T)
				pcall (tonumber, v) pcall (tonumber, v, 36) pcall (tonumber, T, #F)
			end
			pcall (os.date, F, N) pcall (os.date, F) pcall (os.date, T, N)
			assert (N ~= N or tonumber (("%.17g"):format (N)) == N, "%.17g")
			assert (loadstring ("return " .. ("%q"):format (T)) () == T, "%q")
			local whole = tonumber (T)
			assert (not whole or whole ~= whole or tonumber (("%.17g"):format (whole)) == whole)`)
		require.NoError(t, err)
		require.Less(t, time.Since(start), patience)
	})
}
