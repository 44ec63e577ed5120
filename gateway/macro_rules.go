package gateway

import (
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/probe"
	"scripter/requestlog"
	"scripter/script"
	"scripter/site"
)

// This file says what markers may call and see. The authors of pages are often not the
// authors of scripts. So markers can call only scripts of the root and the verbs that are
// marked for pages, and they see no secrets.

// addresses is a set of addresses, each stored as its folded names with a dot after
// each name.
type addresses map[string]bool

func newAddresses(list ...objectdb.Address) addresses {
	s := make(addresses, len(list))
	for _, a := range list {
		s[foldedKey(a)] = true
	}
	return s
}

// foldedKey returns the folded names of an address, with a dot after each of them.
func foldedKey(a objectdb.Address) string {
	var b strings.Builder
	for _, name := range a {
		b.WriteString(objectdb.Fold(name))
		b.WriteByte('.')
	}
	return b.String()
}

// covers reports whether the set has a or a table that contains a.
func (s addresses) covers(a objectdb.Address) bool {
	key := make([]byte, 0, 64)
	for _, name := range a {
		key = append(append(key, objectdb.Fold(name)...), '.')
		if s[string(key)] {
			return true
		}
	}
	return false
}

// under reports whether the set has a or an address in the table a.
func (s addresses) under(a objectdb.Address) bool {
	key := foldedKey(a)
	for address := range s {
		if strings.HasPrefix(address, key) {
			return true
		}
	}
	return false
}

// pageSecrets are the objects that markers cannot see.
var pageSecrets = newAddresses(append(site.Secrets(), probe.Tokens)...)

// notForPages are the objects whose scripts markers cannot call, because they run the
// site: those listed here, and the scripts in suites that have the name of a verb
// which is not for pages.
var notForPages = func() addresses {
	s := newAddresses(
		objectdb.Address{"system"}, objectdb.Address{"apps"}, script.Rocks,
		objectdb.Address{"user", "webserver", "actions"}, objectdb.Address{"user", "webserver", "callbacks"},
		suppliedData, objectdb.Address{"suites", "webserver", "dispatch"},
	)
	for _, v := range Verbs() {
		if !v.Page {
			s[foldedKey(append(objectdb.Address{"suites"}, strings.Split(v.Name, ".")...))] = true
		}
	}
	return s
}()

// mayCall ends the error for a call that is not allowed.
const mayCall = "markers call the standard macros, scripts of the root that do not run the site, " +
	"and verbs that are marked for pages (docs/macros.md); write a script that does it, and call that"

// checkCall returns an error for a script or function that markers cannot call.
func (e *evaluator) checkCall(m meaning, path []string) error {
	if m.item {
		return fmt.Errorf("%s is a script, and the items of a loop are data: call it by its own name", objectdb.Address(path))
	}
	allowed := false
	switch v := m.Value.(type) {
	case *script.Object:
		if err := e.checkRead(m, path); err != nil {
			return err
		}
		allowed = m.Origin != script.FromRoot || !notForPages.covers(m.Address)
	case *script.Function:
		// The script that expands the page has passed this function.
		allowed = e.c.Thread.IsForPages(v) || m.Origin == script.FromRequest && v.IsLua()
	}
	if !allowed {
		return fmt.Errorf("%s is not for pages: %s", objectdb.Address(path), mayCall)
	}
	return nil
}

// withURL are the objects that have URLs. They may require a user.
var withURL = newAddresses(site.Scripts, site.ActionObjects)

// checkRead returns an error for a secret, and for an object whose requirement the
// visitor does not meet: a marker does not bypass the requirement.
func (e *evaluator) checkRead(m meaning, path []string) error {
	switch {
	case m.given, m.item: // the loop has checked the table
		return nil
	case m.Origin == script.FromRequest && isSecretParameter(path),
		m.Origin == script.FromRoot && m.Address != nil && pageSecrets.covers(m.Address):
		return fmt.Errorf("%s is a secret: markers cannot see it, but scripts can", objectdb.Address(path))
	case m.Origin == script.FromRoot && withURL.covers(m.Address):
		return e.c.require(m.Address)
	}
	return nil
}

// checkArgument returns an error for a secret, and for a table that contains one, or
// an object whose requirement the visitor does not meet.
func (e *evaluator) checkArgument(m meaning, path []string) error {
	if err := e.checkRead(m, path); err != nil {
		return err
	}
	o, ok := m.Value.(*script.Object)
	if !ok {
		return nil
	}
	if pageSecrets.under(o.Address()) {
		return fmt.Errorf("%s contains secrets, which markers cannot see; name only the part that you need",
			objectdb.Address(path))
	}
	if m.Origin != script.FromRoot || o.Kind() != objectdb.KindTable || o.Node() == nil || !site.HasURLs(o.Address()) {
		return nil
	}
	return e.c.requireBelow(o.Address())
}

// isSecretParameter reports whether a path names a parameter of the request that
// authenticates the visitor, or a table that contains one.
func isSecretParameter(path []string) bool {
	inside := "" // folded as the lookup folds it: the Kelvin sign is a k there
	if len(path) > 1 {
		inside = strings.ToUpper(objectdb.Fold(path[1]))
	}
	switch objectdb.Fold(path[0]) {
	case "password", "fullrequest", "cookies":
		return true
	case "headers":
		return inside == "" || requestlog.IsSecretVariable("HTTP_"+strings.ReplaceAll(inside, "-", "_"))
	case "cgi":
		return inside == "" || requestlog.IsSecretVariable(inside)
	}
	return false
}

// errHasScripts ends the search for scripts in a table.
var errHasScripts = errors.New("scripts")

// checkNoScripts returns an error if the argument of a supplied verb or script is a
// table of the root that contains scripts: its text would show their source.
func (e *evaluator) checkNoScripts(v script.Value) error {
	o, ok := v.(*script.Object)
	if !ok || o.Kind() != objectdb.KindTable {
		return nil
	}
	a := o.Address()
	err := errHasScripts // a table of verbs
	if o.Node() != nil {
		err = e.c.Tx.Walk(a, func(_ objectdb.Address, n *objectdb.Node) error {
			if n.Kind() == objectdb.KindScript {
				return errHasScripts
			}
			return nil
		})
	}
	if errors.Is(err, errHasScripts) {
		return fmt.Errorf("%s contains scripts, and markers cannot show their source", a)
	}
	return err
}
