package site

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"scripter/objectdb"
)

// Find returns the setting with a name or an address. It ignores case.
func Find(name string) (*Setting, bool) {
	name = objectdb.Fold(strings.TrimSpace(name))
	for _, s := range Settings {
		if name == objectdb.Fold(s.Name) || name == objectdb.Fold(s.Address().String()) {
			return s, true
		}
	}
	return nil, false
}

// Secret reports whether listings hide the value of the setting.
func (s *Setting) Secret() bool { return s == DebugToken }

// State is the value of a setting and where it comes from.
type State struct {
	Value objectdb.Value
	// From is "root", "default", or "refused": the root's value is invalid, and
	// Setting.Refused or the default is used instead.
	From string
	Why  error // why the root's value is invalid
}

// Read returns the value that requests use: that of the root, or else the default.
// Unlike a request it also checks the path that the setting names in the file system.
func (s *Setting) Read(tx *objectdb.Tx) State {
	r := reader{tx: tx}
	v, err := r.setting(s)
	if r.err != nil {
		v, err = nil, r.err
	}
	if err == nil && s.NamesFile() && s.Check != nil {
		if err := s.Check(v); err != nil {
			return State{v, "root", err} // requests use it nevertheless
		}
	}
	switch {
	case errors.Is(err, errNotSet), err == nil && reflect.DeepEqual(v, s.Default):
		return State{Value: s.Default, From: "default"}
	case err != nil:
		return State{s.instead(err), "refused", err}
	}
	return State{Value: v, From: "root"}
}

// Set checks a value and stores it. See Warnings.
func (s *Setting) Set(tx *objectdb.Tx, v objectdb.Value) error {
	if v.Kind() != s.Default.Kind() {
		return fmt.Errorf("%s is a %s, not a %s", s.Name, s.Default.Kind(), v.Kind())
	}
	if s.Check != nil {
		if err := s.Check(v); err != nil {
			return err
		}
	}
	return tx.Put(s.Address(), v)
}

// Warnings returns warnings about a value that is valid but may be a mistake, together with the
// other settings of the root.
func (s *Setting) Warnings(all *Snapshot, v objectdb.Value) []string {
	var list []string
	warn := func(when bool, format string, args ...any) {
		if when {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	on, _ := v.(objectdb.Boolean)
	text, _ := v.(objectdb.String)
	switch s {
	case FlScriptTrap, ServerID:
		_, ok := all.Trap()
		warn(all.Flag(FlScriptTrap) && !ok, "there is no script at %s: the built-in route is taken", all.TrapAddress())
	case ServerPath:
		info, err := os.Stat(string(text))
		warn(err == nil && info.Mode()&0o111 == 0, "%s is a file that nobody may execute", text)
	case FlDebug:
		minutes := all.Number(DebugMinutes)
		warn(bool(on) && minutes > 0, "debugging switches itself off after %v minutes (debugMinutes)", minutes)
		warn(bool(on) && all.Flag(FlDebugSecrets), "secrets are recorded as they are (flDebugSecrets)")
	case FlDebugSecrets:
		warn(bool(on), "passwords, cookies and tokens will lie in the root, and in its copies, "+
			"for anybody to read who may read the file")
	case DebugToken:
		warn(text != "" && len(text) < 16, "a token of %d characters can be guessed", len(text))
	case FlPassAccel:
		warn(bool(on), "a script can make the web server send any file that it may read")
	case FlUseDirtyRoot, SaveInterval:
		warn(!all.Flag(FlAutoSave) && !reflect.DeepEqual(v, s.Default),
			"%s has no effect while flAutoSave is off", s.Name)
	}
	return list
}
