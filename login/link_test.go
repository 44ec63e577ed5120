package login

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// TestLink checks that a link logs in a local owner, once, for 10 minutes, and only where it may.
func TestLink(t *testing.T) {
	l := newLogin(t)
	_, err := l.OneTime(t.Context(), "joe")
	require.ErrorIs(t, err, errNotLocal)
	serve := New(Config{DB: l.DB, Site: l.Site, Passwords: l.Passwords, Now: l.clock, Local: true})
	link, err := serve.OneTime(t.Context(), "joe")
	require.NoError(t, err)
	_, err = l.find(link)
	assert.ErrorIs(t, err, ErrNoSession, "a link is no session")
	for _, bad := range []string{"", "x", link + "A", link[1:] + "A"} {
		_, _, err = serve.Redeem(t.Context(), bad, home)
		assert.ErrorIs(t, err, ErrRefused, bad)
	}
	_, _, err = l.Redeem(t.Context(), link, home)
	assert.ErrorIs(t, err, ErrRefused, "another program on the same root")

	l.wait(linkTime - time.Second)
	s, token, err := serve.Redeem(t.Context(), link, home)
	require.NoError(t, err)
	assert.NotEqual(t, link, token)
	assert.Equal(t, site.RoleOwner, s.Role.Kind)
	_, _, err = serve.Redeem(t.Context(), link, home)
	assert.ErrorIs(t, err, ErrRefused, "once")
	_, err = l.find(link)
	assert.ErrorIs(t, err, ErrNoSession)

	l.Login, serve = serve, l.Login
	found, err := l.find(token)
	require.NoError(t, err)
	assert.Equal(t, "joe", found.Name)
	assert.True(t, found.Local)
	assert.Equal(t, site.LocalOwner, found.Role)
	assert.Len(t, l.sessions("joe"), 1)
	require.NoError(t, l.view(func(tx *objectdb.Tx) error {
		_, err := serve.Find(tx, token)
		assert.ErrorIs(t, err, ErrNoSession, "only in a program that is local")
		s, err := site.Read(tx)
		assert.False(t, s.HasOwner(), "nobody has got a role")
		assert.True(t, l.Answers(s))
		assert.False(t, serve.Answers(s))
		return err
	}))

	late, err := l.OneTime(t.Context(), "joe")
	require.NoError(t, err)
	l.wait(linkTime)
	_, _, err = l.Redeem(t.Context(), late, home)
	assert.ErrorIs(t, err, ErrRefused, "too late")
	_, err = l.OneTime(t.Context(), "joe")
	require.NoError(t, err)
	assert.Len(t, l.rows(site.Sessions), 2, "the late one was removed")
	// A log-in at a web server on the same root leaves them alone.
	l.person("ada", "owner")
	_, _, err = serve.Enter(t.Context(), "ada", password, home)
	require.NoError(t, err)
	_, err = l.find(token)
	assert.NoError(t, err)
	assert.Len(t, l.rows(site.Sessions), 3)
}

// TestLinkOnce checks that of many who use a link at once one gets a session.
func TestLinkOnce(t *testing.T) {
	l := newLogin(t)
	l.Local = true
	link, err := l.OneTime(t.Context(), "joe")
	require.NoError(t, err)
	var got atomic.Int32
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			_, _, err := l.Redeem(t.Context(), link, home)
			if err == nil {
				got.Add(1)
			} else if !errors.Is(err, ErrRefused) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, got.Load())
	assert.Len(t, l.rows(site.Sessions), 1)
}
