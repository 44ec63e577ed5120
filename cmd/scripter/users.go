package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// rolesHelp explains in the help of commands what a role is.
const rolesHelp = `  owner                sees and changes everything
  author ADDRESS...    sees everything that is no secret, and changes what lies at
                       or below the addresses; who may write scripts can do all
  reader               sees everything that is no secret, and changes nothing`

func (t *tool) usersCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "users",
		Short: "list, add and remove the people who may use the web page, and set their roles",
		Long: `Users lists the users of the realm "default": name, role on the web page, whether
there is a password, sessions, and the last log-in (UTC). The web page is not answered
until somebody is an owner. A role is one of

` + rolesHelp + `

A user without a role may only call scripts that require a user (scripter requires).
The roles that the site has given for itself (users roles) stand at the end.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError{hintError{fmt.Errorf("there is no command %q", "users "+args[0]),
				"the commands are users add, users role, users roles, users password and users remove"}}
		},
		RunE: func(c *cobra.Command, _ []string) error { return t.view(c.Context(), t.listUsers) },
	}
	c.AddCommand(t.usersAddCommand(), t.usersRoleCommand(), t.usersRolesCommand(), t.usersPasswordCommand(), t.usersRemoveCommand())
	return c
}

func (t *tool) listUsers(tx *objectdb.Tx) error {
	people, err := site.People(tx)
	if err != nil {
		return err
	}
	all, err := login.New(login.Config{Site: site.NewCache()}).Sessions(tx, "")
	if err != nil {
		return err
	}
	sessions := map[string]int{}
	for _, s := range all {
		sessions[objectdb.Fold(s.Name)]++
	}
	snapshot, err := site.Read(tx)
	if err != nil {
		return err
	}
	list, lines := []any{}, [][]string{}
	for _, p := range people {
		last, err := login.LastLogin(tx, p.Name)
		if err != nil {
			return err
		}
		n := sessions[objectdb.Fold(p.Name)]
		m, line := jsonUser(p, n, last), userLine(p, n, last)
		if roles := snapshot.SiteRoles(site.DefaultRealm, p.Name); len(roles) > 0 {
			m["siteRoles"], line = roles, append(line, "roles of the site: "+strings.Join(roles, " "))
		}
		list, lines = append(list, m), append(lines, line)
	}
	switch {
	case t.json:
		return t.printJSON(list)
	case len(people) == 0:
		fmt.Fprintf(t.out, "there are no users, and the web page is not answered: %s\n",
			t.self("users add NAME --role owner"))
		return nil
	}
	if err := t.columns(lines); err != nil {
		return err
	}
	for _, p := range people {
		if p.Role.Err != nil {
			t.warn("%s gives no rights: %v", site.Roles.Child(p.Name), p.Role.Err)
		}
	}
	return nil
}

func userLine(p site.Person, sessions int, last time.Time) []string {
	line := []string{p.Name, p.Role.String(), "no password", counted(sessions, "session"), "never logged in"}
	if p.Role.Err != nil {
		line[1] = p.Role.Text
	}
	if p.HasPassword {
		line[2] = "password"
	}
	if !last.IsZero() {
		line[4] = last.UTC().Format("2006-01-02 15:04:05")
	}
	return line
}

func jsonUser(p site.Person, sessions int, last time.Time) map[string]any {
	m := map[string]any{"name": p.Name, "role": string(p.Role.Kind), "password": p.HasPassword, "sessions": sessions}
	if p.Role.Kind == site.RoleAuthor {
		var at []string
		for _, a := range p.Role.At {
			at = append(at, a.String())
		}
		m["at"] = at
	}
	if p.Role.Err != nil {
		m["why"] = p.Role.Err.Error()
	}
	if !last.IsZero() {
		m["lastLogin"] = last.UTC().Format(time.RFC3339)
	}
	return m
}

func (t *tool) usersAddCommand() *cobra.Command {
	var kind string
	var at []string
	var input passwordInput
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "add a user, with a password",
		Long: `Add adds a user. It asks for the password twice, without showing it; if stdin is no
terminal, or with --password-stdin, the password is the first line of stdin. With
--role the user may use the web page. A role is one of

