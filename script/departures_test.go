package script

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDepartures runs the example of every difference from Lua 5.1.
func TestDepartures(t *testing.T) {
	db := site(t)
	for _, d := range Departures() {
		assert.Regexp(t, `^[A-Za-z_].*\.$`, d.What)
		assert.Regexp(t, `^[A-Z].*\.$`, d.Why)
		assert.NotEmpty(t, d.PUC, d.What)
		within(t, db, ThreadOptions{}, func(th *Thread) {
			v, err := th.RunSource("example", d.Example)
			var e *Error
			if errors.As(err, &e) {
				assert.Equal(t, d.Gives, e.Message, d.What)
				return
			}
			require.NoError(t, err, d.What)
			text, err := th.Text(v)
			require.NoError(t, err)
			assert.Equal(t, d.Gives, text, d.What)
		})
	}
}

// TestDeparturesDepart runs those examples whose answer in Lua's own program is
// told exactly.
func TestDeparturesDepart(t *testing.T) {
	lua, err := exec.LookPath("lua5.1")
	if err != nil && os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "" {
		t.Skip("lua5.1 is not installed")
	}
	require.NoError(t, err)
	for _, d := range Departures() {
		if strings.Contains(d.PUC, " ") && d.PUC != "1 2" || d.PUC == "nil" {
			continue
		}
		out, err := exec.Command(lua, "-e", "print ((function ()\n"+d.Example+"\nend) ())").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Equal(t, d.PUC, strings.TrimSpace(string(out)), d.What)
	}
}
