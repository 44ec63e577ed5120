package script

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestODBIsDescribed: every function has its description, and its example
// gives what it says.
func TestODBIsDescribed(t *testing.T) {
	db := site(t)
	var names []string
	for _, v := range ODB() {
		names = append(names, v.Name[len("odb."):])
		within(t, db, ThreadOptions{}, func(th *Thread) {
			got, err := th.RunSource(v.Name, v.Source())
			require.NoError(t, err, v.Name)
			text, err := th.Text(got)
			require.NoError(t, err)
			assert.Equal(t, v.Gives, text, v.Name)
		})
		assert.Contains(t, v.Example, v.Name+" (")
		assert.Regexp(t, `^[A-Z].*\.$`, v.Doc, v.Name)
	}
	slices.Sort(names)
	assert.Equal(t, slices.Sorted(maps.Keys(odbFunctions)), names)
}
