package gateway

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestCachedPath checks that a cached path is used only while it leads to the same file, and only
// for the same folders.
func TestCachedPath(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.mcro")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	for name, c := range map[string]struct {
		change func(s *testSite)
		status int
	}{
		"nothing": {func(s *testSite) {}, 200},
		"a link to elsewhere": {func(s *testSite) {
			require.NoError(t, os.Remove(s.folder+"/x.mcro"))
			require.NoError(t, os.Symlink(secret, s.folder+"/x.mcro"))
		}, 403},
		"a folder that is a link now": {func(s *testSite) {
			require.NoError(t, os.RemoveAll(s.folder+"/sub"))
			require.NoError(t, os.Symlink(filepath.Dir(secret), s.folder+"/sub"))
			require.NoError(t, os.WriteFile(filepath.Dir(secret)+"/x.mcro", []byte("secret"), 0o644))
		}, 403},
		"a folder in its place": {func(s *testSite) {
			require.NoError(t, os.RemoveAll(s.folder+"/sub/x.mcro"))
			require.NoError(t, os.RemoveAll(s.folder+"/x.mcro"))
			require.NoError(t, os.MkdirAll(s.folder+"/sub/x.mcro", 0o755))
		}, 404},
		"gone":              {func(s *testSite) { require.NoError(t, os.RemoveAll(s.folder+"/sub")) }, 404},
		"another text":      {func(s *testSite) { s.page("sub/x.mcro", "another text") }, 200},
		"folders no longer": {func(s *testSite) { s.put("user.webserver.pageFolders", objectdb.List{}) }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			url, root := "/sub/x.mcro", s.folder
			require.NoError(t, os.Mkdir(s.folder+"/sub", 0o755))
			s.page("sub/x.mcro", "page")
			switch name {
			case "a link to elsewhere":
				s.page("x.mcro", "page")
				url = "/x.mcro"
			case "folders no longer":
				s.list("pages", s.folder)
				s.put("user.webserver.pageFolders", objectdb.List{objectdb.String(s.folder)})
				root = ""
			}
			ask := func() int {
				return s.ask(url, map[string]string{"DOCUMENT_ROOT": root, "SCRIPT_FILENAME": s.folder + url}).Status
			}
			require.Equal(t, 200, ask())
			require.Equal(t, 200, ask())
			c.change(s)
			assert.Equal(t, c.status, ask())
			if name == "another text" {
				assert.Equal(t, "another text", s.ask(url, nil).Body)
			}
		})
	}
}
