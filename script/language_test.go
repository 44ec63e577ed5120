package script

import (
	"fmt"
	"os"
	"testing"

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

// wholeLanguage reports whether tests are to run all that they have: in "make
// test" they do, once, while a bare "go test" is to be quick.
func wholeLanguage() bool { return os.Getenv("SCRIPTER_LANGUAGE_COUNTS") != "" }
