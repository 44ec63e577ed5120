package site

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// historyRules returns the rules that commits follow.
func (s *testSite) historyRules() *objectdb.HistoryRules {
	s.t.Helper()
	var rules *objectdb.HistoryRules
	update(s.t, s.db, func(tx *objectdb.Tx) (err error) {
		rules, err = History()(tx)
		return err
	})
	return rules
}

// keptBelow returns the rules by their addresses.
func (s *testSite) keptBelow() map[string]string {
	list := map[string]string{}
	for _, r := range s.historyRules().Subtrees {
		list[r.Address.String()] = historyRuleText(r)
	}
	return list
}

var suppliedRows = map[string]string{
	"scratchpad": "nothing", "system.temp": "nothing", "user.webserver.fldirtyroot": "nothing",
	"user.webserver.sessions": "nothing", "user.webserver.failedlogins": "nothing", "user.webserver.lastlogins": "nothing",
	"user.webserver.visitors": "nothing", "user.webserver.remembered": "nothing",
	"user.webserver.outbox": "nothing", "user.webserver.scheduleruns": "nothing",
}

// A new root has the default rules of objectdb, and so has an older one without the settings.
func TestSuppliedHistory(t *testing.T) {
	s := newSite(t)
	check := func() {
		r, want := *s.historyRules(), objectdb.DefaultHistory
		got := s.keptBelow()
		r.Subtrees, want.Subtrees = nil, nil
		assert.Equal(t, want, r)
		lower := map[string]string{}
		for a, text := range got {
			lower[strings.ToLower(a)] = text
		}
		assert.Equal(t, suppliedRows, lower)
	}
	check()
	update(t, s.db, func(tx *objectdb.Tx) error {
		for _, set := range []*Setting{HistoryInterval, HistoryThinnedDays, HistoryDays, HistorySize, HistoryWhole} {
			if err := tx.Delete(set.Address()); err != nil {
				return err
			}
		}
		return tx.Delete(HistoryRows)
	})
	check()
	s.put("user.webserver.history", objectdb.String("no table"))
	check()
}

func TestHistorySettings(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.historyInterval", objectdb.Number(0.5))
	s.put("user.webserver.historyThinnedDays", objectdb.Number(2))
	s.put("user.webserver.historyDays", objectdb.Number(365))
	s.put("user.webserver.historySize", objectdb.Number(10))
	s.put("user.webserver.historyWhole", objectdb.Number(0.5))
	r := s.historyRules()
	assert.Equal(t, 30*time.Second, r.Interval)
	assert.EqualValues(t, 512<<10, r.Whole)
	const day = 24 * time.Hour
	assert.Equal(t, objectdb.HistoryBounds{Thinned: 2 * day, All: 365 * day, Bytes: 10 << 20}, r.Bounds)

	s.put("user.webserver.historyInterval", objectdb.Number(-1))
	s.put("user.webserver.historyWhole", objectdb.Number(0))
	s.put("user.webserver.historySize", objectdb.String("large"))
	r = s.historyRules()
	assert.Equal(t, time.Hour, r.Interval, "the default")
	assert.EqualValues(t, 1<<20, r.Whole, "the default")
	assert.EqualValues(t, 256<<20, r.Bounds.Bytes, "the default")
}

func TestHistoryRows(t *testing.T) {
	for _, c := range []struct {
		row, text, want, why string
	}{
		{"suites", "everything", "everything", ""},
		{"Suites", " Everything  LARGE ", "everything large", ""},
		{"scratchpad", "thinned", "thinned", ""},
		{"suites", "thinned large", "thinned large", ""},
		{"user.webserver.users", "nothing", "nothing", ""},
		{"scratchpad", "something", "nothing", `it begins with "something"`},
		{"scratchpad", "", "nothing", "it is empty"},
		{"scratchpad", "everything small", "nothing", `"small" follows "everything"`},
		{"workspace", "nothing large", "", "there are no large values"},
		{"workspace..a", "nothing", "", "its name is not an address"},
		{`["workspace"]`, "nothing", "", "the address is written workspace"},
		{"workspace.none", "nothing", "nothing", "there is no workspace.none"},
	} {
		s := newSite(t)
		update(t, s.db, func(tx *objectdb.Tx) error {
			return tx.Put(HistoryRows.Child(c.row), objectdb.String(c.text))
		})
		got := ""
		for a, text := range s.keptBelow() {
			if strings.EqualFold(a, c.row) {
				got = text
			}
		}
		assert.Equal(t, c.want, got, c)
		var rows []HistoryRow
		require.NoError(t, s.try(func(tx *objectdb.Tx) (err error) {
			rows, err = ReadHistoryRows(tx)
			return err
		}))
		why := ""
		for _, r := range rows {
			if r.Why != nil {
				why += r.Why.Error()
			}
		}
		if c.why == "" {
			assert.Empty(t, why, c)
		} else {
			assert.Contains(t, why, c.why)
		}
	}
}

// A row of another kind has no effect, and supplied rows are listed even if they are missing.
func TestHistoryRowsThatAreNoTexts(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.history.scratchpad", objectdb.Number(3))
	require.NoError(t, s.try(func(tx *objectdb.Tx) error { return tx.Delete(HistoryRows.Child("system.temp")) }))
	var got []string
	require.NoError(t, s.try(func(tx *objectdb.Tx) error {
		rows, err := ReadHistoryRows(tx)
		for _, r := range rows {
			line := r.Address + " " + r.Text
			if r.Supplied {
				line += " supplied"
			}
			if r.Why != nil {
				line += ": " + r.Why.Error()
			}
			got = append(got, line)
		}
		return err
	}))
	assert.Equal(t, []string{
		"scratchpad : it is a number, not a text",
		"user.webserver.failedLogins nothing",
		"user.webserver.flDirtyRoot nothing",
		"user.webserver.lastLogins nothing",
		"user.webserver.outbox nothing",
		"user.webserver.remembered nothing",
		"user.webserver.scheduleRuns nothing",
		"user.webserver.sessions nothing",
		"user.webserver.visitors nothing",
		"scratchpad nothing supplied",
		"system.temp nothing supplied",
	}, got)
}

func TestSetHistoryRule(t *testing.T) {
	s := newSite(t)
	a := objectdb.Address{"workspace", "a.b"}
	require.NoError(t, s.try(func(tx *objectdb.Tx) error { return SetHistoryRule(tx, a, "Everything  large") }))
	assert.Equal(t, objectdb.String("everything large"), s.get(`user.webserver.history.["workspace.[\"a.b\"]"]`))
	assert.ErrorContains(t, s.try(func(tx *objectdb.Tx) error { return SetHistoryRule(tx, a, "all") }), `say "everything"`)
	require.NoError(t, s.try(func(tx *objectdb.Tx) error { return RemoveHistoryRule(tx, a) }))
	assert.Equal(t, len(suppliedRows), len(s.keptBelow()))
}

// FuzzHistoryRule checks that a text is refused, or says the same as it is written back.
func FuzzHistoryRule(f *testing.F) {
	for _, text := range []string{"", "everything", "THINNED large", "nothing", "nothing large", "large", "thinned\tlarge x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseHistoryRule(text)
		if err != nil {
			return
		}
		again, err := parseHistoryRule(historyRuleText(r))
		require.NoError(t, err)
		require.Equal(t, r, again)
		require.Equal(t, historyRuleText(r), strings.Join(strings.Fields(strings.ToLower(text)), " "))
	})
}
