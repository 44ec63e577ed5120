package lua

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countLanguage adds a line to what "make test" tells of the language at its
// end, in the file named by SCRIPTER_LANGUAGE_COUNTS.
func countLanguage(t *testing.T, format string, args ...any) {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	t.Log(line)
	path := os.Getenv("SCRIPTER_LANGUAGE_COUNTS")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = fmt.Fprintln(f, line)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// wholeLanguage reports whether the tests run all of their cases. They do so once in
// "make test"; a bare "go test" is quick.
func wholeLanguage() bool { return os.Getenv("SCRIPTER_LANGUAGE_COUNTS") != "" }

// Differences that third-party programs showed, each with the answer of PUC Lua 5.1.5.
func TestFoundInUse(t *testing.T) {
	for source, want := range map[string]string{
		`return xpcall(error, setmetatable({}, {__call = function() return "handled" end}))`: "false error in error handling",
		`return xpcall(error, 5)`:           "false error in error handling",
		`return os.date("!%Z %z", 0)`:       "GMT +0000",
		`return ("x"):find("()%1")`:         "nil",
		`return ("xx"):gsub("()x%1", "")`:   "xx 0",
		`return ("xyxy"):find("(x)y%1", 1)`: "1 3 x",
	} {
		assert.Equal(t, want, eval(t, source), source)
	}
}
