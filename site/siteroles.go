package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
)

// SiteRoles is the table of the roles that a site has made up for its users: what they mean is up to its
// scripts. The name of a row is that of a user of the realm "default", or "REALM:NAME", and its text is the
// roles, with blanks between them.
var SiteRoles = home.Child("siteRoles")

// siteRolesRow returns the name of the row of a user.
func siteRolesRow(realm, name string) string {
	if realm == DefaultRealm {
		return name
	}
	return realm + ":" + name
}

// siteRoles reads a row. One that is no text has no roles.
func (r *reader) siteRoles(n *objectdb.Node) []string {
	if k := n.Kind(); k != objectdb.KindString && k != objectdb.KindText {
		return nil
	}
	return strings.Fields(r.text(n))
}

// SiteRoles returns the roles that the site has given a user.
func (s *Snapshot) SiteRoles(realm, name string) []string {
	return s.siteRoles.rows[objectdb.Fold(siteRolesRow(realm, name))]
}

// HasRole reports whether a user has a role: one that the site has given, or, in the realm "default", the role on
// the web page.
func (s *Snapshot) HasRole(realm, name, role string) bool {
	if realm == DefaultRealm {
		if r := s.Role(name); r.Err == nil && r.Kind != RoleNone && strings.EqualFold(string(r.Kind), role) {
			return true
		}
	}
	return slices.ContainsFunc(s.SiteRoles(realm, name), func(has string) bool { return strings.EqualFold(has, role) })
}

// CheckSiteRole returns an error unless a site can give a role of this name.
func CheckSiteRole(role string) error {
	switch {
	case role == "" || len(role) > 64:
		return errors.New("a role has 1 to 64 characters")
	case slices.Contains(RoleKinds, RoleKind(strings.ToLower(role))):
		return fmt.Errorf("%q is a role on the web page: \"scripter users role\" gives it", role)
	case strings.ContainsFunc(role, func(c rune) bool {
		return c >= 0x80 || !isAlphanumeric(byte(c)) && !strings.ContainsRune("._-", c)
	}):
		return fmt.Errorf("the role %.80q has characters other than letters, digits and . _ -", role)
	}
	return nil
}

// SetSiteRoles gives a user these roles and no others.
func SetSiteRoles(tx *objectdb.Tx, realm, name string, roles []string) error {
	for _, role := range roles {
		if err := CheckSiteRole(role); err != nil {
			return err
		}
	}
	row := SiteRoles.Child(siteRolesRow(realm, name))
	if len(roles) > 0 {
		return tx.Put(row, objectdb.String(strings.Join(roles, " ")))
	}
	err := tx.Delete(row)
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}
