package admin

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

// settingsRoutes lists the pages of settings and tables of the site.
func (s *Server) settingsRoutes() {
	s.page("GET /settings", readers, (*call).settingsPage)
	s.page("POST /settings", owners, (*call).changeSettings)
	s.page("GET /settings/{table}", readers, (*call).rulesPage)
	s.page("POST /settings/{table}", owners, (*call).changeRules)
}

// settingList is a part of the page.
type settingList struct {
	key, title string
	settings   []*site.Setting
}

// settingGroups are the parts of the page, each a form of its own. The first has the settings of
// section 2.2 of the specification, in its order.
var settingGroups = sync.OnceValue(func() []settingList {
	return []settingList{
		{"server", "settings.server", []*site.Setting{
			site.FlScriptTrap, site.ServerPath, site.WebsiteFolderPath, site.ServerName, site.ChunkSize, site.FlDebug,
			site.FlAutoSave, site.FlUseDirtyRoot, site.SaveInterval,
		}},
		{"requests", "settings.requests", []*site.Setting{
			site.ServerID, site.ScriptFolders, site.AdminPath, site.ErrorStatus, site.FlAddCharset, site.FlPassAccel,
			site.FlEscapeMarkers,
		}},
		{"visitors", "settings.visitors", []*site.Setting{
			site.SessionIdle, site.SessionDays, site.MaxSessions, site.MaxSessionSize, site.FlFormTokens,
			site.LoginPage, site.RememberDays,
		}},
		{"recording", "settings.recording", []*site.Setting{
			site.MaxRequests, site.DebugMinutes, site.FlDebugSecrets, site.DebugToken, site.SlowLog,
			site.FlVerboseMessages, site.FlSuspendLogging,
		}},
		{"maintenance", "settings.maintenance", []*site.Setting{site.FlRefuseConnections, site.RetryAfter}},
		{"limits", "settings.limits", []*site.Setting{
			site.MaxTime, site.MaxInstructions, site.MaxMemory, site.MaxString, site.MaxDepth, site.MaxPatternSteps,
			site.MaxCoroutines, site.MaxSource, site.MaxMacros, site.MaxBody, site.MaxFields, site.MaxFile, site.MaxResponse,
			site.MaxFetches, site.MaxFetchSize, site.MaxFetchTime, site.MaxSQLRows, site.MaxSQLSize,
			site.MaxSQLTime, site.MaxRunning, site.MaxWaiting,
		}},
		{"later", "settings.later", []*site.Setting{
			site.FlPauseOutbox, site.FlPauseSchedule, site.MaxOutbox, site.MaxMail, site.OutboxTries, site.OutboxDays,
			site.MaxScheduledTime,
		}},
		{"history", "settings.history", []*site.Setting{
			site.HistoryInterval, site.HistoryThinnedDays, site.HistoryDays, site.HistorySize, site.HistoryWhole,
		}},
		{"copies", "settings.copies", []*site.Setting{site.MaxSaves, site.FlDirtyRoot}},
		{"caches", "settings.caches", []*site.Setting{site.CacheServers, site.CacheFolders}},
	}
})

// settingsData is the page of all settings.
type settingsData struct {
	Groups []settingGroup `json:"groups"`
	Error  string         `json:"error,omitempty"`
}

// settingGroup is a form with settings.
type settingGroup struct {
	Key    string         `json:"key"`
	Title  string         `json:"title"`
	Fields []settingField `json:"settings"`
	Saved  bool           `json:"-"` // just now
	Back   string         `json:"-"` // the page that has the form, if it is not that of all settings
}

