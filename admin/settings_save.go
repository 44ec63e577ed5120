package admin

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"scripter/gateway"
	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

// changeSettings does what a form with settings asks for:
//
//	do=save     set=NAME …  each with its value in the field NAME, and in the field was.NAME the
//	            value that the form showed at first: what is the same was not changed by the person
//	only=NAME   that one alone
//	do=default  set=NAME
//
// Either all are stored or none.
func (c *call) changeSettings() (*result, error) {
	do := c.field("do")
	names := c.r.PostForm["set"]
	if only := c.field("only"); only != "" {
		do, names = "save", []string{only}
	}
	var list []*site.Setting
	for _, name := range names {
		s, ok := site.Find(name)
		if !ok {
			return nil, bad("settings.unknown", name)
		}
		list = append(list, s)
	}
	switch {
	case len(list) == 0:
		return nil, bad("settings.none")
	case do == "save":
		return c.saveSettings(list)
	case do == "default":
		return c.resetSettings(list)
	}
	return nil, unknownAction(do)
}

// errNotStored is the error of a form with mistakes, which are told at its fields.
var errNotStored = errors.New("the form has mistakes")

// saveSettings stores what the person has changed.
func (c *call) saveSettings(list []*site.Setting) (*result, error) {
	var t typed
	warnings := map[string][]string{}
	change, err := c.updateSettings(list, func(tx *objectdb.Tx) error {
		clear(warnings)
		t = typed{map[string]string{}, map[string]string{}}
		for _, s := range list {
			if !s.Secret() {
				t.texts[s.Name] = c.typedText(s)
			}
			w, err := c.saveSetting(tx, s)
			if p := (&problem{}); errors.As(err, &p) {
				t.errors[s.Name] = p.Text
				continue
			}
			if err != nil {
				return err
			}
			if len(w) > 0 {
				warnings[s.Name] = w
			}
		}
		if len(t.errors) > 0 {
			return errNotStored
		}
		return nil
	})
	if errors.Is(err, errNotStored) {
		return c.settingMistakes(list, t)
	}
	if err != nil {
		return c.orConfirm(err)
	}
	res := c.redirectToSettings(list, change)
	res.data = map[string]any{"location": res.location, "message": text("said.saved"), "change": change,
		"warnings": warnings}
	return res, nil
}

// typedText returns the text that the form has for a setting.
func (c *call) typedText(s *site.Setting) string {
	t := c.lines(s.Name)
	if s.Default.Kind() == objectdb.KindBoolean && t == "" {
		return "false" // browsers leave an empty box out
	}
	return t
}

// longestSetting is the number of bytes that the value of a setting may have.
const longestSetting = 20_000

// saveSetting stores one setting, unless the person has not changed it. A mistake is a problem.
func (c *call) saveSetting(tx *objectdb.Tx, s *site.Setting) (warnings []string, err error) {
	t, state := c.typedText(s), s.Read(tx)
	was, known := c.r.PostForm["was."+s.Name]
	switch now := settingText(state.Value); {
	case s.Secret() && t == "":
		return nil, nil
	case len(t) > longestSetting:
		return nil, bad("settings.long", longestSetting)
	case s.Secret() || !known || len(was) == 0:
	case t == unixLines(was[0]) && c.field("only") == "":
		return nil, nil
	case now != unixLines(was[0]) && now != t:
		return nil, bad("settings.changed", now)
	}
	v, err := parseSetting(s, t)
	if err == nil && s.Check != nil {
		err = s.Check(v)
	}
	if err != nil {
		return nil, badInput(err)
	}
	return gateway.SetSetting(tx, s, v, c.Gateway.Reach())
}

// parseSetting reads the text of a form. The paths of files must be absolute: the current folder
// of the program is not that of the person.
func parseSetting(s *site.Setting, t string) (objectdb.Value, error) {
	switch k := s.Default.Kind(); k {
	case objectdb.KindString:
		t = strings.TrimSpace(t)
		if s.NamesFile() && t != "" && !filepath.IsAbs(t) {
			return nil, fmt.Errorf(text("settings.absolute"), t)
		}
		return objectdb.String(t), nil
	case objectdb.KindList:
		list := objectdb.List{}
		for line := range strings.Lines(t) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, objectdb.String(line))
			}
		}
		return list, nil
	default:
		return valuetext.Parse(k, t)
	}
}

