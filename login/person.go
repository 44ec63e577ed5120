package login

import (
	"context"
	"errors"
	"fmt"

	"scripter/objectdb"
	"scripter/site"
)

// An Account is a user of a realm, with whose name and password somebody logs in on the site. A role on
// the web page is not needed.
type Account struct {
	Name   string // as the root spells it
	Realm  string
	rights string
}

// key returns the name under which tries and log-ins of an account are kept. The web page and the site
// share those of the default realm.
func (a Account) key() string { return accountKey(a.Realm, a.Name) }

func accountKey(realm, name string) string {
	if realm == site.DefaultRealm {
		return name
	}
	return realm + ":" + name
}

// A Try is a try to log in on the site.
type Try struct {
	Name, Realm string
	Address     string // of the client
}

// CheckTry counts a try, checks the password by a function, and notes the log-in if it is right: all of it
// in the transaction of the request, whose answer is sent only if the count stands. Where that
// transaction is undone, [Login.CountFailed] counts the try. The error wraps [ErrRefused], is a
// [*WaitError], or says why nobody can log in now.
func (l *Login) CheckTry(tx *objectdb.Tx, t Try, isRight func(hash string) (bool, error)) (Account, error) {
	key := accountKey(t.Realm, t.Name)
	if err := l.countTry(tx, key, t.Address); err != nil {
		return Account{}, err
	}
	c, err := l.candidate(tx, t.Realm, t.Name)
	if err != nil {
		return Account{}, err
	}
	ok, err := isRight(c.hash)
	switch {
	case err != nil:
		return Account{}, fmt.Errorf("check the password of %.80q: %w", t.Name, err)
	case c.broken != nil:
		return Account{}, fmt.Errorf("%w: %w", ErrRefused, c.broken)
	case !ok:
		return Account{}, ErrRefused
	}
	return Account{c.name, t.Realm, c.rights()}, l.succeeded(tx, key, t.Address)
}

// CountAgain counts tries that have failed in a part of the transaction that was undone.
func (l *Login) CountAgain(tx *objectdb.Tx, tries []Try) error {
	for _, t := range tries {
		err := l.countTry(tx, accountKey(t.Realm, t.Name), t.Address)
		if wait := new(WaitError); err != nil && !errors.As(err, &wait) {
			return err
		}
	}
	return nil
}

// CountFailed counts tries that have failed in a transaction that was undone.
func (l *Login) CountFailed(ctx context.Context, tries []Try) error {
	return l.DB.Update(context.WithoutCancel(ctx), func(tx *objectdb.Tx) error {
		tx.Origin = origin("log in")
		return l.CountAgain(tx, tries)
	})
}

// Account returns the user with a name, or [objectdb.ErrNotFound].
func (l *Login) Account(tx *objectdb.Tx, realm, name string) (Account, error) {
	c, err := l.candidate(tx, realm, name)
	if err == nil && c.hash == "" {
		err = objectdb.ErrNotFound
	}
	if err != nil {
		return Account{}, err
	}
	return Account{c.name, realm, c.rights()}, nil
}

// ChangePassword gives a user another password. It ends the remembered log-ins and the waits after failed tries;
// sessions end because they depend on the password.
func (l *Login) ChangePassword(tx *objectdb.Tx, realm, name, hash string) (Account, error) {
	a, err := l.Account(tx, realm, name)
	if err != nil {
		return a, err
	}
	if err := tx.Put(site.Users.Child(realm).Child(a.Name), objectdb.String(hash)); err != nil {
		return a, err
	}
	if err := removeOldest(tx, placeOf(a), 0); err != nil {
		return a, err
	}
	if err := ForgetTries(tx, a.key()); err != nil {
		return a, err
	}
	return l.Account(tx, realm, name)
}

// Is reports whether two accounts are the same user.
func (a Account) Is(b Account) bool { return objectdb.Fold(a.key()) == objectdb.Fold(b.key()) }

// LogIn makes a session that of an account. It gets another token. What is stored in it stays, unless
// somebody else was logged in.
func (v *Visit) LogIn(tx *objectdb.Tx, a Account, series string) error {
	was := Account{Name: v.row.Name, Realm: v.row.Realm}
	if was.Name != "" && !was.Is(a) {
		if err := deleteRow(tx, v.address(), visitValues); err != nil {
			return err
		}
	}
	if v.row.Series != "" && v.row.Series != series {
		if err := deleteRow(tx, site.Remembered, v.row.Series); err != nil {
			return err
		}
	}
	v.row.Name, v.row.Realm, v.row.Rights, v.row.Series = a.Name, a.Realm, a.rights, series
	v.dirty = true
	return v.Renew(tx)
}

// Name returns who has logged in, which counts only if [Login.VisitAccount] says so.
func (v *Visit) Name() (name, realm string) { return v.row.Name, v.row.Realm }

// VisitAccount returns who is logged in in a session. ok is false if nobody is: the log-in ends when the
// password or the role changes, whoever has changed it, and when the series of a remembered log-in ends.
func (l *Login) VisitAccount(tx *objectdb.Tx, v *Visit) (a Account, ok bool, err error) {
	if v.row.Name == "" {
		return a, false, nil
	}
	if v.row.Series != "" {
		var row rememberedRow
		if ok, err := readRow(tx, site.Remembered, v.row.Series, &row); !ok || err != nil {
			return a, false, err
		}
	}
	c, err := l.candidate(tx, v.row.Realm, v.row.Name)
	if err != nil || c.hash == "" || c.rights() != v.row.Rights {
		return a, false, err
	}
	return Account{c.name, v.row.Realm, v.row.Rights}, true, nil
}