// settingField is a setting for people and programs.
type settingField struct {
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Meaning  string           `json:"meaning"`
	Address  objectdb.Address `json:"-"`
	Dotted   string           `json:"address"`
	Kind     string           `json:"kind"`
	Unit     string           `json:"unit,omitempty"`
	Value    any              `json:"value,omitempty"` // not of a secret
	Default  any              `json:"default"`
	From     string           `json:"from"`          // "root", "default" or "refused"
	Why      string           `json:"why,omitempty"` // what is wrong with the root's value
	Warnings []string         `json:"warnings,omitempty"`
	Choices  []string         `json:"choices,omitempty"`
	Secret   bool             `json:"secret,omitempty"`
	Error    string           `json:"error,omitempty"` // why what was sent was not stored

	Group   string `json:"-"` // the key of its form
	Text    string `json:"-"` // what the form shows
	Was     string `json:"-"` // what it showed at first
	Usually string `json:"-"` // the default
	Made    bool   `json:"-"` // Text is a new random token
	Focus   bool   `json:"-"` // it has the focus when the page opens
}

// SaidBelow reports whether the message stands at the form that was saved, and not at the top of the page.
func (f *frame) SaidBelow() bool {
	data, ok := f.Data.(*settingsData)
	return ok && slices.ContainsFunc(data.Groups, func(g settingGroup) bool { return g.Saved })
}

// focusMistake gives the focus to the first field with a mistake.
func focusMistake(groups ...settingGroup) {
	for _, g := range groups {
		for i := range g.Fields {
			if f := &g.Fields[i]; f.Error != "" {
				f.Focus = true
				return
			}
		}
	}
}

// typed is what a form had that was not stored: texts and errors by the names of settings.
type typed struct {
	texts, errors map[string]string
}

// settingsPage shows all settings.
func (c *call) settingsPage() (*result, error) {
	data, err := c.readSettings(typed{})
	if err != nil {
		return nil, err
	}
	return &result{template: "settings", title: text("nav.settings"), data: data}, nil
}

// readSettings returns the data of the page.
func (c *call) readSettings(t typed) (*settingsData, error) {
	data := &settingsData{}
	err := c.view(func(tx *objectdb.Tx) error {
		now, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, g := range settingGroups() {
			group := settingGroup{Key: g.key, Title: text(g.title), Saved: c.query("group") == g.key}
			for _, s := range g.settings {
				group.Fields = append(group.Fields, c.settingField(tx, now, s, g.key, t))
			}
			data.Groups = append(data.Groups, group)
		}
		focusMistake(data.Groups...)
		return nil
	})
	return data, err
}

// settingField returns a setting as it is now.
func (c *call) settingField(tx *objectdb.Tx, now *site.Snapshot, s *site.Setting, group string, t typed) settingField {
	state := s.Read(tx)
	f := settingField{Name: s.Name, Title: s.Title, Meaning: s.Meaning, Address: s.Address(),
		Dotted: s.Address().String(), Kind: s.Default.Kind().String(), Unit: s.Unit(),
		Default: valuetext.JSON(s.Default), From: state.From,
		Secret: s.Secret(), Usually: settingText(s.Default), Group: group, Error: t.errors[s.Name]}
	if s.Default.Kind() == objectdb.KindNumber {
		for _, v := range s.Values() {
			f.Choices = append(f.Choices, settingText(v))
		}
	}
	if state.Why != nil {
		f.Why = state.Why.Error()
	}
	if state.From == "root" && state.Why == nil {
		f.Warnings = gateway.SettingWarnings(tx, now, s, state.Value, c.Gateway.Reach())
	}
	if s.Secret() {
		if f.Made = c.query("make") == s.Name && c.role.Kind == site.RoleOwner && !c.inPast; f.Made {
			f.Text = newToken()
		}
		return f
	}
	f.Value, f.Was = valuetext.JSON(state.Value), settingText(state.Value)
	f.Text = f.Was
	if text, ok := t.texts[s.Name]; ok {
		f.Text = text
	}
	return f
}

// settingText returns a value as the form shows it: a list has a line for each text.
func settingText(v objectdb.Value) string {
	list, ok := v.(objectdb.List)
	if !ok {
		return valuetext.Format(v)
	}
	var lines []string
	for _, e := range list {
		lines = append(lines, valuetext.Format(e))
	}
	return strings.Join(lines, "\n")
}

// newToken returns a random text that nobody can guess.
func newToken() string {
	token := make([]byte, 24)
	rand.Read(token) // never fails
	return base64.RawURLEncoding.EncodeToString(token)
}