// settingMistakes shows the form again, with what was typed, and what is wrong with it.
func (c *call) settingMistakes(list []*site.Setting, t typed) (*result, error) {
	var all []string
	for _, s := range list {
		if e := t.errors[s.Name]; e != "" {
			all = append(all, s.Title+": "+e)
		}
	}
	message := text("settings.nothing") + " " + strings.Join(all, " · ")
	if c.json {
		return nil, &problem{Status: http.StatusBadRequest, Text: message, Data: map[string]any{"errors": t.errors}}
	}
	if c.field("back") == "saves" {
		res, err := c.copiesPageWith(t, message)
		if err == nil {
			res.status = http.StatusBadRequest
		}
		return res, err
	}
	data, err := c.readSettings(t)
	if err != nil {
		return nil, err
	}
	data.Error = message
	return &result{status: http.StatusBadRequest, template: "settings", title: text("nav.settings"), data: data}, nil
}

// resetSettings gives settings their defaults.
func (c *call) resetSettings(list []*site.Setting) (*result, error) {
	change, err := c.updateSettings(list, func(tx *objectdb.Tx) error {
		for _, s := range list {
			n, err := tx.Find(s.Address())
			if err == nil && n.Kind() == objectdb.KindTable {
				err = tx.Delete(s.Address())
			}
			if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
				return err
			}
			if err := tx.Put(s.Address(), s.Default); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return c.orConfirm(err)
	}
	return c.redirectToSettings(list, change), nil
}

// updateSettings runs fn, which changes settings. If it would move the web page itself away, or
// close it, the person is asked first.
func (c *call) updateSettings(list []*site.Setting, fn func(tx *objectdb.Tx) error) (int64, error) {
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	what := "settings " + strings.Join(names, " ")
	if len(names) > 3 {
		what = fmt.Sprintf("%d settings", len(names))
	}
	path := c.base
	change, err := c.update(what, func(tx *objectdb.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		now, err := site.Read(tx)
		if err != nil {
			return err
		}
		if path = now.String(site.AdminPath); path != c.base && c.field("confirm") != "yes" {
			return c.askForPath(path)
		}
		return nil
	})
	if err == nil && path != c.base {
		c.moveSession(path)
	}
	return change, err
}

// askForPath returns the question whether the web page shall have another path, or none.
func (c *call) askForPath(path string) error {
	q := &confirmation{Title: text("settings.moveTitle"), Button: text("settings.move"), Cancel: c.link("settings"),
		Lines: []string{text("settings.moves", c.base, path), text("settings.moveServer", path)}}
	if path == "" {
		q.Title, q.Button, q.Danger = text("settings.closeTitle"), text("settings.close"), true
		q.Lines = []string{text("settings.closes", c.base), text("settings.closesForAll")}
	}
	q.Lines = append(q.Lines, text("settings.moveBack", c.base))
	return q
}

// moveSession goes on with the session of the browser at another path of the web page.
func (c *call) moveSession(path string) {
	c.setCookie(c.base, "")
	if path != "" {
		c.setCookie(path, login.Token(c.r, isSecure(c.r)))
	}
	c.base = path
}

// redirectToSettings returns to the form with these settings.
func (c *call) redirectToSettings(list []*site.Setting, change int64) *result {
	if c.base == "" { // there is no such page any more
		return c.redirect("/", "", 0)
	}
	if c.field("back") == "saves" {
		return c.redirect(c.link("saves"), "saved", change)
	}
	key := ""
	for _, g := range settingGroups() {
		if slices.Contains(g.settings, list[0]) {
			key = g.key
		}
	}
	res := c.redirect(c.link("settings", "group", key), "saved", change)
	res.location += "#" + key
	return res
}
