package objectfiles

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// oddNames are names that a file system might get wrong.
var oddNames = []string{
	"plain", "UPPER", "con", "Con.txt", "com1", "lpt9.x", "COM10", "nul ", "aux.", ".", "..", "...", ".git", ".hidden",
	"end.", " lead", "trail ", " ",
	"a/b", `a\b`, "a:b", "a*?\"<>|b", "100%", "%41", "%", "~x", "x~1", "new\nline", "tab\t", "\x01", "\x7f", "ä",
	"Ångström", "日本語", "e\u0301", "\u212b", "\ufffd", "\u202e",
	"x.lua", "x.LUA", "x", "x.txt", "x.gif", "x.json", "x.opml.", "x.lua.lua", "x.unknown", "_index", "_INDEX",
	"_index.json", "_", "_x", "-", "-rf", "'", "$HOME", "a b",
	strings.Repeat("n", 250), strings.Repeat("n", 251), strings.Repeat("n", 255), strings.Repeat("ä", 127),
	strings.Repeat("ä", 126) + "b", strings.Repeat(".", 255),
}

func TestFileNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, name := range oddNames {
		for _, v := range []objectdb.Value{nil, objectdb.Script(""), objectdb.String(""), objectdb.Number(1),
			objectdb.Binary{Type: "image/gif"}} {
			f := FileOf(name, v)
			assert.LessOrEqual(t, len(f.Name), maxFileName)
			folded := strings.ToLower(f.Name)
			if other, ok := seen[folded]; ok {
				assert.Equal(t, objectdb.Fold(name), objectdb.Fold(other), f.Name)
			}
			seen[folded] = name
			back, _, err := NameOf(f.Name, v == nil, f.Entry)
			require.NoError(t, err)
			assert.Equal(t, name, back)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, name := range oddNames {
		f.Add(name, true)
	}
	f.Fuzz(func(t *testing.T, name string, table bool) {
		if objectdb.CheckName(name) != nil {
			return
		}
		var v objectdb.Value
		if !table {
			v = objectdb.Script("")
		}
		form := FileOf(name, v)
		require.LessOrEqual(t, len(form.Name), maxFileName)
		require.NotContains(t, form.Name, "/")
		require.False(t, strings.HasPrefix(form.Name, "."))
		back, _, err := NameOf(form.Name, table, form.Entry)
		require.NoError(t, err)
		require.Equal(t, name, back)
	})
}
