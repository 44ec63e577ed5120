package site

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Roles is the table that says what people may do on the web page. The name of a row is that
// of a user of the realm "default", and its text is a role: see parseRole. A user without a
// row, or with an invalid one, has no rights there.
var Roles = home.Child("roles")

// A RoleKind is the first word of a role.
type RoleKind string

const (
	RoleNone   RoleKind = "" // no rights
	RoleOwner  RoleKind = "owner"
	RoleAuthor RoleKind = "author"
	RoleReader RoleKind = "reader"
)

// RoleKinds lists all kinds but RoleNone. Treat it as a constant.
var RoleKinds = []RoleKind{RoleOwner, RoleAuthor, RoleReader}

// A Role is what somebody may do on the web page. The zero value has no rights. A script has no
// role: it sees and changes the whole root, so an author of scripts can do as much as an owner.
type Role struct {
	Kind RoleKind
	At   []objectdb.Address // of an author: what may be changed lies at or below one of these
	Text string             // the text of the row
	Err  error              // why an invalid row gives no rights
}

// LocalOwner is the role of whoever runs a program that may write the root's file.
var LocalOwner = Role{Kind: RoleOwner, Text: string(RoleOwner)}

var errRole = errors.New(`say "owner", "author ADDRESS ..." or "reader"`)

// parseRole reads the text of a row, words separated by blanks:
//
//	owner               sees and changes everything
//	author ADDRESS ...  sees everything that is no secret, and changes what lies at or below these
//	                    addresses
//	reader              sees everything that is no secret, and changes nothing
//
// A name of an address may have blanks within its quotes: author pages.["about us"].
func parseRole(text string) (Role, error) {
	none, r := Role{Text: text}, Role{Text: text}
	words := splitAddresses(text)
	if len(words) == 0 {
		return none, fmt.Errorf("it is empty: %w", errRole)
	}
	kind, rest := RoleKind(strings.ToLower(words[0])), words[1:]
	switch {
	case !slices.Contains(RoleKinds, kind):
		return none, fmt.Errorf("it begins with %.40q: %w", words[0], errRole)
	case kind != RoleAuthor && len(rest) > 0:
		return none, fmt.Errorf("%.40q follows %q, which takes no addresses", rest[0], kind)
	case kind == RoleAuthor && len(rest) == 0:
		return none, errors.New("an author needs the address of what may be changed, such as suites.webserverScripts")
	}
	for _, w := range rest {
		a, err := objectdb.ParseAddress(w)
		if err != nil {
			return none, err
		}
		r.At = append(r.At, a)
	}
	r.Kind = kind
	return r, nil
}

// splitAddresses splits a text at blanks that are not within the quotes of an address.
func splitAddresses(text string) []string {
	var words []string
	start, quoted := -1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // what follows does not end the quotes
		case c == '"' && start >= 0:
			quoted = !quoted
		case !quoted && strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			if start >= 0 {
				words, start = append(words, text[start:i]), -1
			}
		case start < 0:
			start = i
		}
	}
	if start >= 0 {
		words = append(words, text[start:])
	}
	return words
}

// String returns the role as the text of a row.
func (r Role) String() string {
	words := []string{string(r.Kind)}
	for _, a := range r.At {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// MayChange reports whether somebody with this role may change, move or delete the object at a, or make one there.
// An author may not change what everybody's rights depend on, nor what Debugging has recorded, even in a table of
// their own.
func (r Role) MayChange(a objectdb.Address) bool {
	switch r.Kind {
	case RoleOwner:
		return true
	case RoleAuthor:
		return !IsSecret(a) && !HasSecrets(a) &&
			slices.ContainsFunc(r.At, func(at objectdb.Address) bool { return isIn(a, at) })
	}
	return false
}

// MaySee reports whether somebody with this role may see the object at a. Of a table that
// holds secrets this is the list of its objects, but not each of them: see [Role.MaySeeAll].
// Values whose names say that they are secret are another matter: see requestlog.IsSecret.
func (r Role) MaySee(a objectdb.Address) bool {
	switch r.Kind {
	case RoleOwner:
		return true
	case RoleAuthor, RoleReader:
		return !IsSecret(a)
	}
	return false
}

// MaySeeAll reports whether somebody with this role may see the object at a and everything in
// it: to copy or to export it.
func (r Role) MaySeeAll(a objectdb.Address) bool {
	return r.MaySee(a) && (r.Kind == RoleOwner || !HasSecrets(a))
}

// Where Debugging records requests: the parameters of the last one (specification, 2.2 and 2.3), and a
// table for each of the last ones. With FlDebugSecrets they have the passwords and cookies of visitors.
var (
	LastParams = objectdb.Address{"scratchpad", "cgiparams"}
	RequestLog = objectdb.Address{"scratchpad", "cgiparamsLog"}
)

// secrets are the objects below user.webserver that say who may log in and with which role, and the recorded
// requests.
var secrets = []objectdb.Address{
	DebugToken.Address(), Users, Roles, SiteRoles, Sessions, FailedLogins, LastLogins, Visitors, Remembered, Outbox,
	LastParams, RequestLog,
}

// Secrets lists the objects that neither pages nor people other than an owner may see, because they say who may log
// in, and with which role, or have what visitors sent. Values elsewhere may be secret too.
func Secrets() []objectdb.Address { return slices.Clone(secrets) }

// IsSecret reports whether the object at a is one of Secrets or lies in one.
func IsSecret(a objectdb.Address) bool {
	return slices.ContainsFunc(secrets, func(s objectdb.Address) bool { return isIn(a, s) })
}

// HasSecrets reports whether one of Secrets lies below a.
func HasSecrets(a objectdb.Address) bool {
	return slices.ContainsFunc(secrets, func(s objectdb.Address) bool { return len(a) < len(s) && isIn(s, a) })
}

func (r *reader) role(n *objectdb.Node) Role {
	if k := n.Kind(); k != objectdb.KindString && k != objectdb.KindText {
		return Role{Err: fmt.Errorf("it is a %s, not a text", k)}
	}
	role, err := parseRole(r.text(n))
	role.Err = err
	return role
}

// Role returns the role of the user of the realm "default" with a name.
func (s *Snapshot) Role(name string) Role {
	if s.roles.err != nil {
		return Role{Err: s.roles.err}
	}
	return s.roles.rows[objectdb.Fold(name)]
}

// HasOwner reports whether somebody has the role owner.
func (s *Snapshot) HasOwner() bool {
	for role := range maps.Values(s.roles.rows) {
		if role.Kind == RoleOwner {
			return true
		}
	}
	return false
}
