package site

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// state reads a setting as "scripter settings" does.
func (s *testSite) state(set *Setting) State {
	s.t.Helper()
	var state State
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		state = set.Read(tx)
		return nil
	}))
	return state
}

func (s *testSite) set(set *Setting, v objectdb.Value) (warnings []string, err error) {
	s.t.Helper()
	err = s.db.Update(context.Background(), func(tx *objectdb.Tx) error {
		if err := set.Set(tx, v); err != nil {
			return err
		}
		now, err := Read(tx)
		if err == nil {
			warnings = set.Warnings(now, v)
		}
		return err
	})
	return warnings, err
}

func TestFind(t *testing.T) {
	for _, name := range []string{"chunkSize", "CHUNKSIZE", " chunksize", "user.webserver.chunkSize"} {
		s, ok := Find(name)
		require.True(t, ok, name)
		assert.Same(t, ChunkSize, s)
	}
	_, ok := Find("chunk")
	assert.False(t, ok)
}

// TestSettingFrom checks that the default replaces an invalid value, and that the state
// says why.
//
// Specification: 2.2.5
func TestSettingFrom(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, State{Value: objectdb.Number(24), From: "default"}, s.state(ChunkSize))
	s.put("user.webserver.chunkSize", objectdb.Number(48))
	assert.Equal(t, State{Value: objectdb.Number(48), From: "root"}, s.state(ChunkSize))
	for _, bad := range []objectdb.Value{objectdb.Number(-1), objectdb.String("48")} {
		s.put("user.webserver.chunkSize", bad)
		state := s.state(ChunkSize)
		assert.Equal(t, objectdb.Number(24), state.Value)
		assert.Equal(t, "refused", state.From)
		assert.Error(t, state.Why)
	}
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(ChunkSize.Address()) })
	assert.Equal(t, "default", s.state(ChunkSize).From)
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.NewTable(ChunkSize.Address()) })
	assert.Equal(t, "refused", s.state(ChunkSize).From)
	s.put("user.webserver.debugToken", objectdb.Text("a text is a string"))
	assert.Equal(t, State{Value: objectdb.String("a text is a string"), From: "root"}, s.state(DebugToken))
	s.put("user.webserver.websiteFolderPath", objectdb.String("/no/such/folder"))
	state := s.state(WebsiteFolderPath)
	assert.Equal(t, "root", state.From, "requests do not check the path")
	assert.Error(t, state.Why)
}

// TestPathSettings checks that Set Path to Server takes the application, not its folder,
// and that Set Website Folder Path takes the folder, not the application (specification,
// 2.2).
//
// Specification: 2.2.2, 2.2.3
func TestPathSettings(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir()
	program := filepath.Join(folder, "httpd")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	text := filepath.Join(folder, "readme.txt")
	require.NoError(t, os.WriteFile(text, nil, 0o644))
	for _, c := range []struct {
		set     *Setting
		path    string
		refused string
		warned  string
	}{
		{ServerPath, program, "", ""},
		{ServerPath, "", "", ""},
		{ServerPath, folder, "is a folder", ""},
		{ServerPath, filepath.Join(folder, "none"), "no such file", ""},
		{ServerPath, text, "", "nobody may execute"},
		{WebsiteFolderPath, folder, "", ""},
		{WebsiteFolderPath, program, "is a file", ""},
		{WebsiteFolderPath, filepath.Join(folder, "none"), "no such file", ""},
	} {
		warnings, err := s.set(c.set, objectdb.String(c.path))
		if c.refused != "" {
			assert.ErrorContains(t, err, c.refused, "%s %s", c.set.Name, c.path)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, objectdb.String(c.path), s.get(c.set.Address().String()))
		if c.warned == "" {
			assert.Empty(t, warnings, c.path)
		} else {
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], c.warned)
		}
	}
}

func TestSettingWarnings(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		set  *Setting
		to   objectdb.Value
		want string // "" = no warning
	}{
		{FlScriptTrap, objectdb.Boolean(true), ""},
		{ServerID, objectdb.String("other"), "there is no script at system.verbs.traps.other.sdoc"},
		{FlScriptTrap, objectdb.Boolean(false), ""},
		{FlDebug, objectdb.Boolean(true), "switches itself off after 30 minutes"},
		{FlDebug, objectdb.Boolean(false), ""},
		{FlDebugSecrets, objectdb.Boolean(true), "for anybody to read"},
		{DebugToken, objectdb.String("short"), "can be guessed"},
		{DebugToken, objectdb.String("a long random text, indeed"), ""},
		{FlPassAccel, objectdb.Boolean(true), "any file"},
		{FlUseDirtyRoot, objectdb.Boolean(true), "no effect while flAutoSave is off"},
		{ChunkSize, objectdb.Number(0), ""},
	} {
		warnings, err := s.set(c.set, c.to)
		require.NoError(t, err)
		if c.want == "" {
			assert.Empty(t, warnings, c.set.Name)
			continue
		}
		require.Len(t, warnings, 1, c.set.Name)
		assert.Contains(t, warnings[0], c.want)
	}
	_, err := s.set(ChunkSize, objectdb.String("24"))
	assert.ErrorContains(t, err, "is a number, not a string")
	_, err = s.set(ChunkSize, objectdb.Number(-1))
	assert.ErrorContains(t, err, "not between")
	for _, set := range []*Setting{ChunkSize, SaveInterval, MaxSaves, MaxFields, MaxRequests} {
		_, err = s.set(set, objectdb.Number(2.5))
		assert.ErrorContains(t, err, "2.5 is not a whole number", set.Name)
	}
	_, err = s.set(MaxTime, objectdb.Number(2.5))
	assert.NoError(t, err)
}

func TestCacheSettings(t *testing.T) {
	list := func(texts ...string) objectdb.List {
		l := objectdb.List{}
		for _, s := range texts {
			l = append(l, objectdb.String(s))
		}
		return l
	}
	assert.NoError(t, checkCacheServers(list("http://127.0.0.1:6081", "cache.example", "cache:81", "https://[::1]:6081/")))
	for _, bad := range []string{"", "ftp://x", "http://x/path", "http://u:p@x", "x?y", "a b"} {
		assert.Error(t, checkCacheServers(list(bad)), bad)
	}
	assert.ErrorContains(t, checkCacheServers(objectdb.List{objectdb.Number(1)}), "element 1 is a number, not a string")
	assert.NoError(t, checkCacheFolders(list("/var/cache/nginx/scripter")))
	for _, bad := range []string{"", "/", "cache", "/var/.."} {
		assert.Error(t, checkCacheFolders(list(bad)), bad)
	}
}

func TestUnit(t *testing.T) {
	for set, want := range map[*Setting]string{
		ChunkSize: "kilobytes", SaveInterval: "minutes", MaxTime: "seconds", MaxInstructions: "millions", HistoryDays: "days",
		SlowLog: "milliseconds", MaxSaves: "", ErrorStatus: "", ServerName: "", FlDebug: "",
	} {
		assert.Equal(t, want, set.Unit(), set.Name)
	}
}
