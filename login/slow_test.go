package login

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// try counts a try without a hash, and returns how long it must wait.
func (l *testLogin) try(name, address string) (wait time.Duration) {
	l.t.Helper()
	err := l.DB.Update(l.t.Context(), func(tx *objectdb.Tx) error { return l.countTry(tx, name, address) })
	if waits := new(WaitError); errors.As(err, &waits) {
		return waits.For
	}
	require.NoError(l.t, err)
	return 0
}

// TestWaits checks the waits after failed tries of one name.
func TestWaits(t *testing.T) {
	l := newLogin(t)
	for range 3 {
		require.Zero(t, l.try("ada", "192.0.2.1"))
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300} {
		want *= time.Second
		require.Equal(t, want, l.try("ADA", "192.0.2.2"), "another client does not wait less")
		require.Equal(t, want, l.try("ada", "192.0.2.1"), "what waits is not counted")
		l.wait(want - time.Millisecond)
		require.Equal(t, time.Millisecond, l.try("ada", "192.0.2.1"))
		l.wait(time.Millisecond)
		require.Zero(t, l.try("ada", "192.0.2.1"))
	}
	assert.Zero(t, l.try("grace", "192.0.2.1"), "another name does not wait")
	l.wait(-24 * time.Hour)
	assert.LessOrEqual(t, l.try("ada", "192.0.2.3"), 5*time.Minute, "however a clock was set")
	l.wait(48 * time.Hour)
	for range 3 {
		require.Zero(t, l.try("ada", "192.0.2.3"), "all is forgotten")
	}
	assert.Equal(t, time.Second, l.try("ada", "192.0.2.3"))
	l.wait(forgetTime)
	assert.Zero(t, l.try("ada", "192.0.2.3"), "one try is forgotten")
	assert.NotZero(t, l.try("ada", "192.0.2.3"))
}

// TestEnterWaits checks that the right password does not help during a wait, and that it ends the
// waits.
func TestEnterWaits(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	for range 4 {
		_, _, err := l.Enter(t.Context(), "ada", "wrong", home)
		require.ErrorIs(t, err, ErrRefused)
		l.wait(time.Second)
	}
	_, _, err := l.Enter(t.Context(), "ada", password, home)
	require.EqualError(t, err, "too many tries: wait for 1s")
	assert.NotErrorIs(t, err, ErrRefused)
	l.wait(time.Second)
	l.enter("ada")
	for range 3 {
		require.Zero(t, l.try("ada", home.Address))
	}
	assert.NotZero(t, l.try("ada", home.Address))
	l.update(func(tx *objectdb.Tx) error { return ForgetTries(tx, "ADA") })
	l.enter("ada")
}

// TestNobodyIsLockedOut checks that one client that keeps on trying a name locks out neither a
// person at a known address nor, for long, one who comes from elsewhere.
func TestNobodyIsLockedOut(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	l.enter("ada")
	attacks := 0
	var open time.Duration
	const step = 5 * time.Second
	for now := time.Duration(0); now < 24*time.Hour; now += step {
		if l.try("ada", "198.51.100.1") == 0 {
			attacks++
		}
		// Somebody who comes from elsewhere could log in now. This is not tried: it would count.
		require.NoError(t, l.view(func(tx *objectdb.Tx) error {
			var row failedRow
			_, err := readRow(tx, site.FailedLogins, nameCounter("ada").key, &row)
			if row.wait(l.clock(), nameRule) <= 0 {
				open += step
			}
			return err
		}))
		l.wait(step)
	}
	assert.Less(t, attacks, 200, "a day of guesses")
	assert.Greater(t, open, 8*time.Hour, "for strangers the name is open a third of the day")
	l.enter("ada") // at the known address, at once
	// An attacker at the same address does wait, and with him the person.
	for range 3 {
		l.try("ada", home.Address)
	}
	assert.NotZero(t, l.try("ada", home.Address))
	l.wait(knownTime)
	known := false
	require.NoError(t, l.view(func(tx *objectdb.Tx) (err error) {
		known, err = l.knows(tx, "ada", clientOf(home.Address))
		return err
	}))
	assert.False(t, known, "after three months")
}

// TestClientWaits checks that a client cannot try many names, nor one IPv6 network.
func TestClientWaits(t *testing.T) {
	l := newLogin(t)
	l.person("grace", "owner")
	for i := range 20 {
		require.Zero(t, l.try(fmt.Sprint("name", i), "2001:db8:1:2::1"))
	}
	assert.Equal(t, time.Second, l.try("ada", "2001:db8:1:2:ffff::7%eth0"))
	assert.Zero(t, l.try("ada", "2001:db8:1:3::1"))
	// A log-in does not reset the tries of the client.
	l.wait(time.Second)
	_, _, err := l.Enter(t.Context(), "grace", password, From{Address: "2001:db8:1:2::1"})
	require.NoError(t, err)
	l.wait(time.Second)
	require.Zero(t, l.try("other", "2001:db8:1:2::1"))
	assert.NotZero(t, l.try("another", "2001:db8:1:2::1"))
	assert.Zero(t, l.try("grace", "2001:db8:1:2::1"), "its own person does not wait for the others")
}

// TestManyAtOnce checks that many tries at once do not get more answers than one after the other.
func TestManyAtOnce(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	var refused, waits atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, _, err := l.Enter(t.Context(), "ada", "wrong", home)
			wait := new(WaitError)
			switch {
			case errors.Is(err, ErrRefused):
				refused.Add(1)
			case errors.As(err, &wait):
				waits.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 3, refused.Load())
	assert.EqualValues(t, 17, waits.Load())
}

// TestCountersAreBounded checks that made-up names and addresses fill no more than the table may
// have, and do not reset a name that waits.
func TestCountersAreBounded(t *testing.T) {
	l := newLogin(t)
	for range 4 {
		l.try("ada", "192.0.2.1")
		l.wait(time.Second)
	}
	l.update(func(tx *objectdb.Tx) error {
		for i := range 3 * maxFailed {
			if err := l.countTry(tx, fmt.Sprint("name", i), fmt.Sprintf("10.0.%d.%d", i/250, i%250)); err != nil {
				return err
			}
		}
		return nil
	})
	rows := l.rows(site.FailedLogins)
	assert.LessOrEqual(t, len(rows), maxFailed)
	assert.Greater(t, len(rows), maxFailed/2)
	assert.NotZero(t, l.try("ada", "192.0.2.9"))
	l.wait(time.Hour)
	l.update(func(tx *objectdb.Tx) error {
		for i := range maxFailed {
			if err := l.countTry(tx, fmt.Sprint("other", i), fmt.Sprint("10.1.1.", i%250)); err != nil {
				return err
			}
		}
		return nil
	})
	assert.LessOrEqual(t, len(l.rows(site.FailedLogins)), maxFailed)
}

func TestClientOf(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "::1": "::/64", "2001:DB8::1": "2001:db8::/64",
		"fe80::1%eth0": "fe80::/64", "": "unknown", "@": "unknown", "unix:": "unknown", "192.0.2.1:80": "unknown",
	} {
		assert.Equal(t, want, clientOf(address), address)
	}
}

// FuzzClientOf checks that any text stands for a client of bounded length.
func FuzzClientOf(f *testing.F) {
	for _, address := range []string{"192.0.2.1", "::ffff:192.0.2.1", "fe80::1%eth0", "", "@", "1.2.3.4:5"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		client := clientOf(address)
		require.NotEmpty(t, client)
		require.LessOrEqual(t, len(client), 50)
		again, _, _ := strings.Cut(client, "/")
		require.Equal(t, client, clientOf(again))
	})
}
