package admin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTexts holds texts.json: sorted, without texts that nobody uses, and with all that templates
// and code use.
func TestTexts(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(string(textFile)))
	_, err := d.Token()
	require.NoError(t, err)
	var keys []string
	for d.More() {
		key, err := d.Token()
		require.NoError(t, err)
		keys = append(keys, key.(string))
		_, err = d.Token()
		require.NoError(t, err)
	}
	assert.True(t, slices.IsSorted(keys), "texts.json is sorted by key")
	assert.Equal(t, slices.Compact(slices.Clone(keys)), keys, "each key once")

	var sources strings.Builder
	for _, pattern := range []string{"*.go", "templates/*.html"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			sources.Write(text)
		}
	}
	text := sources.String()
	// Keys that are made of a prefix and a name.
	made := regexp.MustCompile(`^(kind|nav|role|said|request\.group|requests\.status|home\.do|home\.why)\.`)
	for _, key := range keys {
		if strings.HasPrefix(key, "js.") {
			continue // a test of the folder web looks for it
		}
		if rest := made.ReplaceAllString(key, ""); rest != key {
			assert.True(t, strings.Contains(text, `"`+rest+`"`), "nobody uses the text %s", key)
			continue
		}
		assert.True(t, strings.Contains(text, `"`+key+`"`), "nobody uses the text %s", key)
	}
	for _, found := range regexp.MustCompile(`(?:\bt|\b(?:text|bad)\(|\bnewProblem\([\w.]+,) ?"([a-z]+(?:\.[a-zA-Z0-9.]+)?)"`).FindAllStringSubmatch(text, -1) {
		assert.Contains(t, keys, found[1], "texts.json")
	}
}

// TestTemplatesHaveNoTexts looks for words in templates, which belong into texts.json.
func TestTemplatesHaveNoTexts(t *testing.T) {
	files, err := filepath.Glob("templates/*.html")
	require.NoError(t, err)
	for _, f := range files {
		source, err := os.ReadFile(f)
		require.NoError(t, err)
		text := regexp.MustCompile(`(?s){{.*?}}`).ReplaceAllString(string(source), "")
		text = regexp.MustCompile(`(?s)<[^>]*>`).ReplaceAllString(text, "")
		assert.NotRegexp(t, `[A-Za-z]{3,}`, strings.ReplaceAll(text, "UTC", ""), "words in %s", f)
	}
}
