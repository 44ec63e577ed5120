package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// TestNoWayOut checks that no file or host that a script names is reached, and that the
// errors do not show what exists.
func TestNoWayOut(t *testing.T) {
	s := newSite(t)
	elsewhere := t.TempDir()
	secret := filepath.Join(elsewhere, "secret.mcro")
	require.NoError(t, os.WriteFile(secret, []byte("secret text"), 0o644))
	require.NoError(t, os.Symlink(elsewhere, s.folder+"/linked"))
	require.NoError(t, os.WriteFile(s.folder+"/.htpasswd", []byte("secret text"), 0o644))
	require.NoError(t, os.WriteFile(s.folder+"/scripter.conf", []byte("secret text"), 0o644))
	require.NoError(t, os.Mkdir(s.folder+"/.git", 0o755))
	require.NoError(t, os.WriteFile(s.folder+"/.git/config", []byte("secret text"), 0o644))
	require.NoError(t, os.Symlink(s.db.Path(), s.folder+"/mine.mcro"))
	require.NoError(t, syscall.Mkfifo(s.folder+"/fifo.mcro", 0o644))
	s.page("own.mcro", "own page")
	head := make([]byte, 4096)
	copy(head, "SQLite format 3\x00")
	copy(head[68:], "SCrt")
	s.page("copy.mcro", string(head)) // of another root
	s.put("user.webserver.pageFolders",
		objectdb.List{objectdb.String("/proc/self"), objectdb.String(elsewhere), objectdb.String("/etc")})
	s.put("user.webserver.websiteFolderPath", objectdb.String(elsewhere))
	const expand = `local p = (...).searchTable
	local ok, text = pcall (webserver.expandPage, {scriptName = p.name, websiteFolder = p.folder or websiteFolder})
	return {body = text}`
	s.script("expand", expand)
	ask := func(query string) string { return s.ask("/expand.fcgi?"+query, nil).Body }

	assert.Equal(t, "own page", ask("name=own.mcro"))
	refused := map[string]string{
		"folder=/proc/self&name=environ":                       "pages: /proc/self",
		"folder=/etc&name=passwd":                              "pages: /etc",
		"folder=" + elsewhere + "&name=secret.mcro":            "pages: " + elsewhere,
		"folder=" + s.folder + "/../x&name=secret.mcro":        "in no folder that pages come from",
		"folder=/&name=etc/passwd":                             "pages: /etc",
		"folder=&name=" + secret:                               "pages: " + elsewhere,
		"folder=/srv&name=x":                                   "in no folder that pages come from",
		"name=.htpasswd":                                       "there is no page at",
		"name=.git/config":                                     "there is no page at",
		"name=linked/secret.mcro":                              "there is no page at",
		"name=fifo.mcro":                                       "there is no page at",
		"name=mine.mcro":                                       "there is no page at",
		"name=copy.mcro":                                       "belongs to a root",
		"name=scripter.conf":                                   "belongs to a root, or is its configuration",
		"folder=" + filepath.Dir(s.db.Path()) + "&name=x.root": "in no folder that pages come from",
	}
	for query, why := range refused {
		body := ask(query)
		assert.Contains(t, body, why, query)
		assert.NotContains(t, body, "secret text", query)
	}
	// The error is the same for files that exist, are missing, are folders or unreadable.
	for _, pair := range [][2]string{
		{"folder=/etc&name=%s", "passwd nothing passwd/x ssl"},
		{"name=%s", "linked/secret.mcro linked/nothing linked/secret.mcro/x linked"},
		{"folder=/srv/%s&name=x", "nothing nowhere"},
	} {
		bodies := map[string]bool{}
		for name := range strings.FieldsSeq(pair[1]) {
			bodies[strings.ReplaceAll(ask(fmt.Sprintf(pair[0], name)), name, "NAME")] = true
		}
		assert.Len(t, bodies, 1, pair[0])
	}
	// So is the error for a folder that the script puts into a setting itself.
	s.put("user.webserver.websiteFolderPath", objectdb.String(""))
	require.NoError(t, os.Symlink(secret, elsewhere+"/leads"))
	answers := map[string]bool{}
	for _, name := range []string{"secret.mcro", "nothing", "leads"} {
		s.put("user.webserver.pageFolders", objectdb.List{objectdb.String(filepath.Join(elsewhere, name))})
		for _, asked := range []string{name, "secret.mcro"} {
			text := ask("folder=" + filepath.Join(elsewhere, asked) + "&name=x")
			answers[fmt.Sprint(asked == name)+strings.ReplaceAll(strings.ReplaceAll(text, name, "NAME"), asked, "NAME")] = true
		}
	}
	assert.Len(t, answers, 2, "the folder that is named, and another one")
	s.put("user.webserver.websiteFolderPath", objectdb.String(elsewhere))
	// A visitor who knows the script.
	assert.Equal(t, 403, s.ask("/linked/secret.mcro", nil).Status)
	for _, folder := range []string{"/etc", "/nothing"} {
		s.put("user.webserver.websiteFolderPath", objectdb.String(folder))
		assert.Equal(t, 403, s.ask("/x.mcro", map[string]string{"DOCUMENT_ROOT": ""}).Status)
	}

	s.put("user.webserver.websiteFolderPath", objectdb.String(""))

	s.script("flush", `local ok, why = pcall (webserver.flushCache) return {body = why}`)
	s.put("user.webserver.cacheFolders", objectdb.List{objectdb.String("/etc")})
	one := s.ask("/flush.fcgi", nil).Body
	assert.Contains(t, one,
		`user.webserver.cacheFolders names /etc, which scripter.conf does not list: add the line "cache-folder: /etc"`)
	s.put("user.webserver.cacheFolders", objectdb.List{objectdb.String("/nothing")})
	assert.Equal(t, one, strings.ReplaceAll(s.ask("/flush.fcgi", nil).Body, "/nothing", "/etc"))
	s.put("user.webserver.cacheFolders", objectdb.List{})
	server := newCacheServer(t)
	s.put("user.webserver.cacheServers", objectdb.List{objectdb.String(server.URL)})
	assert.Contains(t, s.ask("/flush.fcgi", nil).Body,
		"user.webserver.cacheServers names "+server.URL+", which scripter.conf does not list")
	assert.Empty(t, server.asked())

	s.script("accel", `return {headers = {["X-Sendfile"] = "/etc/passwd"}, body = "x"}`)
	s.put("user.webserver.flPassAccel", objectdb.Boolean(true))
	s.log.Take()
	assert.False(t, s.ask("/accel.fcgi", nil).Has("X-Sendfile"))
	assert.Contains(t, s.log.String(),
		`user.webserver.flPassAccel is on, but scripter.conf does not allow it: add the line \"sendfile: on\"`)
	s.list("sendfile", "on")
	assert.True(t, s.ask("/accel.fcgi", nil).Has("X-Sendfile"))
}

