package login

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

// testLogin is a Login on a new root with the supplied objects, and a clock of its own.
type testLogin struct {
	*Login
	t    testing.TB
	path string

	mu  sync.Mutex
	now time.Time
}

const password = "correct horse battery"

// home is where people log in from unless a test says otherwise.
var home = From{Address: "192.0.2.1", UserAgent: "Mozilla/5.0"}

func newLogin(t testing.TB) *testLogin {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.root")
	const patience = time.Minute // a busy machine may stand still for seconds
	db, err := sqlitestore.Create(path, objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience,
		History: site.History()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	l := &testLogin{t: t, path: path, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	l.Login = New(Config{DB: db, Site: site.NewCache(), Passwords: site.NewPasswords(), Now: l.clock})
	l.update(func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	return l
}

func (l *testLogin) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *testLogin) wait(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

func (l *testLogin) update(fn func(tx *objectdb.Tx) error) {
	l.t.Helper()
	require.NoError(l.t, l.DB.Update(context.Background(), fn))
}

func (l *testLogin) view(fn func(tx *objectdb.Tx) error) error {
	return l.DB.View(context.Background(), fn)
}

// person makes somebody with a role and the password.
func (l *testLogin) person(name, role string) {
	l.t.Helper()
	hash, err := l.Passwords.Hash(context.Background(), password)
	require.NoError(l.t, err)
	l.update(func(tx *objectdb.Tx) error {
		if err := site.SetPassword(tx, name, hash); err != nil || role == "" {
			return err
		}
		return site.SetRole(tx, name, role)
	})
}

// enter logs in with the right password.
func (l *testLogin) enter(name string) (Session, string) {
	l.t.Helper()
	s, token, err := l.Enter(context.Background(), name, password, home)
	require.NoError(l.t, err)
	return s, token
}

func (l *testLogin) find(token string) (s Session, err error) {
	err = l.view(func(tx *objectdb.Tx) (err error) {
		s, err = l.Find(tx, token)
		return err
	})
	return s, err
}

func (l *testLogin) sessions(name string) (list []Session) {
	l.t.Helper()
	require.NoError(l.t, l.view(func(tx *objectdb.Tx) (err error) {
		list, err = l.Sessions(tx, name)
		return err
	}))
	return list
}

// rows returns the rows of a table as "name text".
func (l *testLogin) rows(table objectdb.Address) (list []string) {
	l.t.Helper()
	require.NoError(l.t, l.view(func(tx *objectdb.Tx) error {
		names, err := rowNames(tx, table)
		for _, name := range names {
			v, err := tx.Get(table.Child(name))
			require.NoError(l.t, err)
			list = append(list, fmt.Sprint(name, " ", v))
		}
		return err
	}))
	return list
}

func TestEnter(t *testing.T) {
	l := newLogin(t)
	l.person("Ada", "owner")
	l.person("visitor", "")
	l.person("broken", "reader")
	l.person("wrongRole", "reader")
	l.update(func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(site.Users.Child("default").Child("broken"), objectdb.String("sesame")))
		require.NoError(t, tx.Put(site.Roles.Child("wrongRole"), objectdb.String("boss")))
		require.NoError(t, site.SetRole(tx, "noPassword", "owner"))
		hash, err := l.Passwords.Hash(t.Context(), password)
		require.NoError(t, err)
		return tx.Put(site.Users.Child("members").Child("member"), objectdb.String(hash))
	})
	for _, c := range []struct{ name, password, log string }{
		{"Ada", "wrong", ""},
		{"Ada", "", ""},
		{"Ada", strings.Repeat("x", 100_000), ""},
		{"nobody", password, ""},
		{"", password, ""},
		{"a\x00b", password, ""},
		{strings.Repeat("n", 100_000), password, ""},
		{"member", password, ""}, // of another realm
		{"noPassword", password, ""},
		{"noPassword", "", ""},
		{"visitor", password, `"visitor" has no role`},
		{"broken", "sesame", `the password of "broken" cannot be checked`},
		{"wrongRole", password, `the role of "wrongRole" gives no rights: it begins with "boss"`},
	} {
		s, token, err := l.Enter(t.Context(), c.name, c.password, home)
		require.ErrorIs(t, err, ErrRefused, "%.20q", c.name)
		assert.ErrorContains(t, err, c.log)
		assert.Empty(t, token)
		assert.Equal(t, Session{}, s)
		l.wait(time.Hour)
	}
	assert.Empty(t, l.rows(site.Sessions))
	assert.Empty(t, l.rows(site.LastLogins))

	made, token, err := l.Enter(t.Context(), "aDA", password, From{"192.0.2.7", "Firefox " + strings.Repeat("é", 500)})
	require.NoError(t, err)
	assert.Len(t, token, 43)
	found, err := l.find(token)
	require.NoError(t, err)
	made.Created, made.Seen = made.Created.UTC(), made.Seen.UTC()
	found.Created, found.Seen = found.Created.UTC(), found.Seen.UTC()
	assert.Equal(t, made, found)
	assert.Equal(t, "Ada", found.Name)
	assert.Equal(t, site.RoleOwner, found.Role.Kind)
	assert.Equal(t, "192.0.2.7", found.Address)
	assert.Len(t, found.UserAgent, maxUserAgent)
	assert.Equal(t, l.clock(), found.Created)
	assert.NotContains(t, strings.Join(l.rows(site.Sessions), "\n"), token, "the root has only the hash")
}

// TestTokens checks that only the token of a session finds it.
func TestTokens(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	s, token := l.enter("ada")
	_, other := l.enter("ada")
	assert.NotEqual(t, token, other, "each log-in has a new token")
	for _, bad := range []string{
		"", "x", token[:42], token + "A", token + "=", s.ID, strings.Repeat("A", 43), strings.Repeat("A", 42) + "B",
		strings.Repeat("!", 43), "\n" + token[1:], strings.ToUpper(token), "../" + token[3:],
	} {
		_, err := l.find(bad)
		assert.ErrorIs(t, err, ErrNoSession, bad)
	}
	for _, value := range []objectdb.Value{
		objectdb.String(""), objectdb.String("{}"), objectdb.String("[1]"), objectdb.Number(1),
		objectdb.String(`{"name":"ada","created":1e99}`), objectdb.String(`{"name":"ada","role":"owner"}`),
		objectdb.String(fmt.Sprintf(`{"name":"ada","created":%d,"seen":%[1]d}`, l.clock().Unix())),
	} {
		l.update(func(tx *objectdb.Tx) error { return tx.Put(site.Sessions.Child(s.ID), value) })
		_, err := l.find(token)
		assert.ErrorIs(t, err, ErrNoSession, value)
	}
	l.update(func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Delete(site.Sessions))
		return tx.Put(site.Sessions, objectdb.String("no table"))
	})
	_, err := l.find(token)
	assert.ErrorIs(t, err, ErrNoSession)
	_, _, err = l.Enter(t.Context(), "ada", password, home)
	require.Error(t, err)
	assert.NotErrorIs(t, err, ErrRefused)
	assert.Empty(t, l.rows(site.FailedLogins))
}

