package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

func (t *tool) settingsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "settings [NAME [VALUE]]",
		Short: "list, show, check and set the settings",
		Long: `Settings lists all settings: value, where it comes from, meaning. With a NAME,
the last part of the address in any case, it shows one; with a VALUE too it
checks the value and sets it. A value comes from the "root" or is the
"default"; "refused" is what the root has and no request takes: the default
counts then.`,
		Args:              args(0, 2),
		ValidArgsFunction: t.arguments(settingNames, settingValues),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return t.view(c.Context(), t.listSettings)
			}
			s, ok := site.Find(args[0])
			if !ok {
				return usageError{hintError{fmt.Errorf("there is no setting %q", args[0]),
					`"scripter settings" lists them`}}
			}
			if len(args) == 1 {
				return t.view(c.Context(), func(tx *objectdb.Tx) error {
					if err := t.showSetting(s, s.Read(tx)); err != nil {
						return err
					}
					return t.warnUnlisted(tx, s.Name)
				})
			}
			return t.setSetting(c.Context(), s, args[1])
		},
	}
}

func (t *tool) listSettings(tx *objectdb.Tx) error {
	if t.json {
		list := []any{}
		for _, s := range site.Settings {
			list = append(list, jsonSetting(s, s.Read(tx), s.Secret()))
		}
		return t.printJSON(list)
	}
	var rows [][]string
	for _, s := range site.Settings {
		state := s.Read(tx)
		value := settingText(state.Value)
		if s.Secret() && state.From == "root" {
			value = "(hidden)"
		}
		rows = append(rows, []string{s.Name, firstLine(value, 40), state.From, s.Meaning})
	}
	if err := t.columns(rows); err != nil {
		return err
	}
	for _, s := range site.Settings {
		t.warnOfValue(s, s.Read(tx))
	}
	return t.warnUnlisted(tx, "")
}

// warnUnlisted warns of folders and hosts that a setting names, or any setting for "",
// and that the root may not use.
func (t *tool) warnUnlisted(tx *objectdb.Tx, setting string) error {
	reach, err := t.mayReach()
	if err != nil {
		return err
	}
	now, err := site.Read(tx)
	if err != nil {
		return err
	}
	for _, u := range reach.Unlisted(now) {
		if setting == "" || setting == u.Setting {
			t.warn("%v", u)
		}
	}
	return nil
}

// warnOfValue warns of an invalid value in the root.
func (t *tool) warnOfValue(s *site.Setting, state site.State) {
	if state.Why != nil {
		t.warn("%s: %v", s.Name, state.Why)
	}
}

func (t *tool) showSetting(s *site.Setting, state site.State) error {
	if t.json {
		return t.printJSON(jsonSetting(s, state, false))
	}
	err := t.columns([][]string{
		{s.Name, settingText(state.Value)},
		{"from", state.From},
		{"default", settingText(s.Default)},
		{"title", s.Title},
		{"meaning", s.Meaning},
		{"address", s.Address().String()},
	})
	if err != nil {
		return err
	}
	t.warnOfValue(s, state)
	return nil
}

// settingText returns a setting's value as it is shown: an empty text as "".
func settingText(v objectdb.Value) string {
	if v == objectdb.String("") {
		return `""`
	}
	return valuetext.Format(v)
}

func jsonSetting(s *site.Setting, state site.State, hide bool) map[string]any {
	m := map[string]any{
		"name": s.Name, "title": s.Title, "meaning": s.Meaning, "address": s.Address().String(),
		"kind": s.Default.Kind().String(), "default": valuetext.JSON(s.Default),
		"value": valuetext.JSON(state.Value), "from": state.From,
	}
	if hide {
		delete(m, "value")
	}
	if state.Why != nil {
		m["why"] = state.Why.Error()
	}
	return m
}

func (t *tool) setSetting(ctx context.Context, s *site.Setting, text string) error {
	v, err := parseValue(s.Default.Kind(), text)
	if err != nil {
		return err
	}
	if p, ok := v.(objectdb.String); ok && p != "" && s.NamesFile() {
		// The web server's current folder is another one.
		full, err := filepath.Abs(string(p))
		if err != nil {
			return err
		}
		v = objectdb.String(full)
	}
	var before site.State
	var warnings []string
	err = t.update(ctx, func(tx *objectdb.Tx) error {
		before = s.Read(tx)
		reach, err := t.mayReach()
		if err != nil {
			return err
		}
		warnings, err = gateway.SetSetting(tx, s, v, reach)
		return err
	})
	if err != nil {
		return hintError{fmt.Errorf("%s: %w", s.Name, err), "nothing was changed"}
	}
	for _, w := range warnings {
		t.warn("%s", w)
	}
	if t.json {
		return t.printJSON(map[string]any{
			"name": s.Name, "address": s.Address().String(), "before": valuetext.JSON(before.Value),
			"value": valuetext.JSON(v), "warnings": append([]string{}, warnings...),
		})
	}
	fmt.Fprintf(t.out, "%s: %s (was %s)\n", s.Name, settingText(v), settingText(before.Value))
	return nil
}

// warn prints a warning on the standard error.
func (t *tool) warn(format string, args ...any) {
	fmt.Fprintf(t.err, "scripter: warning: %s\n", visible(fmt.Sprintf(format, args...)))
}
