package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"scripter/httpheader"
	"scripter/objectdb"
)

// RequireRows is the table that says who may call an object by its URL. The name of
// a row is the address of a script, text, binary or action's script, or of a table:
// then the row applies to everything in the table. The row with the nearest address
// counts. See [parseRequirement] for the texts.
//
// The rules of a web server apply to URLs, and a script has many: with other case,
// with other folders before its name, with an extra path after it. A row applies to
// the object, whatever URL leads to it.
var RequireRows = objectdb.Address{"user", "webserver", "requires"}

// requirement says who may call an object.
type requirement struct {
	kind  string   // "anyone", "user", "realm"
	names []string // of "user": the admitted names, none = all; of "realm": the realm
}

const (
	requireAnyone = "anyone"
	requireUser   = "user"
	requireRealm  = "realm"
)

// defaultRealm is the realm of the root's users that "user" means.
const defaultRealm = "default"

// parseRequirement reads the text of a row, words separated by blanks:
//
//	anyone              everybody, as if there were no row
//	user                REMOTE_USER, whom the web server has checked, or a user of
//	                    the root, of the realm "default", who logs in
//	user ada grace      the same, with one of these names
//	realm Members       a user of the root, of this realm, who logs in
func parseRequirement(text string) (requirement, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return requirement{}, errors.New(`it is empty: say "user", "user NAME ...", "realm NAME" or "anyone"`)
	}
	r := requirement{kind: strings.ToLower(words[0]), names: words[1:]}
	switch {
	case r.kind == requireUser, r.kind == requireAnyone && len(r.names) == 0:
		return r, nil
	case r.kind == requireAnyone:
		return r, fmt.Errorf(`"anyone" takes no names, but %q follows it`, r.names[0])
	case r.kind == requireRealm:
		r.names = []string{strings.TrimSpace(strings.TrimSpace(text)[len(requireRealm):])}
		return r, objectdb.CheckName(r.names[0])
	}
	return r, fmt.Errorf(`it begins with %.40q: say "user", "user NAME ...", "realm NAME" or "anyone"`, words[0])
}

// realm returns the realm whose users are admitted.
func (r requirement) realm() string {
	if r.kind == requireRealm {
		return r.names[0]
	}
	return defaultRealm
}

// admits reports whether the user with this checked name is admitted.
func (r requirement) admits(name string) bool {
	return r.kind == requireRealm || len(r.names) == 0 || slices.Contains(r.names, name)
}

// requireRow returns the nearest row for the object at a, or nil.
func (s settings) requireRow(a objectdb.Address) (*objectdb.Node, error) {
	if r := s.known(); r != nil && !r.required {
		return nil, nil
	}
	home, err := s.tx.Find(RequireRows)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	if err == nil && home.Kind() != objectdb.KindTable {
		return nil, &Error{Status: 403, warns: true, Message: fmt.Sprintf("%s is a %s, not a table: nobody is admitted", RequireRows, home.Kind())}
	}
	for ; err == nil && len(a) > 0; a = a[:len(a)-1] {
		var n *objectdb.Node
		if n, err = s.tx.Child(home, a.String()); err == nil {
			return n, nil
		}
		if errors.Is(err, objectdb.ErrNotFound) {
			err = nil
		}
	}
	return nil, err
}

// require returns an error unless the request may reach the object at a by its URL. An
// invalid row admits nobody.
func (c *attempt) require(a objectdb.Address) error {
	row, err := c.settings.requireRow(a)
	if row == nil {
		return err
	}
	at := RequireRows.Child(row.Name())
	text, err := c.settings.requireText(row)
	var want requirement
	if err == nil {
		want, err = parseRequirement(text)
	}
	if err != nil {
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf("%s admits nobody: %v", at, err)}
	}
	c.request.trace("%s requires %q (%s)", a, text, at)
	if want.kind == requireAnyone {
		return nil
	}
	c.private = true
	if user := c.request.checkedUser(); user != "" && want.kind == requireUser {
		if !want.admits(user) {
			return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
				"%s requires %q (%s), but the web server has checked %.80q", a, text, at, user)}
		}
		return nil
	}
	return c.requireLogin(a, at, text, want)
}

// requireBelow returns an error unless the request may also reach all objects below a
// by their URLs.
func (c *attempt) requireBelow(a objectdb.Address) error {
	if r := c.settings.known(); r != nil && !r.required {
		return nil
	}
	rows, err := ReadRequireRows(c.Tx)
	if err != nil {
		return &Error{Status: 403, warns: true, Message: err.Error()}
	}
	above := foldedKey(a)
	for _, row := range rows {
		of, err := objectdb.ParseAddress(row.Address)
		if row.Idle != nil || err != nil || len(of) <= len(a) || !strings.HasPrefix(foldedKey(of), above) {
			continue
		}
		if err := c.require(of); err != nil {
			return err
		}
	}
	return nil
}

