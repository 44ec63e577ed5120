package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// copyNames returns the names of the saved copies.
func (b *browser) copyNames() (names []string) {
	for _, k := range b.json("saves")["copies"].([]any) {
		names = append(names, k.(map[string]any)["name"].(string))
	}
	return names
}

func TestCopies(t *testing.T) {
	s := newSite(t)
	ada, rita := s.person("ada", "owner"), s.person("rita", "reader")
	assert.Contains(t, ada.get("saves").text(), "There are no saved copies yet.")
	a := ada.post("saves", "do", "save")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	page := ada.get(a.header.Get("Location"))
	assert.Contains(t, page.text(), "A copy was saved.")
	names := ada.copyNames()
	require.Len(t, names, 1)
	copies, err := s.db.Copies()
	require.NoError(t, err)
	folder := filepath.Dir(copies[0].Path)
	for _, b := range []*browser{ada, rita} {
		for _, path := range []string{"saves", "saves.json"} {
			lacks(t, b.get(path).body, folder)
		}
	}
	assert.Contains(t, rita.get("saves").text(), names[0])
	assert.Empty(t, rita.get("saves").find("input", "id"))

	// Download.
	link := "saves/download?copy=" + url.QueryEscape(names[0])
	a = ada.get(link)
	require.Equal(t, http.StatusOK, a.status)
	assert.True(t, strings.HasPrefix(a.body, "SQLite format 3\x00"))
	assert.Equal(t, "attachment; filename="+names[0], a.header.Get("Content-Disposition"))
	assert.Equal(t, http.StatusForbidden, rita.get(link).status)
	assert.Equal(t, http.StatusSeeOther, s.browser().get(link).status)

	// Names that are no copies.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "other.root"), []byte("secret"), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(folder, "test.saved-20200101-000000.root")))
	for _, name := range []string{
		"", "other.root", "../other.root", "test.root", copies[0].Path, "./" + names[0], names[0] + "/", "/etc/passwd",
		"..%2fother.root",
		names[0] + "\x00", "test.saved-20200101-000000.root", hostile,
	} {
		q := url.Values{"copy": {name}}.Encode()
		for _, path := range []string{"saves/download?", "saves/revert?"} {
			a := ada.get(path + q)
			assert.Equal(t, http.StatusNotFound, a.status, "%s%q", path, name)
			lacks(t, a.body, "<script>alert")
		}
		assert.Equal(t, http.StatusNotFound, ada.post("saves", "do", "revert", "confirm", "yes", "copy", name).status,
			"%q", name)
	}
	assert.Len(t, ada.copyNames(), 1, "nothing was reverted")
	assert.Equal(t, http.StatusBadRequest, ada.post("saves", "do", "explode").status)
	assert.Equal(t, http.StatusConflict, ada.post("saves?at=1", "do", "save").status, "in the past")

	// A copy that is too large to be held in memory.
	large := filepath.Join(folder, "test.saved-20300101-000000.root")
	f, err := os.Create(large)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(largestDownload+1))
	require.NoError(t, f.Close())
	a = ada.get("saves/download?copy=" + filepath.Base(large))
	assert.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	assert.Contains(t, a.text(), "scp")
	assert.Contains(t, ada.get("saves").text(), "larger than 33.6 MB")
	require.NoError(t, os.WriteFile(large, []byte("this is no root"), 0o600))
	a = ada.post("saves", "do", "revert", "confirm", "yes", "copy", filepath.Base(large))
	assert.Equal(t, http.StatusConflict, a.status)
	assert.Contains(t, a.text(), "cannot be used")
	lacks(t, a.body, folder)
}

func TestRevert(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.story", objectdb.String("once"))
	require.Equal(t, http.StatusSeeOther, ada.post("saves", "do", "save").status)
	name := ada.copyNames()[0]
	s.put("user.story", objectdb.String("twice"))
	s.put("user.newer", objectdb.String("<b>new</b>"))

	a := ada.get("saves/revert?copy=" + name)
	require.Equal(t, http.StatusOK, a.status)
	for _, want := range []string{"Revert to this copy?", name, "changed user.story", "You may have to log in again",
		"is saved as a copy first"} {
		assert.Contains(t, a.text(), want)
	}
	a = ada.post("saves", "do", "revert", "copy", name)
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Contains(t, a.header.Get("Location"), "/scripter/saves/revert?copy=")
	a = ada.post("saves.json", "do", "revert", "copy", name)
	assert.Equal(t, http.StatusConflict, a.status)
	assert.NotEmpty(t, a.json()["confirm"])
	assert.Equal(t, objectdb.String("twice"), s.get("user.story"), "only asked")

	a = ada.post("saves", "do", "revert", "copy", name, "confirm", "yes")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.String("once"), s.get("user.story"))
	assert.Nil(t, s.get("user.newer"))
	to := a.header.Get("Location")
	assert.Contains(t, to, "change=")
	page := ada.get(to)
	require.Equal(t, http.StatusOK, page.status, "the copy has this session")
	assert.Contains(t, page.text(), "Undo")
	assert.Len(t, ada.copyNames(), 2)
	change := ada.json("history")["changes"].([]any)[0].(map[string]any)
	assert.Equal(t, "ada", change["who"])
	assert.Equal(t, "web page revert "+name, change["what"])
	require.Equal(t, http.StatusSeeOther, ada.post(fmt.Sprintf("history/%v", change["number"]), "do", "undo").status)
	assert.Equal(t, objectdb.String("twice"), s.get("user.story"))
	assert.Equal(t, objectdb.String("<b>new</b>"), s.get("user.newer"))

	// Somebody who was not logged in then has to log in again.
	grace := s.person("grace", "owner")
	a = grace.post("saves", "do", "revert", "copy", name, "confirm", "yes")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Contains(t, grace.get(a.header.Get("Location")).header.Get("Location"), "/scripter/login?to=")
}

func TestSavingSettings(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	a := ada.post("settings", "do", "save", "back", "saves", "set", "flAutoSave", "flAutoSave", "true", "set",
		"saveInterval", "saveInterval", "20")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Contains(t, a.header.Get("Location"), "/scripter/saves?")
	assert.Equal(t, objectdb.Number(20), s.get("user.webserver.saveInterval"))
	a = ada.post("settings", "do", "save", "back", "saves", "set", "saveInterval", "saveInterval", "0")
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.text(), "Save a copy now")
	assert.Contains(t, a.text(), "0 is not between 1 and 525600")
}

// TestDownloadByRange asks for a part, as a browser does that goes on with a download.
func TestDownloadByRange(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	require.Equal(t, http.StatusSeeOther, ada.post("saves", "do", "save").status)
	a := ada.send(http.MethodGet, "saves/download?copy="+ada.copyNames()[0], io.Reader(nil),
		map[string]string{"Range": "bytes=0-5"})
	assert.Equal(t, http.StatusPartialContent, a.status)
	assert.Equal(t, "SQLite", a.body)
}

// The page does not name the folder for the copies of a root in PostgreSQL.
func TestProblemOfACopyOnThisHost(t *testing.T) {
	c := &call{Server: &Server{Config: Config{Log: slog.New(slog.DiscardHandler)}}}
	var p *problem
	require.ErrorAs(t, c.copyProblem(&objectdb.Error{
		Op: "revert", Path: "postgres://db/site?host_folder=/srv/secret",
		Err: errors.New("/srv/secret/db-site.saved-20300101-000000.root cannot be used: it is cut off"),
	}), &p)
	assert.Contains(t, p.Text, "db-site.saved-20300101-000000.root cannot be used")
	assert.NotContains(t, p.Text, "secret")
}
