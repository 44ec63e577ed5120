package gateway

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"scripter/login"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// userVerbs are for the people who log in on the site: users of the root.
var userVerbs = []script.Verb{
	{
		Name: "users.logIn",
		Doc: "Logs the visitor in. Failed tries make the next ones wait, as on the web page for people. The session gets " +
			"another token; what is stored in it stays, unless somebody else was logged in.",
		Params: []script.Param{
			script.Arg("name", "string", ""), script.Arg("password", "string", ""),
			script.Opt("options", "table", "", `remember = true keeps the log-in for rememberDays when the browser is closed; `+
				`realm = "Members" takes the users of that realm`),
		},
		Results: []script.Param{
			{Name: "name", Type: "string|nil", Doc: "as the root spells it; nil: the log-in was refused"},
			{Name: "why", Type: "string|nil", Doc: "for visitors; it does not tell whether the name or the password is wrong"},
			{Name: "wait", Type: "number|nil", Doc: "seconds, after too many failed tries"},
		},
		Errors: "a page of another site has sent the form; more than two seconds of waiting for other passwords; outside a request",
		Example: `httpd.addUser ("Ada", "open sesame")
local name, why = users.logIn ("Ada", "wrong")
return why`,
		Gives: "the name or the password is wrong",
		Func:  verbLogIn,
	},
	{
		Name:   "users.logOut",
		Doc:    "Logs the visitor out, and ends the session and a remembered log-in.",
		Errors: "outside a request",
		Example: `users.logOut ()
return tostring (users.current ())`,
		Gives: "nil",
		Func: func(v *script.Call) error {
			c, err := hostOf(v)
			if err != nil {
				return err
			}
			return c.logOut()
		},
	},
	{
		Name: "users.current",
		Doc: "Who is logged in: by users.logIn or a remembered log-in, by a name and password that the script requires, or " +
			"by the web server.",
		Results: []script.Param{
			{Name: "name", Type: "string|nil", Doc: "nil: nobody"},
			{Name: "realm", Type: "string|nil", Doc: "nil for a name that the web server has checked"},
		},
		Errors: "outside a request",
		Example: `httpd.addUser ("Grace", "open sesame")
users.logIn ("grace", "open sesame")
return users.current ()`,
		Gives: "Grace",
		Page:  true,
		Func:  verbCurrent,
	},
	{
		Name: "users.hasRole",
		Doc: "Whether somebody has a role: one that the site has given (users.setRoles), or owner, author or reader on the web " +
			"page for people. Case does not matter.",
		Params: []script.Param{
			script.Arg("role", "string", ""),
			script.Opt("name", "string", "who is logged in", "a user of the realm default"),
		},
		Results: script.Returns("boolean", "false if nobody is logged in"),
		Errors:  "without a name: outside a request",
		Example: `users.setRoles ("Ada", {"editor"})
return tostring (users.hasRole ("editor", "Ada")) .. tostring (users.hasRole ("owner", "Ada"))`,
		Gives: "truefalse",
		Page:  true,
		Func:  verbHasRole,
	},
	{
		Name: "users.setRoles",
		Doc: "Gives a user these roles and no others. What a role means is up to the site's scripts and to requirements; roles on the " +
			"web page for people are another matter (scripter users role).",
		Params: []script.Param{
			script.Arg("name", "string", ""), script.Arg("roles", "table", "a list of names"),
			script.Opt("realm", "string", `"default"`, ""),
		},
		Errors: "a name of a role with other characters than letters, digits and . _ -, or one of the web page",
		Example: `users.setRoles ("Ada", {"editor", "treasurer"})
return user.webserver.siteRoles.Ada`,
		Gives: "editor treasurer",
		Func:  verbSetRoles,
	},
	{
		Name: "users.changePassword",
		Doc: "Gives who is logged in another password, if the old one is right. All other sessions and remembered log-ins of " +
			"this user end.",
		Params: []script.Param{script.Arg("old", "string", ""), script.Arg("new", "string", "at least 10 characters")},
		Results: []script.Param{
			{Name: "done", Type: "boolean"}, {Name: "why", Type: "string|nil", Doc: "for visitors"},
		},
		Errors: "nobody is logged in by users.logIn; more than two seconds of waiting for other passwords; outside a request",
		Example: `httpd.addUser ("Mary", "open sesame")
users.logIn ("Mary", "open sesame")
return select (2, users.changePassword ("open sesame", "short"))`,
		Gives: "the password has fewer than 10 characters",
		Func:  verbChangePassword,
	},
	{
		Name:   "users.setPassword",
		Doc:    "Gives any user another password, without asking for the old one. All sessions of that user end.",
		Params: []script.Param{script.Arg("name", "string", ""), script.Arg("password", "string", "at least 10 characters"), script.Opt("realm", "string", `"default"`, "")},
		Errors: "no such user; a shorter password; more than two seconds of waiting for other passwords; outside a request",
		Example: `httpd.addUser ("Alan", "open sesame")
users.setPassword ("Alan", "another sesame")
return tostring (httpd.validateUser ("Alan", "another sesame"))`,
		Gives: "true",
		Func:  verbSetPassword,
	},
	{
		Name: "users.returnURL",
		Doc: `Where a log-in page sends the visitor after the log-in: the field "to", which a redirect to the log-in page has, if it is a ` +
			"path of this site.",
		Params:  []script.Param{script.Opt("default", "string", `"/"`, "")},
		Results: script.Returns("string", ""),
		Errors:  "outside a request",
		Example: `users.returnURL ("/home.fcgi")`,
		Gives:   "/home.fcgi",
		Func:    verbReturnURL,
	},
}