// requireLogin checks the visitor's name and password against the root's users.
func (c *attempt) requireLogin(a, at objectdb.Address, text string, want requirement) error {
	users := c.settings.table("users", want.realm())
	if users == nil {
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s): the web server has checked nobody, and user.webserver.users has no realm %s: "+
				"httpd.addUser adds the first user", a, text, at, want.realm())}
	}
	name, password := basicAuth(c.request.Params["HTTP_AUTHORIZATION"])
	if name == "" {
		return &Error{Status: 401, realm: want.realm(), Message: fmt.Sprintf(
			"%s requires %q (%s), but nobody has logged in", a, text, at)}
	}
	hash := ""
	if n, err := c.Tx.Child(users, name); err == nil {
		name, hash = n.Name(), c.settings.text(n)
	} else if !errors.Is(err, objectdb.ErrNotFound) && objectdb.CheckName(name) == nil {
		return err
	}
	ok, err := c.knows(c.Context(), hash, password)
	switch {
	case err != nil:
		return fmt.Errorf("check the password of user.webserver.users.%s: %w", objectdb.Address{want.realm(), name}, err)
	case !ok:
		return &Error{Status: 401, realm: want.realm(), warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s): the name %.80q or its password is wrong", a, text, at, name)}
	case !want.admits(name):
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s), but %.80q has logged in", a, text, at, name)}
	}
	return nil
}

// requireText returns the text of a row.
func (s settings) requireText(row *objectdb.Node) (string, error) {
	switch row.Kind() {
	case objectdb.KindString, objectdb.KindText:
		return s.text(row), nil
	}
	return "", fmt.Errorf("it is a %s, not a text", row.Kind())
}

// redirectUser is the name that Apache gives REMOTE_USER after an internal redirect.
const redirectUser = "REDIRECT_REMOTE_USER"

// checkedUser returns the name that the web server has checked, or "".
func (r *Request) checkedUser() string {
	return firstOf(r.Params, []string{"REMOTE_USER", redirectUser})
}

// withoutUncheckedUser returns the request without the name of a visitor whose login has
// failed. Apache passes it to an ErrorDocument in the same variable as a name that it has
// checked. The statuses of its redirects tell them apart: after 401 the login has failed;
// after 400 and 500 Apache may not have checked it.
func (r *Request) withoutUncheckedUser() *Request {
	if r.Params[redirectUser] == "" {
		return r
	}
	for name, status := range r.Params {
		if !strings.HasPrefix(name, "REDIRECT_") || !strings.HasSuffix(name, "REDIRECT_STATUS") {
			continue
		}
		switch status {
		case "", "200", "403", "404":
		default:
			without := *r
			without.Params = maps.Clone(r.Params)
			delete(without.Params, redirectUser)
			return &without
		}
	}
	return r
}

// knows reports whether the password has this hash. It remembers a right password, so
// that a request that runs again does not hash twice.
func (x *exchange) knows(ctx context.Context, hash, password string) (bool, error) {
	if hash != "" && hash == x.verified {
		return true, nil
	}
	if len(password) > maxPassword {
		password, hash = "", "" // nobody has such a password
	}
	ok, err := checkPassword(ctx, hash, password)
	if ok {
		x.verified = hash
	}
	return ok, err
}

// challenge returns the WWW-Authenticate field of a 401, which makes a browser ask for
// name and password (RFC 7617, 2).
func challenge(realm string) string {
	var b strings.Builder
	b.WriteString(`Basic realm="`)
	for _, c := range []byte(realm) {
		switch {
		case c == '"', c == '\\':
			b.WriteByte('\\')
		case c < ' ' || c >= 0x7f:
			c = '?'
		}
		b.WriteByte(c)
	}
	b.WriteString(`", charset="UTF-8"`)
	return b.String()
}

// keepPrivate keeps a response that only some visitors may see out of shared caches: a
// cache does not check who asks.
func keepPrivate(resp *httpheader.Response) {
	for _, name := range sharedFields {
		resp.Del(name)
	}
	for _, f := range resp.Fields {
		if strings.EqualFold(f.Name, "Cache-Control") && forbidsSharing(f.Value) {
			return
		}
	}
	resp.Set("Cache-Control", "private, no-cache")
}

// forbidsSharing reports whether a Cache-Control field keeps a whole response out of
// shared caches. private="Set-Cookie" does so for one field of it only, and within
// quotes the words are nothing.
func forbidsSharing(control string) bool {
	return !strings.Contains(control, `"`) && slices.ContainsFunc(strings.Split(control, ","), func(word string) bool {
		word = strings.TrimSpace(word)
		return strings.EqualFold(word, "private") || strings.EqualFold(word, "no-store")
	})
}

// bindsScripts reports whether scripts have URLs in the folder of a path.
func (s settings) bindsScripts(p string) bool {
	folder := path.Dir(cleanPath(p))
	for _, f := range strings.Fields(s.string(scriptFolders)) {
		if f == allFolders || f == folder {
			return true
		}
	}
	return false
}

// allFolders means all folders in the setting scriptFolders.
const allFolders = "*"

func checkScriptFolders(v objectdb.Value) error {
	folders := strings.Fields(string(v.(objectdb.String)))
	if len(folders) == 0 {
		return errors.New(`it names no folder: write "/" for the top folder alone or "*" for all`)
	}
	for _, f := range folders {
		if f != allFolders && (f[0] != '/' || cleanPath(f) != f) {
			return fmt.Errorf(`%.80q is no folder of URLs: "/", "/members", or "*" for all`, f)
		}
	}
	return nil
}