` + rolesHelp,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(nothing),
		RunE: func(c *cobra.Command, args []string) error {
			role, err := roleText(kind, at)
			if err != nil {
				return err
			}
			return t.addUser(c.Context(), args[0], role, input)
		},
	}
	c.Flags().StringVar(&kind, "role", "", "the `ROLE` on the web page: owner, author or reader")
	c.Flags().StringArrayVar(&at, "at", nil, "`ADDRESS` that an author may change; may be repeated")
	t.flag(c, "role", words(roleNames()...))
	t.flag(c, "at", addressOf())
	input.add(c)
	return c
}

func roleNames() (names []string) {
	for _, k := range site.RoleKinds {
		names = append(names, string(k))
	}
	return names
}

// noRole is the word for the absence of a role.
const noRole = "none"

// roleText returns the text of a row of site.Roles, or "" for the kind "".
func roleText(kind string, at []string) (string, error) {
	list, err := addresses(at)
	if err != nil {
		return "", err
	}
	switch {
	case kind == "" && len(at) > 0:
		return "", usageError{hintError{errors.New("only an author has addresses"), "--role author makes one"}}
	case kind == "":
		return "", nil
	}
	text := site.Role{Kind: site.RoleKind(kind), At: list}.String()
	if err := site.CheckRole(text); err != nil {
		return "", usageError{fmt.Errorf("the role %q: %w", text, err)}
	}
	return text, nil
}

func (t *tool) addUser(ctx context.Context, name, role string, input passwordInput) error {
	if err := site.CheckUserName(name); err != nil {
		return usageError{err}
	}
	isNew := func(tx *objectdb.Tx) error {
		p, err := site.FindPerson(tx, name)
		if errors.Is(err, objectdb.ErrNotFound) || err == nil && !p.HasPassword {
			return nil
		}
		if err == nil {
			err = hintError{fmt.Errorf("there is a user %s already", p.Name),
				fmt.Sprintf("%q sets another password, %q another role",
					t.self("users password "+p.Name), t.self("users role "+p.Name+" ROLE"))}
		}
		return err
	}
	if err := t.view(ctx, isNew); err != nil {
		return err
	}
	hash, err := t.newPassword(ctx, name, input)
	if err != nil {
		return err
	}
	return t.changeUser(ctx, name, func(tx *objectdb.Tx) (string, error) {
		if err := isNew(tx); err != nil {
			return "", err
		}
		if err := site.SetPassword(tx, name, hash); err != nil || role == "" {
			return fmt.Sprintf("added %s, who may call scripts that require a user; %q gives a role on the web page",
				name, t.self("users role "+name+" ROLE")), err
		}
		return fmt.Sprintf("added %s: %s", name, role), site.SetRole(tx, name, role)
	})
}

// changeUser runs fn on the root, prints what it returns, and says what it means for the web page.
func (t *tool) changeUser(ctx context.Context, name string, fn func(tx *objectdb.Tx) (string, error)) error {
	var done, path string
	var before, after bool
	var person site.Person
	err := t.update(ctx, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		before = s.HasOwner()
		if done, err = fn(tx); err != nil {
			return err
		}
		if s, err = site.Read(tx); err != nil {
			return err
		}
		after, path = s.HasOwner(), s.String(site.AdminPath)
		if person, err = site.FindPerson(tx, name); errors.Is(err, objectdb.ErrNotFound) {
			err = nil // it was removed
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(t.out, done)
	if person.Role.Kind != site.RoleNone && !person.HasPassword {
		t.warn("%s has no password and cannot log in: %s", name, t.self("users password "+name))
	}
	switch {
	case before && !after:
		t.warn("nobody is an owner any more: the web page is not answered now")
	case after && !before && path == "":
		t.warn("there is no web page, because the setting adminPath is empty: %s",
			t.self("settings adminPath /scripter/"))
	case after && !before:
		fmt.Fprintf(t.out,
			"The web page is at %s of the site, as in https://example.org%s, and asks for the password.\n", path, path)
	}
	return nil
}

func (t *tool) usersRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "role NAME ROLE...",
		Short: "set what a user may do on the web page",
		Long: `Role sets the role of a user, and ends the sessions of that user. ROLE is one of

