package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
)

// The tables in which package login keeps what it knows of log-ins on the web page.
var (
	Sessions     = home.Child("sessions")
	FailedLogins = home.Child("failedLogins")
	LastLogins   = home.Child("lastLogins")
)

// The tables in which package login keeps what it knows of the visitors of the site, and when it last
// removed from them what has expired.
var (
	Visitors      = home.Child("visitors")
	Remembered    = home.Child("remembered")
	VisitorsSwept = objectdb.Address{"system", "temp", "visitorsSwept"}
)

// DefaultRealm is the realm of the root's users that the requirement "user" means. The people
// who may use the web page are users of this realm too.
const DefaultRealm = "default"

// minPassword is the number of characters that a password of somebody with a role must have.
const minPassword = 10

// CheckPassword returns an error unless somebody can be given this password on a command line
// and on the web page.
func CheckPassword(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return fmt.Errorf("the password has fewer than %d characters", minPassword)
	case len(password) > maxPassword:
		return fmt.Errorf("the password has more than %d bytes", maxPassword)
	}
	return nil
}

// CheckUserName returns an error unless somebody can be given this name on a command line and on
// the web page. Scripts may give users other names.
func CheckUserName(name string) error {
	if name == "" || len(name) > 64 {
		return errors.New("a name has 1 to 64 characters")
	}
	for _, c := range name {
		if c >= 0x80 || !isAlphanumeric(byte(c)) && !strings.ContainsRune("._@+-", c) {
			return fmt.Errorf("the name %.80q has the character %q: a name has letters, digits and . _ @ + -", name, c)
		}
	}
	if !isAlphanumeric(name[0]) {
		return fmt.Errorf("the name %q does not begin with a letter or a digit", name)
	}
	return nil
}

// User returns the name of a user as the root spells it, and the hash of the user's password. If
// there is no such user, the error is [objectdb.ErrNotFound].
func User(tx *objectdb.Tx, realm, name string) (spelled, hash string, err error) {
	if objectdb.CheckName(name) != nil {
		return "", "", objectdb.ErrNotFound
	}
	users, err := tx.Find(Users.Child(realm))
	if err != nil {
		return "", "", err
	}
	n, err := tx.Child(users, name)
	if err != nil {
		return "", "", err
	}
	r := reader{tx: tx}
	hash = r.text(n)
	return n.Name(), hash, r.err
}

// A Person is a user of the realm "default", or has a role.
type Person struct {
	Name        string
	Role        Role
	HasPassword bool
}

// People returns everybody by name.
func People(tx *objectdb.Tx) ([]Person, error) {
	roles, err := readRows(tx, Roles)
	if err != nil {
		return nil, err
	}
	r := reader{tx: tx}
	var list []Person
	have := map[string]int{}
	for _, n := range r.children(Users.Name(), DefaultRealm) {
		have[objectdb.Fold(n.Name())] = len(list)
		list = append(list, Person{Name: n.Name(), HasPassword: r.text(n) != ""})
	}
	for _, n := range roles {
		i, ok := have[objectdb.Fold(n.Name())]
		if !ok {
			i = len(list)
			list = append(list, Person{Name: n.Name()})
		}
		list[i].Role = r.role(n)
	}
	slices.SortFunc(list, func(a, b Person) int {
		return strings.Compare(objectdb.Fold(a.Name), objectdb.Fold(b.Name))
	})
	return list, r.err
}

// FindPerson returns the person with a name. If there is none, the error is
// [objectdb.ErrNotFound].
func FindPerson(tx *objectdb.Tx, name string) (Person, error) {
	r := reader{tx: tx}
	var p Person
	if n := r.named(name, Roles.Name()); n != nil {
		p.Name, p.Role = n.Name(), r.role(n)
	}
	if n := r.named(name, Users.Name(), DefaultRealm); n != nil {
		p.Name, p.HasPassword = n.Name(), r.text(n) != ""
	}
	if r.err == nil && p.Name == "" {
		return p, fmt.Errorf("there is nobody called %.80q: %w", name, objectdb.ErrNotFound)
	}
	return p, r.err
}

// named returns the object with a name in a table below user.webserver, or nil.
func (r *reader) named(name string, table ...string) *objectdb.Node {
	n := r.node(table...)
	if n == nil || n.Kind() != objectdb.KindTable || objectdb.CheckName(name) != nil {
		return nil
	}
	return r.child(n, name)
}

// SetPassword stores the hash of the password of a user of the realm "default", and makes the
// user if there is none.
func SetPassword(tx *objectdb.Tx, name, hash string) error {
	if err := CheckHash(hash); err != nil {
		return err
	}
	return tx.Put(Users.Child(DefaultRealm).Child(name), objectdb.String(hash))
}

// CheckRole returns an error unless a text is a role.
func CheckRole(text string) error {
	_, err := parseRole(text)
	return err
}

// SetRole checks a role and stores it.
func SetRole(tx *objectdb.Tx, name, text string) error {
	r, err := parseRole(text)
	if err != nil {
		return err
	}
	return tx.Put(Roles.Child(name), objectdb.String(r.String()))
}

// RemoveRole removes the row of a role, if there is one.
func RemoveRole(tx *objectdb.Tx, name string) error {
	err := tx.Delete(Roles.Child(name))
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}

// RemoveUser removes a user of the realm "default" and the user's roles, and the realm with the
// last user.
func RemoveUser(tx *objectdb.Tx, name string) error {
	if _, err := FindPerson(tx, name); err != nil {
		return err
	}
	if err := removeFrom(tx, Users.Child(DefaultRealm), name); err != nil && !objectdb.IsMissing(err) {
		return err
	}
	if err := SetSiteRoles(tx, DefaultRealm, name, nil); err != nil {
		return err
	}
	return RemoveRole(tx, name)
}