// TestSessionsExpire checks the times after which a session ends.
func TestSessionsExpire(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "reader")
	_, token := l.enter("ada")
	for range 10 * 24 / 11 * 1 {
		l.wait(11 * time.Hour)
		s, err := l.find(token)
		require.NoError(t, err)
		require.NoError(t, l.Touch(t.Context(), s))
	}
	l.wait(idleTime - time.Second)
	s, err := l.find(token)
	require.NoError(t, err)
	assert.Equal(t, l.clock().Add(time.Second), s.Expires().UTC())
	l.wait(time.Second)
	_, err = l.find(token)
	assert.ErrorIs(t, err, ErrNoSession, "nobody used it for 12 hours")

	_, token = l.enter("ada")
	begun := l.clock()
	for l.clock().Before(begun.Add(longestTime - 6*time.Hour)) {
		l.wait(6 * time.Hour)
		s, err = l.find(token)
		require.NoError(t, err)
		require.NoError(t, l.Touch(t.Context(), s))
	}
	assert.Equal(t, begun.Add(longestTime), s.Expires().UTC())
	l.wait(6 * time.Hour)
	_, err = l.find(token)
	assert.ErrorIs(t, err, ErrNoSession, "it lasts 14 days")

	_, token = l.enter("ada")
	assert.Len(t, l.rows(site.Sessions), 1, "those that have ended are removed")
	l.wait(-48 * time.Hour)
	_, err = l.find(token)
	assert.ErrorIs(t, err, ErrNoSession, "the clock was wrong when it was made")
}

