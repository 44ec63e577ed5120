package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRequirement checks that a text is refused or has a valid kind and realm.
func FuzzRequirement(f *testing.F) {
	for _, text := range []string{
		"", "user", "USER ada grace", "anyone", "realm the back room", "realm", "realm \x00", "user\tada", "role editor", "role",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRequirement(text)
		if err != nil {
			return
		}
		require.Contains(t, []string{requireAnyone, requireUser, requireRealm, requireRole}, r.kind)
		require.NotEmpty(t, r.Realm())
		require.Equal(t, r.kind == requireAnyone, strings.EqualFold(strings.TrimSpace(text), requireAnyone))
	})
}
