package lua

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// TestDefects runs the example of each defect here and in gopher-lua alone. If the
// latter is right, the cure is not needed any more.
func TestDefects(t *testing.T) {
	for _, d := range Defects() {
		assert.Regexp(t, `^[A-Z].*\.$`, d.What)
		_, err := os.Stat(d.File)
		require.NoError(t, err, d.What)
		if d.Example == "" {
			continue
		}
		assert.Equal(t, d.Gives, eval(t, d.Example), d.What)
		assert.NotEqual(t, d.Gives, inPlainMachine(d.Example), "gopher-lua is right about this now: %s", d.What)
	}
}

// TestDefectFiles finds the row of each file that cures a defect.
func TestDefectFiles(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	cured := map[string]bool{}
	for _, d := range Defects() {
		cured[d.File] = true
	}
	for _, f := range files {
		if name := f.Name(); len(name) > 7 && name[:7] == "defect_" {
			assert.True(t, cured[name], "%s has no row in Defects", name)
		}
	}
}

// inPlainMachine returns what a script returns in gopher-lua alone, as text.
func inPlainMachine(source string) (text string) {
	L := lua.NewState()
	defer L.Close()
	defer func() {
		if r := recover(); r != nil {
			text = "a panic"
		}
	}()
	if err := L.DoString(source); err != nil {
		return "error: " + err.Error()
	}
	if L.GetTop() == 0 {
		return ""
	}
	return L.ToStringMeta(L.Get(-1)).String()
}
