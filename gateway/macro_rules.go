package gateway

import (
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/script"
)

// What markers may call and see. Who writes a page is often somebody else than
// who writes scripts, so a marker reaches no code but the scripts of the root,
// and no secrets.

// addresses is a set of addresses, each as its folded names with a dot behind
// each of them.
type addresses map[string]bool

func newAddresses(list ...objectdb.Address) addresses {
	s := make(addresses, len(list))
	for _, a := range list {
		s[foldedKey(a)] = true
	}
	return s
}

func foldedKey(a objectdb.Address) string {
	var b strings.Builder
	for _, name := range a {
		b.WriteString(objectdb.Fold(name))
		b.WriteByte('.')
	}
	return b.String()
}

// covers reports whether a, or a table that a lies in, is in the set.
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

// under reports whether something of the set is a, or lies in the table a.
func (s addresses) under(a objectdb.Address) bool {
	key := foldedKey(a)
	for address := range s {
		if strings.HasPrefix(address, key) {
			return true
		}
	}
	return false
}

// pageSecrets are the objects that markers do not see.
var pageSecrets = newAddresses(
	debugToken.Address(),
	objectdb.Address{"user", "webserver", "users"},
	cgiparams, cgiparamsLog, probes,
)

// notForPages are the scripts that markers do not call, beside those whose name
// in suites is that of a verb which is not for pages: they run the site.
var notForPages = func() addresses {
	s := newAddresses(
		objectdb.Address{"system"}, objectdb.Address{"apps"},
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

const mayCall = "markers call the standard macros, scripts of the root that do not run the site, " +
	"and verbs that are marked for pages (docs/macros.md); write a script that does it, and call that"

// checkCall refuses a script or function that markers do not call.
func (e *evaluator) checkCall(m meaning, path []string) error {
	allowed := false
	switch v := m.Value.(type) {
	case *script.Object:
		if err := e.checkRead(m, path); err != nil {
			return err
		}
		allowed = m.Origin != script.FromRoot || !notForPages.covers(m.Address)
	case *script.Function:
		// A function in Lua is one that a script has put among the names.
		allowed = e.c.thread.IsForPages(v) || m.Origin == script.FromRequest && v.IsLua()
	}
	if !allowed {
		return fmt.Errorf("%s is not for pages: %s", objectdb.Address(path), mayCall)
	}
	return nil
}

// withURL are the objects that can be called by a URL, and may require a user.
var withURL = newAddresses(webserverScripts)

// checkRead refuses a secret, and what requires a user when nobody has logged
// in: a page does not open what is closed by its URL.
func (e *evaluator) checkRead(m meaning, path []string) error {
	switch {
	case m.given:
		return nil
	case m.Origin == script.FromRequest && isSecretParameter(path),
		m.Origin == script.FromRoot && m.Address != nil && pageSecrets.covers(m.Address):
		return fmt.Errorf("%s is a secret, which markers do not see; a script can read it", objectdb.Address(path))
	case m.Origin == script.FromRoot && withURL.covers(m.Address):
		return e.c.require(m.Address)
	}
	return nil
}

// checkArgument refuses a secret, and a table with one in it.
func (e *evaluator) checkArgument(m meaning, path []string) error {
	if err := e.checkRead(m, path); err != nil {
		return err
	}
	if o, ok := m.Value.(*script.Object); ok && pageSecrets.under(o.Address()) {
		return fmt.Errorf("%s has secrets in it, which markers do not see; name the part that is wanted", objectdb.Address(path))
	}
	return nil
}

// isSecretParameter reports whether a path leads to a parameter of the request
// that proves who the visitor is, or to a table with one in it.
func isSecretParameter(path []string) bool {
	switch objectdb.Fold(path[0]) {
	case "password", "fullrequest", "cookies":
		return true
	case "headers":
		return len(path) == 1 || isSecretVariable("HTTP_"+strings.ReplaceAll(strings.ToUpper(path[1]), "-", "_"))
	case "cgi":
		return len(path) == 1 || isSecretVariable(strings.ToUpper(path[1]))
	}
	return false
}

// errHasScripts ends the search for scripts in a table.
var errHasScripts = errors.New("scripts")

// checkNoScripts refuses a table of the root with scripts in it as an argument
// of our own verbs and scripts: as text, such a table has their source in it.
func (e *evaluator) checkNoScripts(v script.Value) error {
	o, ok := v.(*script.Object)
	if !ok || o.Kind() != objectdb.KindTable {
		return nil
	}
	a := o.Address()
	err := errHasScripts // a table of verbs
	if o.Node() != nil {
		err = e.c.tx.Walk(a, func(_ objectdb.Address, n *objectdb.Node) error {
			if n.Kind() == objectdb.KindScript {
				return errHasScripts
			}
			return nil
		})
	}
	if errors.Is(err, errHasScripts) {
		return fmt.Errorf("%s has scripts in it, whose source markers do not show", a)
	}
	return err
}
