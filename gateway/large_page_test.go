package gateway

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestLargeTexts checks that expanding a text allocates at most three times its size, however
// many markers it has.
func TestLargeTexts(t *testing.T) {
	const size = 15 << 20
	for name, c := range map[string]struct {
		text string
		want int // status
	}{
		"words":                {"<!--#user.greeting-->" + strings.Repeat("Words of a page. ", size/17), 200},
		"beyond ASCII":         {"<!--#user.greeting-->" + strings.Repeat("ÄÖÜ", size/6), 200},
		"nothing but markers":  {strings.Repeat("<!--#user.greeting-->", size/21), 500},
		"a call of many words": {"<!--#f (" + strings.Repeat("x,", size/2) + "x)-->", 200},
		"a name of many parts": {"<!--#x" + strings.Repeat(".x", size/2) + "-->", 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("user.greeting", objectdb.String("Hello"))
			s.put("user.large", objectdb.Text(c.text))
			s.put("user.webserver.maxString", objectdb.Number(64))
			s.put("user.webserver.maxMemory", objectdb.Number(1024))
			s.put("user.webserver.maxMacros", objectdb.Number(12_000))
			s.script("read", `return #odb.text (user.large)`)
			s.script("replace", `return #webserver.processMacros (odb.text (user.large))`)
			require.Equal(t, 200, s.ask("/read.fcgi", nil).Status)
			alone := allocated(func() { s.ask("/read.fcgi", nil) })
			status := 0
			all := allocated(func() { status = s.ask("/replace.fcgi", nil).Status })
			assert.Equal(t, c.want, status)
			assert.Less(t, all-alone, 3*size, "%d MB", (all-alone)>>20)
		})
	}
}

// allocated returns how many bytes f allocates in all.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