` + rolesHelp + `
  none                 takes the role away`,
		Args:              args(2, -1),
		ValidArgsFunction: t.arguments(userNames, words(append(roleNames(), noRole)...), addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			kind, at := args[1], args[2:]
			if kind == noRole {
				if len(at) > 0 {
					return usageError{fmt.Errorf("%q follows %q, which takes no addresses", at[0], kind)}
				}
				kind = ""
			}
			role, err := roleText(kind, at)
			if err != nil {
				return err
			}
			return t.changeUser(c.Context(), args[0], func(tx *objectdb.Tx) (string, error) {
				p, err := t.person(tx, args[0])
				if err != nil {
					return "", err
				}
				if err := login.EndAll(tx, p.Name); err != nil {
					return "", err
				}
				if role == "" {
					return p.Name + ": no role on the web page any more", site.RemoveRole(tx, p.Name)
				}
				return p.Name + ": " + role, site.SetRole(tx, p.Name, role)
			})
		},
	}
}

// person returns the person with a name.
func (t *tool) person(tx *objectdb.Tx, name string) (site.Person, error) {
	p, err := site.FindPerson(tx, name)
	if errors.Is(err, objectdb.ErrNotFound) {
		err = hintError{fmt.Errorf("there is no user %q", name), fmt.Sprintf("%q lists them", t.self("users"))}
	}
	return p, err
}

func (t *tool) usersRolesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "roles NAME ROLE...",
		Short: "set the roles that a user has on the site",
		Long: `Roles gives a user these roles and no others, none with "none". They are words of the
site's own, such as editor, which its scripts ask for (users.hasRole), and which
scripts and pages may require (scripter requires). They give no rights on the web
page: that is users role.`,
		Args:              args(2, -1),
		ValidArgsFunction: t.arguments(userNames, words(noRole)),
		RunE: func(c *cobra.Command, args []string) error {
			roles := args[1:]
			if len(roles) == 1 && roles[0] == noRole {
				roles = nil
			}
			return t.changeUser(c.Context(), args[0], func(tx *objectdb.Tx) (string, error) {
				p, err := t.person(tx, args[0])
				if err != nil {
					return "", err
				}
				done := p.Name + ": " + strings.Join(roles, " ")
				if len(roles) == 0 {
					done = p.Name + ": no roles on the site any more"
				}
				return done, site.SetSiteRoles(tx, site.DefaultRealm, p.Name, roles)
			})
		},
	}
}

func (t *tool) usersPasswordCommand() *cobra.Command {
	var input passwordInput
	c := &cobra.Command{
		Use:   "password NAME",
		Short: "set the password of a user",
		Long: `Password sets another password, as "scripter users add" asks for it. It ends the
sessions of the user, and the waits after failed tries to log in.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(userNames),
		RunE: func(c *cobra.Command, args []string) error {
			var p site.Person
			find := func(tx *objectdb.Tx) (err error) {
				p, err = t.person(tx, args[0])
				return err
			}
			if err := t.view(c.Context(), find); err != nil {
				return err
			}
			hash, err := t.newPassword(c.Context(), p.Name, input)
			if err != nil {
				return err
			}
			return t.changeUser(c.Context(), p.Name, func(tx *objectdb.Tx) (string, error) {
				err := find(tx)
				if err == nil {
					err = login.SetPassword(tx, p.Name, hash)
				}
				return p.Name + ": another password", err
			})
		},
	}
	input.add(c)
	return c
}

func (t *tool) usersRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "remove a user",
		Long:              `Remove removes a user, the user's role, and what is kept of the user's log-ins.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(userNames),
		RunE: func(c *cobra.Command, args []string) error {
			return t.changeUser(c.Context(), args[0], func(tx *objectdb.Tx) (string, error) {
				p, err := t.person(tx, args[0])
				if err == nil {
					err = login.Forget(tx, p.Name)
				}
				if err == nil {
					err = site.RemoveUser(tx, p.Name)
				}
				return "removed " + p.Name, err
			})
		},
	}
}

// userNames completes the name of a user.
func userNames(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		people, err := site.People(tx)
		for _, p := range people {
			list = append(list, offer{text: p.Name, about: strings.TrimSpace(p.Role.String())})
		}
		return err
	})
	return beginning(typed, list)
}
