package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// userRoutes lists the pages of people and their roles.
func (s *Server) userRoutes() {
	s.page("GET /users", owners, (*call).usersPage)
	s.page("POST /users", owners, (*call).addUser)
	s.page("GET /users/person", owners, (*call).personPage)
	s.page("POST /users/person", owners, (*call).changePerson)
	s.page("GET /account", readers, (*call).accountPage)
	s.page("POST /account", readers, (*call).changeAccount)
}

// person is somebody who may use the web page, or a user of the root without a role.
type person struct {
	Name      string             `json:"name"`
	Role      string             `json:"role,omitempty"` // its first word
	At        []objectdb.Address `json:"-"`              // of an author
	Dotted    []string           `json:"at,omitempty"`
	Row       string             `json:"-"`                  // the text of an invalid role
	Why       string             `json:"why,omitempty"`      // why it gives no rights
	Password  bool               `json:"password"`           // there is one
	Sessions  int                `json:"sessions,omitempty"` // in which the person is logged in
	LastLogin *time.Time         `json:"lastLogin,omitempty"`
	Self      bool               `json:"self,omitempty"` // who looks at the page
}

// usersData is the page of all people.
type usersData struct {
	People []person `json:"people"`          // who have a role
	Others []person `json:"users"`           // a page of those without
	Next   string   `json:"next,omitempty"`  // the parameter "from" of the next page of them
	Local  bool     `json:"local,omitempty"` // who looks has no row
	Alone  bool     `json:"-"`               // nobody can log in as an owner yet
	Form   userForm `json:"-"`
	Error  string   `json:"error,omitempty"`
}

// userForm is what the form for a new person had.
type userForm struct {
	Name, Role, At string
	MayBeNone      bool // "no role" is offered
}

const (
	mostPeople = 500 // with a role, that the page shows
	usersRows  = 100 // users without a role, of one page
)

func (c *call) usersPage() (*result, error) {
	return c.usersPageWith(userForm{Role: string(site.RoleReader)})
}

func (c *call) usersPageWith(form userForm) (*result, error) {
	data := &usersData{Local: c.session.Local, Form: form, People: []person{}, Others: []person{}}
	err := c.view(func(tx *objectdb.Tx) error {
		names, _, err := rowsOf(tx, site.Roles, "", mostPeople)
		if err != nil {
			return err
		}
		data.Alone = true
		for _, name := range names {
			p, err := c.readPerson(tx, name)
			if err != nil {
				return err
			}
			data.People = append(data.People, p)
			data.Alone = data.Alone && !(p.Role == string(site.RoleOwner) && p.Password)
		}
		names, data.Next, err = rowsOf(tx, site.Users.Child(site.DefaultRealm), c.query("from"), usersRows)
		for _, name := range names {
			if err != nil {
				return err
			}
			var p person
			if p, err = c.readPerson(tx, name); p.Role == "" && p.Why == "" {
				data.Others = append(data.Others, p)
			}
		}
		return err
	})
	if err == nil {
		err = c.countSessions(data.People)
	}
	return &result{template: "users", title: text("nav.users"), data: data}, err
}

// rowsOf returns the names of the objects in a table from a name on, and the name that the next
// page begins with, or "". A table that is not there has none.
func rowsOf(tx *objectdb.Tx, table objectdb.Address, from string, most int) (names []string, next string, err error) {
	n, err := tx.Find(table)
	if objectdb.IsMissing(err) || err == nil && n.Kind() != objectdb.KindTable {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	nodes, next, err := pageOf(tx, n, from, most)
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	return names, next, err
}

// readPerson returns the person with a name.
func (c *call) readPerson(tx *objectdb.Tx, name string) (person, error) {
	p, err := site.FindPerson(tx, name)
	if err != nil {
		return person{}, err
	}
	r := person{Name: p.Name, Role: string(p.Role.Kind), At: p.Role.At, Password: p.HasPassword, Self: c.isSelf(p.Name)}
	for _, a := range r.At {
		r.Dotted = append(r.Dotted, a.String())
	}
	if p.Role.Err != nil {
		r.Row, r.Why = p.Role.Text, p.Role.Err.Error()
	}
	last, err := login.LastLogin(tx, p.Name)
	if !last.IsZero() {
		r.LastLogin = &last
	}
	return r, err
}

// isSelf reports whether a row is that of the person who looks. The local owner has none.
func (c *call) isSelf(name string) bool {
	return !c.session.Local && objectdb.Fold(name) == objectdb.Fold(c.user)
}

// countSessions counts the sessions of people now: the past has none.
func (c *call) countSessions(people []person) error {
	if c.inPast {
		return nil
	}
	return c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		all, err := c.login.Sessions(tx, "")
		count := map[string]int{}
		for _, s := range all {
			if !s.Local {
				count[objectdb.Fold(s.Name)]++
			}
		}
		for i := range people {
			people[i].Sessions = count[objectdb.Fold(people[i].Name)]
		}
		return err
	})
}

