package gateway

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"scripter/objectdb"
	"scripter/requestlog"
)

// FindSetting finds a setting by its name in any case, or by its address.
func FindSetting(name string) (*Setting, bool) {
	name = objectdb.Fold(strings.TrimSpace(name))
	for _, s := range Settings {
		if name == objectdb.Fold(s.Name) || name == objectdb.Fold(s.Address().String()) {
			return s, true
		}
	}
	return nil, false
}

// Secret tells whether the value should not appear in a listing.
func (s *Setting) Secret() bool { return s == debugToken }

// State is the value of a setting, and where it comes from.
type State struct {
	Value objectdb.Value
	From  string // "root"; "default"; "refused": the root's value is invalid, Setting.Refused or the default counts
	Why   error  // of a refused value
}

// Read gives the value that counts, by the rule of every request: what the
// root has, or else the default. Unlike a request it looks at the file system
// too, so that a folder that is gone is told.
func (s *Setting) Read(tx *objectdb.Tx) State {
	v, err := readSettings(tx).read(s)
	if err == nil && !s.needsCheck() && s.Check != nil {
		// It counts all the same: the check is made when it is set.
		if err := s.Check(v); err != nil {
			return State{v, "root", err}
		}
	}
	switch {
	case errors.Is(err, errNotSet), err == nil && reflect.DeepEqual(v, s.Default):
		return State{Value: s.Default, From: "default"}
	case err != nil:
		if s.Refused != nil {
			return State{s.Refused, "refused", err}
		}
		return State{s.Default, "refused", err}
	}
	return State{Value: v, From: "root"}
}

// Set checks a value and puts it into the root. What the owner should know
// about it comes back as sentences.
func (s *Setting) Set(tx *objectdb.Tx, v objectdb.Value) (warnings []string, err error) {
	if v.Kind() != s.Default.Kind() {
		return nil, fmt.Errorf("%s is a %s, not a %s", s.Name, s.Default.Kind(), v.Kind())
	}
	if s.Check != nil {
		if err := s.Check(v); err != nil {
			return nil, err
		}
	}
	if err := tx.Put(s.Address(), v); err != nil {
		return nil, err
	}
	return s.warnings(tx, v), nil
}

// warnings tells what is allowed and yet may not be meant.
func (s *Setting) warnings(tx *objectdb.Tx, v objectdb.Value) []string {
	var list []string
	warn := func(when bool, format string, args ...any) {
		if when {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	all := readSettings(tx)
	on, _ := v.(objectdb.Boolean)
	text, _ := v.(objectdb.String)
	switch s {
	case flScriptTrap, serverID:
		a := objectdb.Address{"system", "verbs", "traps", all.string(serverID), "sdoc"}
		n, err := tx.Find(a)
		warn(all.flag(flScriptTrap) && (err != nil || n.Kind() != objectdb.KindScript), "there is no script at %s: the built-in route is taken", a)
	case serverPath:
		info, err := os.Stat(string(text))
		warn(err == nil && info.Mode()&0o111 == 0, "%s is a file that nobody may execute", text)
	case serverName:
		list = append(list, serverNameWarnings(tx, string(text))...)
	case flDebug:
		warn(bool(on) && all.number(debugMinutes) > 0, "debugging switches itself off after %v minutes (debugMinutes)", all.number(debugMinutes))
		warn(bool(on) && all.flag(flDebugSecrets), "secrets are kept as they are (flDebugSecrets)")
	case flDebugSecrets:
		warn(bool(on), "passwords, cookies and tokens will lie in the root, and in its copies, for anybody to read who may read the file")
	case debugToken:
		warn(text != "" && len(text) < 16, "a token of %d characters can be guessed", len(text))
	case flPassAccel:
		warn(bool(on), "a script can make the web server send any file that it may read")
	case flUseDirtyRoot, saveInterval:
		warn(!all.flag(flAutoSave) && !reflect.DeepEqual(v, s.Default), "%s has no effect while flAutoSave is off", s.Name)
	}
	return list
}

// serverNameWarnings compares Set Server Name with what the web server called
// itself in the last request that Debugging has kept (specification, 2.2).
func serverNameWarnings(tx *objectdb.Tx, name string) []string {
	k, err := requestlog.Find(tx, 0)
	if err != nil || name == "" {
		return nil
	}
	if own := k.Variables["SERVER_SOFTWARE"]; own != "" && own != name {
		return []string{fmt.Sprintf("the web server calls itself %q, by the last kept request; \"\" takes its own word", own)}
	}
	return nil
}