// TestRecordedDocumentRoot checks that the document root of a recorded request is not trusted:
// a script can write such a request into the root.
func TestRecordedDocumentRoot(t *testing.T) {
	s := newSite(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(elsewhere+"/x.mcro", []byte("secret text"), 0o644))
	s.page("x.mcro", "own page")
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	require.Equal(t, "own page", s.ask("/x.mcro", nil).Body)
	s.script("again", `return {body = webserver.debugCGI ()}`)
	assert.Contains(t, s.ask("/again.fcgi", nil).Body, "own page", "the document root is that of the running request")

	var n int
	update(t, s.db, func(tx *objectdb.Tx) error {
		k, err := requestlog.Find(tx, 1)
		n = k.Number
		return err
	})
	read := func(more func(k *requestlog.Request), o ReplayOptions) string {
		var b strings.Builder
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
			k, err := requestlog.Find(tx, n)
			if err == nil {
				more(k)
				s.g.Replay(t.Context(), k, &b, o)
			}
			return err
		}))
		return b.String()
	}
	forged := func(k *requestlog.Request) { k.Variables["DOCUMENT_ROOT"] = elsewhere }
	o := ReplayOptions{Developer: true}
	for _, answer := range []string{read(func(*requestlog.Request) {}, o), read(forged, o),
		read(forged, ReplayOptions{Developer: true, DocumentRoot: s.folder})} {
		assert.NotContains(t, answer, "secret text")
		assert.NotContains(t, answer, "own page")
		assert.Contains(t, answer, "the document root of the recorded request, ")
	}
	missing := func(k *requestlog.Request) {
		k.Variables["DOCUMENT_ROOT"], k.Variables["SCRIPT_NAME"],
			k.Variables["SCRIPT_FILENAME"] = elsewhere, "/y.mcro", elsewhere+"/y.mcro"
	}
	there, _, _ := strings.Cut(read(forged, o), "Incident")
	notThere, _, _ := strings.Cut(read(missing, o), "Incident")
	assert.Equal(t, there, strings.ReplaceAll(notThere, "y.mcro", "x.mcro"),
		"the answer does not show whether the file exists")
	assert.Contains(t, read(forged, ReplayOptions{DocumentRoot: elsewhere}), "secret text")
	s.list("pages", s.folder)
	assert.Contains(t, read(func(*requestlog.Request) {}, o), "own page")
	assert.NotContains(t, read(forged, o), "secret text")
}

