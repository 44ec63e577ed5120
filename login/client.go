package login

import (
	"net/netip"
	"slices"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

const (
	// knownTime is how long an address counts as one of a person after a log-in from it, and
	// knownAddresses how many of them are kept.
	knownTime      = 90 * 24 * time.Hour
	knownAddresses = 5
)

// clientOf returns what stands for a client's address where tries are counted. One who has an
// IPv6 address usually has all of its /64. If a web server passes no address on, all its clients
// count as one.
func clientOf(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap().WithZone("")
	if a.Is6() {
		p, err := a.Prefix(64)
		if err == nil {
			return p.String()
		}
	}
	return a.String()
}

// lastRow is a row of user.webserver.lastLogins, under the name of a person: JSON text.
type lastRow struct {
	Time int64       `json:"time"` // of the last log-in, in seconds since 1970
	From []lastPlace `json:"from"` // the last one first
}

type lastPlace struct {
	Client string `json:"client"` // see clientOf
	Time   int64  `json:"time"`
}

// knows reports whether a person has logged in from a client lately.
func (l *Login) knows(tx *objectdb.Tx, name, client string) (bool, error) {
	if objectdb.CheckName(name) != nil {
		return false, nil
	}
	var row lastRow
	if ok, err := readRow(tx, site.LastLogins, name, &row); !ok || err != nil {
		return false, err
	}
	since := l.Now().Add(-knownTime).Unix()
	return slices.ContainsFunc(row.From, func(p lastPlace) bool { return p.Client == client && p.Time > since }), nil
}

// noteLogin notes that a person has logged in.
func (l *Login) noteLogin(tx *objectdb.Tx, name, client string) error {
	var row lastRow
	if _, err := readRow(tx, site.LastLogins, name, &row); err != nil {
		return err
	}
	now := l.Now().Unix()
	from := slices.DeleteFunc(row.From, func(p lastPlace) bool { return p.Client == client })
	from = slices.Insert(from, 0, lastPlace{client, now})
	return writeRow(tx, site.LastLogins, name, lastRow{now, from[:min(len(from), knownAddresses)]})
}

// LastLogin returns when a person has logged in with a password the last time; zero is never.
func LastLogin(tx *objectdb.Tx, name string) (time.Time, error) {
	var row lastRow
	if ok, err := readRow(tx, site.LastLogins, name, &row); !ok || err != nil || row.Time == 0 {
		return time.Time{}, err
	}
	return time.Unix(row.Time, 0), nil
}

// SetPassword gives a person another password. It ends the sessions of that person, and the waits after
// failed tries.
func SetPassword(tx *objectdb.Tx, name, hash string) error {
	if err := site.SetPassword(tx, name, hash); err != nil {
		return err
	}
	if err := EndAll(tx, name); err != nil {
		return err
	}
	return ForgetTries(tx, name)
}

// Forget removes what is kept of the log-ins of a person: sessions, the last log-in, and the waits
// after failed tries.
func Forget(tx *objectdb.Tx, name string) error {
	if err := EndAll(tx, name); err != nil {
		return err
	}
	if err := ForgetTries(tx, name); err != nil {
		return err
	}
	return deleteRow(tx, site.LastLogins, name)
}
