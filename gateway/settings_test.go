package gateway

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
func (s *site) state(set *Setting) State {
	s.t.Helper()
	var state State
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		state = set.Read(tx)
		return nil
	}))
	return state
}

func (s *site) set(set *Setting, v objectdb.Value) (warnings []string, err error) {
	s.t.Helper()
	err = s.db.Update(context.Background(), func(tx *objectdb.Tx) error {
		warnings, err = set.Set(tx, v)
		return err
	})
	return warnings, err
}

func TestFindSetting(t *testing.T) {
	for _, name := range []string{"chunkSize", "CHUNKSIZE", " chunksize", "user.webserver.chunkSize"} {
		s, ok := FindSetting(name)
		require.True(t, ok, name)
		assert.Same(t, chunkSize, s)
	}
	_, ok := FindSetting("chunk")
	assert.False(t, ok)
}

// TestSettingFrom: a slip of the owner gives the default, and is told.
//
// Specification: 2.2.5
func TestSettingFrom(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, State{Value: objectdb.Number(24), From: "default"}, s.state(chunkSize))
	s.put("user.webserver.chunkSize", objectdb.Number(48))
	assert.Equal(t, State{Value: objectdb.Number(48), From: "root"}, s.state(chunkSize))
	for _, bad := range []objectdb.Value{objectdb.Number(-1), objectdb.String("48")} {
		s.put("user.webserver.chunkSize", bad)
		state := s.state(chunkSize)
		assert.Equal(t, objectdb.Number(24), state.Value)
		assert.Equal(t, "refused", state.From)
		assert.Error(t, state.Why)
	}
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(chunkSize.Address()) })
	assert.Equal(t, "default", s.state(chunkSize).From)
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.NewTable(chunkSize.Address()) })
	assert.Equal(t, "refused", s.state(chunkSize).From)
	s.put("user.webserver.debugToken", objectdb.Text("a text is a string"))
	assert.Equal(t, State{Value: objectdb.String("a text is a string"), From: "root"}, s.state(debugToken))
	s.put("user.webserver.websiteFolderPath", objectdb.String("/no/such/folder"))
	state := s.state(websiteFolderPath)
	assert.Equal(t, "root", state.From, "requests do not look")
	assert.Error(t, state.Why)
}

// TestPathSettings: Set Path to Server takes the application, not its folder;
// Set Website Folder Path the folder, not the application (specification, 2.2).
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
		{serverPath, program, "", ""},
		{serverPath, "", "", ""},
		{serverPath, folder, "is a folder", ""},
		{serverPath, filepath.Join(folder, "none"), "no such file", ""},
		{serverPath, text, "", "nobody may execute"},
		{websiteFolderPath, folder, "", ""},
		{websiteFolderPath, program, "is a file", ""},
		{websiteFolderPath, filepath.Join(folder, "none"), "no such file", ""},
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
		{flScriptTrap, objectdb.Boolean(true), ""},
		{serverID, objectdb.String("other"), "there is no script at system.verbs.traps.other.sdoc"},
		{flScriptTrap, objectdb.Boolean(false), ""},
		{flDebug, objectdb.Boolean(true), "switches itself off after 30 minutes"},
		{flDebug, objectdb.Boolean(false), ""},
		{flDebugSecrets, objectdb.Boolean(true), "for anybody to read"},
		{debugToken, objectdb.String("short"), "can be guessed"},
		{debugToken, objectdb.String("a long random text, indeed"), ""},
		{flPassAccel, objectdb.Boolean(true), "any file"},
		{flUseDirtyRoot, objectdb.Boolean(true), "no effect while flAutoSave is off"},
		{chunkSize, objectdb.Number(0), ""},
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
	_, err := s.set(chunkSize, objectdb.String("24"))
	assert.ErrorContains(t, err, "is a number, not a string")
	_, err = s.set(chunkSize, objectdb.Number(-1))
	assert.ErrorContains(t, err, "not between")
	for _, set := range []*Setting{chunkSize, saveInterval, maxSaves, maxFields, maxRequests} {
		_, err = s.set(set, objectdb.Number(2.5))
		assert.ErrorContains(t, err, "2.5 is not a whole number", set.Name)
	}
	_, err = s.set(maxTime, objectdb.Number(2.5))
	assert.NoError(t, err)
}

// TestServerNameWarns: Set Server Name must equal what the web server shows
// as its name (specification, 2.2); the last kept request tells it.
//
// Specification: 2.2.4
func TestServerNameWarns(t *testing.T) {
	s := debugging(t)
	warnings, err := s.set(serverName, objectdb.String("Other/1"))
	require.NoError(t, err)
	assert.Empty(t, warnings, "nobody knows")
	s.script("x", `return "x"`)
	s.ask("/x.fcgi", nil)
	warnings, err = s.set(serverName, objectdb.String("Other/1"))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], `"Test/1"`)
	for _, name := range []string{"Test/1", ""} {
		warnings, err = s.set(serverName, objectdb.String(name))
		require.NoError(t, err)
		assert.Empty(t, warnings, name)
	}
}
