package login

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// errUndo undoes what a run of the fuzz target has written.
var errUndo = errors.New("undone")

var visitTimes = Times{Idle: time.Hour, Longest: 24 * time.Hour}

// visit makes a session of a visitor, who is logged in.
func (l *testLogin) visit(name string) *Visit {
	l.t.Helper()
	v := NewVisit("localhost", l.clock())
	l.update(func(tx *objectdb.Tx) error {
		a, err := l.Account(tx, site.DefaultRealm, name)
		require.NoError(l.t, err)
		if err := v.LogIn(tx, a, ""); err != nil {
			return err
		}
		return v.Store(tx, l.clock(), visitTimes)
	})
	return v
}

// TestEndAllEndsVisits checks that the sessions of a person on the site end with those on the web page.
func TestEndAllEndsVisits(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	l.person("grace", "owner")
	ada, grace := l.visit("ada"), l.visit("grace")
	l.update(func(tx *objectdb.Tx) error {
		a, err := l.Account(tx, site.DefaultRealm, "ada")
		require.NoError(t, err)
		_, _, err = l.Remember(tx, a, "localhost")
		return err
	})
	l.update(func(tx *objectdb.Tx) error { return EndAll(tx, "ADA") })
	require.NoError(t, l.view(func(tx *objectdb.Tx) error {
		_, err := FindVisit(tx, ada.Token(), "localhost", l.clock(), visitTimes)
		assert.ErrorIs(t, err, ErrNoSession)
		_, err = FindVisit(tx, grace.Token(), "localhost", l.clock(), visitTimes)
		assert.NoError(t, err)
		return nil
	}))
	assert.Empty(t, l.rows(site.Remembered))
}

// TestRememberedAreBounded checks that one account has 20 remembered log-ins at most.
func TestRememberedAreBounded(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "")
	first := ""
	l.update(func(tx *objectdb.Tx) error {
		a, err := l.Account(tx, site.DefaultRealm, "ada")
		require.NoError(t, err)
		for i := range maxRemembered + 3 {
			cookie, _, err := l.Remember(tx, a, "localhost")
			require.NoError(t, err)
			if i == 0 {
				first = cookie
			}
			l.wait(time.Second)
		}
		return nil
	})
	assert.Len(t, l.rows(site.Remembered), maxRemembered)
	l.update(func(tx *objectdb.Tx) error {
		_, err := l.Recall(tx, first, "localhost", time.Hour)
		assert.ErrorIs(t, err, ErrNoSession)
		return nil
	})
}

// FuzzVisit checks that no row and no cookie, however damaged, is a session that was not made, or fails for other
// reasons.
func FuzzVisit(f *testing.F) {
	l := newLogin(f)
	l.person("ada", "")
	v := l.visit("ada")
	form := v.FormToken()
	cookie, series := "", ""
	l.update(func(tx *objectdb.Tx) error {
		a, err := l.Account(tx, site.DefaultRealm, "ada")
		require.NoError(f, err)
		cookie, series, err = l.Remember(tx, a, "localhost")
		return err
	})
	for _, text := range []string{"", "{}", "null", `{"host":"localhost","created":1e9}`, `{"name":"ada","token":""}`, v.Token(), cookie, form,
		series, strings.Repeat("a", 16) + "..", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, l.DB.Update(t.Context(), func(tx *objectdb.Tx) error {
			err := tx.Try(func() error {
				_, err := FindVisit(tx, text, "localhost", l.clock(), visitTimes)
				if text != v.Token() {
					require.ErrorIs(t, err, ErrNoSession)
				}
				if text != form {
					require.Equal(t, ForeignForm, v.CheckForm(text))
				}
				if _, err = l.Recall(tx, text, "localhost", time.Hour); text != cookie {
					require.True(t, err == ErrNoSession || strings.Contains(err.Error(), ErrStolen.Error()), "%v", err)
				}
				row := objectdb.String(text)
				require.NoError(t, tx.Put(site.Visitors.Child(v.ID).Child(visitAbout), row))
				require.NoError(t, tx.Put(site.Remembered.Child(series), row))
				if found, err := FindVisit(tx, v.Token(), "localhost", l.clock(), visitTimes); err == nil {
					_, _, err = l.VisitAccount(tx, found)
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, ErrNoSession)
				}
				_, err = l.Recall(tx, cookie, "localhost", time.Hour)
				require.Error(t, err)
				return errUndo
			})
			require.ErrorIs(t, err, errUndo)
			return nil
		}))
	})
}