func verbLogIn(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	remember, realm := false, site.DefaultRealm
	if o := v.OptTable(3); o != nil {
		for _, key := range o.Names() {
			switch value := o.Get(key).(type) {
			case bool:
				if key == "remember" {
					remember = value
					continue
				}
			case string:
				if key == "realm" {
					realm = value
					continue
				}
			}
			v.Bad(3, "the options are remember = true or false and realm = the name of one, not %.40q", key)
		}
	}
	if err := objectdb.CheckName(realm); err != nil {
		v.Bad(3, "the realm: %v", err)
	}
	name, why, err := c.logIn(v.String(1), v.String(2), realm, remember)
	var wait *login.WaitError
	switch {
	case err != nil:
		return err
	case errors.As(why, &wait):
		v.Return(nil, why.Error(), math.Ceil(wait.For.Seconds()))
	case why != nil:
		v.Return(nil, why.Error())
	default:
		v.Return(name)
	}
	return nil
}

// loggedIn returns who is logged in, by whatever way; "" is nobody. The realm is "" for a name that the web server has
// checked.
func (c *attempt) loggedIn() (name, realm string, err error) {
	a, err := c.person()
	switch {
	case err != nil:
		return "", "", err
	case a != nil:
		return a.Name, a.Realm, nil
	case c.admitted.Name != "":
		return c.admitted.Name, c.admitted.Realm, nil
	}
	return c.request.checkedUser(), "", nil
}

func verbCurrent(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	name, realm, err := c.loggedIn()
	switch {
	case err != nil:
		return err
	case name == "":
		v.Return(nil)
	case realm == "":
		v.Return(name)
	default:
		v.Return(name, realm)
	}
	return nil
}

func verbHasRole(v *script.Call) error {
	role, name, realm := v.String(1), v.OptString(2, ""), site.DefaultRealm
	s, err := siteOf(v.Thread())
	if err != nil {
		return err
	}
	if name == "" {
		c, err := hostOf(v)
		if err != nil {
			return err
		}
		by := ""
		if name, by, err = c.loggedIn(); err != nil {
			return err
		}
		if by != "" {
			realm = by
		}
	}
	v.Return(name != "" && s.HasRole(realm, name, role))
	return nil
}

func verbSetRoles(v *script.Call) error {
	name, list, realm := v.String(1), v.Table(2), v.OptString(3, site.DefaultRealm)
	var roles []string
	for i := 1; i <= list.Len(); i++ {
		role, ok := list.Index(i).(string)
		if !ok {
			v.Bad(2, "item %d is no text", i)
		}
		roles = append(roles, role)
	}
	if len(roles) == 0 && len(list.Names()) > 0 {
		v.Bad(2, "a list of names, such as {\"editor\"}")
	}
	if err := objectdb.CheckName(name); err != nil {
		v.Bad(1, "%v", err)
	}
	return site.SetSiteRoles(v.Thread().Tx(), realm, name, roles)
}

func verbChangePassword(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	before, password := v.String(1), v.String(2)
	a, err := c.person()
	if err != nil {
		return err
	}
	if a == nil {
		return errors.New("nobody is logged in by users.logIn")
	}
	why, err := c.checkPassword(*a, before)
	if why == nil && err == nil {
		why, err = c.setPassword(a.Realm, a.Name, password)
	}
	if err != nil {
		return err
	}
	if why != nil {
		v.Return(false, why.Error())
	} else {
		v.Return(true)
	}
	return nil
}

func verbSetPassword(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	name, realm := v.String(1), v.OptString(3, site.DefaultRealm)
	why, err := c.setPassword(realm, name, v.String(2))
	if objectdb.IsMissing(err) {
		return fmt.Errorf("there is no user %.80q in the realm %.80q: httpd.addUser adds one", name, realm)
	}
	if why != nil {
		v.Bad(2, "%s", strings.TrimPrefix(why.Error(), "the password "))
	}
	return err
}

func verbReturnURL(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	home := v.OptString(1, "/")
	if !site.IsLocalPath(home) {
		v.Bad(1, "no path of this site")
	}
	to := ""
	if form := c.cells.form.args; form != nil {
		to = tableText(form, returnField)
	}
	if to == "" {
		if query, ok := c.cells.searchTable(c.request.Params).(*script.Table); ok {
			to = tableText(query, returnField)
		}
	}
	if !site.IsLocalPath(to) {
		to = home
	}
	v.Return(to)
	return nil
}