// TestFindOnlyReads checks that a request writes nothing about its session but every 10 minutes.
func TestFindOnlyReads(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	_, token := l.enter("ada")
	generation := func() (n int64) {
		require.NoError(t, l.view(func(tx *objectdb.Tx) error {
			n = tx.Generation()
			return nil
		}))
		return n
	}
	use := func() {
		s, err := l.find(token)
		require.NoError(t, err)
		require.NoError(t, l.Touch(t.Context(), s))
	}
	before := generation()
	use()
	l.wait(seenEvery - time.Second)
	use()
	assert.Equal(t, before, generation())
	l.wait(time.Second)
	use()
	assert.Equal(t, before+1, generation())
	s, err := l.find(token)
	require.NoError(t, err)
	assert.Equal(t, l.clock(), s.Seen.UTC())
	use()
	assert.Equal(t, before+1, generation())

	misses := l.DB.CacheStats().Misses
	for range 10 {
		use()
	}
	assert.Equal(t, misses, l.DB.CacheStats().Misses, "all that it reads is in the cache")
	l.wait(seenEvery)
	l.update(func(tx *objectdb.Tx) error { return End(tx, s.ID) })
	require.NoError(t, l.Touch(t.Context(), s))
	assert.Empty(t, l.rows(site.Sessions), "what has ended stays so")
}

// TestRightsEndSessions checks that a change of the password or the role ends sessions, however
// it is made.
func TestRightsEndSessions(t *testing.T) {
	l := newLogin(t)
	hash, err := l.Passwords.Hash(t.Context(), "another password")
	require.NoError(t, err)
	l.person("grace", "owner")
	_, hers := l.enter("grace")
	for name, change := range map[string]func(tx *objectdb.Tx) error{
		"another password": func(tx *objectdb.Tx) error { return site.SetPassword(tx, "ADA", hash) },
		"no password":      func(tx *objectdb.Tx) error { return tx.Delete(site.Users.Child("default").Child("ada")) },
		"no realm":         func(tx *objectdb.Tx) error { return tx.Delete(site.Users.Child("default")) },
		"another role":     func(tx *objectdb.Tx) error { return site.SetRole(tx, "ada", "reader") },
		"other addresses":  func(tx *objectdb.Tx) error { return site.SetRole(tx, "ada", "author suites.y") },
		"no role":          func(tx *objectdb.Tx) error { return site.RemoveRole(tx, "ada") },
		"an invalid role":  func(tx *objectdb.Tx) error { return tx.Put(site.Roles.Child("ada"), objectdb.String("boss")) },
		"no person":        func(tx *objectdb.Tx) error { return site.RemoveUser(tx, "ada") },
		"SetPassword":      func(tx *objectdb.Tx) error { return SetPassword(tx, "ADA", hash) },
		"EndAll":           func(tx *objectdb.Tx) error { return EndAll(tx, "ADA") },
		"Forget":           func(tx *objectdb.Tx) error { return Forget(tx, "ada") },
	} {
		l.person("ada", "author suites.x")
		s, token := l.enter("ada")
		assert.Equal(t, "author suites.x", s.Role.String())
		_, err := l.find(token)
		require.NoError(t, err)
		l.update(change)
		_, err = l.find(token)
		assert.ErrorIs(t, err, ErrNoSession, name)
		assert.Empty(t, l.sessions("ada"), name)
		l.wait(time.Hour)
	}
	// Only the session of the other person is left where they were not removed at once.
	_, err = l.find(hers)
	assert.ErrorIs(t, err, ErrNoSession, "the realm was removed")
}

func TestSessions(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	l.person("grace", "reader")
	first, _ := l.enter("ada")
	l.wait(time.Minute)
	second, token := l.enter("ada")
	hers, _ := l.enter("grace")
	assert.Equal(t, []string{second.ID, first.ID}, ids(l.sessions("ADA")))
	assert.Len(t, l.sessions(""), 3)
	l.update(func(tx *objectdb.Tx) error { return End(tx, first.ID) })
	assert.Equal(t, []string{second.ID}, ids(l.sessions("ada")))
	l.update(func(tx *objectdb.Tx) error { return End(tx, second.ID) })
	l.update(func(tx *objectdb.Tx) error { return End(tx, second.ID) })
	_, err := l.find(token)
	assert.ErrorIs(t, err, ErrNoSession)
	assert.Equal(t, []string{hers.ID}, ids(l.sessions("")))

	// One person has so many sessions at most.
	oldest, _ := l.enter("ada")
	for range maxSessions {
		l.wait(time.Second)
		l.enter("ada")
	}
	list := l.sessions("ada")
	assert.Len(t, list, maxSessions)
	assert.NotContains(t, ids(list), oldest.ID)
	assert.Len(t, l.sessions("grace"), 1)
}