// TestWebsiteFolderPath checks that a page is found in the listed folder of the setting
// if the web server sends no document root.
//
// Specification: 2.2.3
func TestWebsiteFolderPath(t *testing.T) {
	s := newSite(t)
	other := t.TempDir()
	s.page("x.mcro", "page <!--#websiteFolder-->")
	s.page("plain.txt", "plain")
	require.NoError(t, os.Symlink(filepath.Join(other, "y.mcro"), s.folder+"/y.mcro"))
	require.NoError(t, os.WriteFile(other+"/y.mcro", []byte("elsewhere"), 0o644))
	none := map[string]string{"DOCUMENT_ROOT": ""}
	resp := s.ask("/x.mcro", none)
	assert.Equal(t, 404, resp.Status)
	assert.Contains(t, s.log.String(),
		"the web server does not tell where the file of /x.mcro lies, and user.webserver.websiteFolderPath is not set")

	s.put("user.webserver.websiteFolderPath", objectdb.String(s.folder+"/"))
	assert.Equal(t, 403, s.ask("/x.mcro", none).Status)
	assert.Contains(t, s.log.String(),
		"/x.mcro: user.webserver.websiteFolderPath names "+s.folder+"/, which scripter.conf does not list")

	s.list("pages", filepath.Dir(s.folder))
	assert.Equal(t, "page "+s.folder+"/", s.ask("/x.mcro", none).Body)
	assert.Equal(t, 404, s.ask("/missing.mcro", none).Status)
	assert.Equal(t, 403, s.ask("/y.mcro", none).Status, "a link out of the folder, into another one below the listed")
	s.script("own", `return webserver.expandPage ({scriptName = "/x.mcro", websiteFolder = websiteFolder})`)
	assert.Contains(t, s.ask("/own.fcgi", none).Body, "page ")
	// The web server's document root takes precedence.
	assert.Equal(t, 404, s.ask("/x.mcro", map[string]string{"DOCUMENT_ROOT": other}).Status)
	// A file that a script leaves to the web server.
	s.put("user.webserver.actionTable.SELF", objectdb.String("/cgi-bin/Scripter.acgi"))
	s.put("user.webserver.actions.SELF", objectdb.Script(`return ""`))
	none["SCRIPTER_ACTION"] = "SELF"
	assert.Equal(t, "plain", s.ask("/plain.txt", none).Body)
}

// TestPagesWhileLinksChange replaces a folder with a link out of the site again and
// again, and checks that no request shows a file from there.
func TestPagesWhileLinksChange(t *testing.T) {
	s := newSite(t)
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(elsewhere+"/x.mcro", []byte("secret text"), 0o644))
	require.NoError(t, os.WriteFile(elsewhere+"/x.txt", []byte("secret text"), 0o644))
	s.put("user.webserver.actionTable.SELF", objectdb.String("/cgi-bin/Scripter.acgi"))
	s.put("user.webserver.actions.SELF", objectdb.Script(`return ""`))
	folder, link := s.folder+"/sub", s.folder+"/link"
	require.NoError(t, os.Mkdir(folder, 0o755))
	s.page("sub/x.mcro", "own page")
	s.page("sub/x.txt", "own page")
	require.NoError(t, os.Symlink(elsewhere, link))
	ctx, stop := context.WithCancel(t.Context())
	var swaps sync.WaitGroup
	swaps.Go(func() {
		for ctx.Err() == nil {
			os.Rename(folder, s.folder+"/aside")
			os.Rename(link, folder)
			os.Rename(folder, link)
			os.Rename(s.folder+"/aside", folder)
		}
	})
	defer swaps.Wait()
	defer stop()
	seen := map[int]int{}
	for range 600 {
		for path, more := range map[string]map[string]string{"/sub/x.mcro": nil, "/sub/x.txt": {"SCRIPTER_ACTION": "SELF"}} {
			s.g.found.forget()
			s.g.pages.pages = nil
			resp := s.ask(path, more)
			seen[resp.Status]++
			require.NotContains(t, resp.Body, "secret text")
		}
	}
	assert.Positive(t, seen[200], "%v", seen)
}

// set sets a setting and returns the warnings.
func (s *testSite) set(setting *site.Setting, v objectdb.Value) (warnings []string) {
	s.t.Helper()
	update(s.t, s.db, func(tx *objectdb.Tx) (err error) {
		warnings, err = SetSetting(tx, setting, v, s.g.Reach())
		return err
	})
	return warnings
}

// TestSetSettingWarns checks that the owner learns of a value that scripter.conf does not list,
// and only of the setting that he sets.
func TestSetSettingWarns(t *testing.T) {
	s := newSite(t)
	s.list(site.KeyCache, "listed:80")
	assert.Empty(t, s.set(site.CacheServers, objectdb.List{objectdb.String("http://listed")}))
	warnings := s.set(site.CacheServers, objectdb.List{objectdb.String("http://other:6081")})
	assert.Len(t, warnings, 1)
	assert.Contains(t, strings.Join(warnings, ""), "http://other:6081, which scripter.conf does not list")
	assert.Empty(t, s.set(site.MaxSaves, objectdb.Number(7)))
	update(t, s.db, func(tx *objectdb.Tx) error {
		_, err := SetSetting(tx, site.MaxSaves, objectdb.Number(-1), site.Reach{})
		assert.Error(t, err)
		return nil
	})
	assert.Equal(t, objectdb.Number(7), s.get("user.webserver.maxSaves"))
}