// mistake is an error in what a form has sent.
type mistake struct {
	Error string `json:"error,omitempty"`
	do    string // what the form asked for
}

// Mistake returns the error if it belongs to the form for do. With "" it returns the error of a form that does not
// show it itself.
func (m mistake) Mistake(do string) string {
	if m.do == do || do == "" && m.do != "role" && m.do != "password" {
		return m.Error
	}
	return ""
}

// orAgain returns the page of a form again, with the problem of its values.
func (c *call) orAgain(err error, page func(message string) (*result, error)) (*result, error) {
	var p *problem
	if c.json || !errors.As(err, &p) {
		return nil, err
	}
	res, err := page(p.Text)
	if err == nil {
		res.status = p.Status
	}
	return res, err
}

// addUser adds somebody with a password and a role.
func (c *call) addUser() (*result, error) {
	form := userForm{Name: strings.TrimSpace(c.field("name")), Role: c.field("role"), At: c.field("at")}
	change, err := c.storeNew(form)
	if err != nil {
		return c.orAgain(err, func(message string) (*result, error) {
			res, err := c.usersPageWith(form)
			if err == nil {
				res.data.(*usersData).Error = message
			}
			return res, err
		})
	}
	return c.redirect(c.link("users"), "userAdded", change), nil
}

func (c *call) storeNew(form userForm) (change int64, err error) {
	if do := c.field("do"); do != "add" {
		return 0, unknownAction(do)
	}
	if err := site.CheckUserName(form.Name); err != nil {
		return 0, bad("users.badName", err)
	}
	if form.Role == "" {
		return 0, bad("users.noRole")
	}
	hash, err := c.newHash()
	if err != nil {
		return 0, err
	}
	return c.update("add user "+form.Name, func(tx *objectdb.Tx) error {
		switch p, err := site.FindPerson(tx, form.Name); {
		case err == nil:
			return newProblem(http.StatusConflict, "users.exists", p.Name)
		case !errors.Is(err, objectdb.ErrNotFound):
			return err
		}
		if err := site.SetPassword(tx, form.Name, hash); err != nil {
			return err
		}
		return c.storeRole(tx, form.Name, form.Role, form.At)
	})
}

// storeRole stores a role; kind "" takes it away. at has the addresses of an author, one per line.
func (c *call) storeRole(tx *objectdb.Tx, name, kind, at string) error {
	if kind == "" {
		return site.RemoveRole(tx, name)
	}
	role := kind
	if site.RoleKind(kind) == site.RoleAuthor {
		role += " " + at
	}
	if len(role) > longestSetting {
		return bad("settings.long", longestSetting)
	}
	err := site.SetRole(tx, name, role)
	if failure := (&objectdb.Error{}); err != nil && (!errors.As(err, &failure) || !isFailure(err)) {
		return bad("users.badRole", err)
	}
	return err
}

// newHash returns the hash of the password that a form has twice.
func (c *call) newHash() (string, error) {
	p := c.field("password")
	if err := site.CheckPassword(p); err != nil {
		return "", bad("users.badPassword", err)
	}
	if p != c.field("again") {
		return "", bad("users.differ")
	}
	hash, err := c.Gateway.Passwords().Hash(c.ctx(), p)
	if errors.Is(err, site.ErrManyPasswords) || errors.Is(err, context.DeadlineExceeded) {
		err = newProblem(http.StatusServiceUnavailable, "login.busy")
	}
	return hash, err
}

// keepOwner returns a problem if nobody could log in as an owner any more after a change.
func keepOwner(tx *objectdb.Tx, name string, change func() error) error {
	before, err := countOwners(tx)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := countOwners(tx)
	if err == nil && before > 0 && after == 0 {
		err = newProblem(http.StatusConflict, "users.lastOwner", name)
	}
	return err
}

// countOwners counts who can log in as an owner.
func countOwners(tx *objectdb.Tx) (n int, err error) {
	names, _, err := rowsOf(tx, site.Roles, "", 100*mostPeople)
	for _, name := range names {
		p, err := site.FindPerson(tx, name)
		if err != nil {
			return 0, err
		}
		if p.Role.Kind == site.RoleOwner && p.HasPassword {
			n++
		}
	}
	return n, err
}