func ids(list []Session) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// TestHistoryKeepsNothing checks that log-ins leave nothing in the history of the root.
func TestHistoryKeepsNothing(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	count := func() (n int) {
		require.NoError(t, l.view(func(tx *objectdb.Tx) error {
			for _, err := range tx.Changes(0) {
				require.NoError(t, err)
				n++
			}
			return nil
		}))
		return n
	}
	before := count()
	_, _, err := l.Enter(t.Context(), "ada", "wrong", home)
	require.ErrorIs(t, err, ErrRefused)
	s, _ := l.enter("ada")
	l.wait(seenEvery)
	require.NoError(t, l.Touch(t.Context(), s))
	l.enter("ada")
	l.update(func(tx *objectdb.Tx) error { return EndAll(tx, "ada") })
	assert.Equal(t, before, count())
}

// TestRefusalsTakeTheSame checks that each refusal computes one hash, which takes nearly all of its
// time. The memory of a hash tells that it was computed.
func TestRefusalsTakeTheSame(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	l.person("visitor", "")
	l.person("broken", "owner")
	l.update(func(tx *objectdb.Tx) error {
		return tx.Put(site.Users.Child("default").Child("broken"), objectdb.String("sesame"))
	})
	const one = 19 << 20
	for _, c := range [][2]string{
		{"ada", "wrong"}, {"nobody", password}, {"visitor", password}, {"broken", "sesame"}, {"", ""}, {"a\x00", "x"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := l.Enter(t.Context(), c[0], c[1], home)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, ErrRefused)
		made := after.TotalAlloc - before.TotalAlloc
		assert.Greater(t, made, uint64(one), "%q", c[0])
		assert.Less(t, made, uint64(2*one), "%q", c[0])
		l.wait(time.Hour)
	}
}

// TestUnansweredIsNoTry checks that a try does not count if the client is gone, or the root fails,
// before it is answered.
func TestUnansweredIsNoTry(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		_, _, err := l.Enter(gone, "ada", password, home)
		require.ErrorIs(t, err, context.Canceled)
		assert.NotErrorIs(t, err, ErrRefused)
	}
	assert.Empty(t, l.rows(site.FailedLogins))
	assert.Empty(t, l.rows(site.Sessions))
}

// changing is a context that changes something when the password is being checked.
type changing struct {
	context.Context
	change func()
}

func (c changing) Done() <-chan struct{} {
	c.change()
	return c.Context.Done()
}

// TestChangedMeanwhile checks that a password or a role that is taken away while the password is
// checked gives no session.
func TestChangedMeanwhile(t *testing.T) {
	l := newLogin(t)
	for _, change := range []func(tx *objectdb.Tx) error{
		func(tx *objectdb.Tx) error { return site.SetRole(tx, "ada", "reader") },
		func(tx *objectdb.Tx) error { return site.RemoveUser(tx, "ada") },
	} {
		l.person("ada", "owner")
		once := sync.OnceFunc(func() { l.update(change) })
		_, _, err := l.Enter(changing{t.Context(), once}, "ada", password, home)
		require.ErrorIs(t, err, ErrRefused)
		assert.ErrorContains(t, err, "was changed meanwhile")
		assert.Empty(t, l.rows(site.Sessions))
	}
}

// FuzzRow checks that no row, however damaged, is a session or stops a log-in.
func FuzzRow(f *testing.F) {
	l := newLogin(f)
	l.person("ada", "owner")
	s, token := l.enter("ada")
	for _, text := range append([]string{"", "{}", `{"name":"ada","created":1,"rights":""}`, `{"local":true}`, "[]", "null",
		`{"tries":1e308,"last":-1}`, `{"time":1,"from":[{"client":"x","time":99999999999}]}`},
		l.rows(site.Sessions)[0][65:]) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := objectdb.String(text)
		update := func(fn func(tx *objectdb.Tx) error) { require.NoError(t, l.DB.Update(t.Context(), fn)) }
		update(func(tx *objectdb.Tx) error {
			require.NoError(t, tx.Put(site.Sessions.Child(s.ID), v))
			require.NoError(t, tx.Put(site.LastLogins.Child("ada"), v))
			return tx.Put(site.FailedLogins.Child(nameCounter("ada").key), v)
		})
		if found, err := l.find(token); err == nil {
			require.Equal(t, "ada", found.Name)
			require.False(t, found.Local)
		} else {
			require.ErrorIs(t, err, ErrNoSession)
		}
		update(func(tx *objectdb.Tx) error {
			err := l.countTry(tx, "ada", home.Address)
			if waits := new(WaitError); errors.As(err, &waits) {
				require.Positive(t, waits.For)
				require.LessOrEqual(t, waits.For, nameRule.longest)
				err = nil
			}
			require.NoError(t, err)
			require.NoError(t, l.removeEnded(tx, "ada"))
			return l.succeeded(tx, "ada", home.Address)
		})
	})
}
