package admin

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// personData is the page of one person, as owners see it.
type personData struct {
	person
	AtText string    `json:"-"` // the addresses of an author, one per line
	Logins []session `json:"logins"`
	mistake
}

// RoleForm returns what the form for the role begins with.
func (data *personData) RoleForm() userForm {
	return userForm{Role: data.Role, At: data.AtText, MayBeNone: true}
}

// Here returns the URL of the page, without what the last form said.
func (f *frame) Here() string {
	if data, ok := f.Data.(*personData); ok {
		return f.link(f.page(), "name", data.Name)
	}
	return f.link(f.page())
}

// session is a session for people and programs.
type session struct {
	ID        string    `json:"id"`
	Created   time.Time `json:"created"`
	Seen      time.Time `json:"seen"`
	Address   string    `json:"from"`
	Browser   string    `json:"browser"`
	UserAgent string    `json:"userAgent"`
	Current   bool      `json:"current,omitempty"` // that of this request
}

// personPage shows the person that the parameter "name" names.
func (c *call) personPage() (*result, error) { return c.personPageWith(c.query("name"), "") }

func (c *call) personPageWith(name, message string) (*result, error) {
	data := &personData{mistake: mistake{message, c.field("do")}}
	err := c.view(func(tx *objectdb.Tx) (err error) {
		data.person, err = c.readPerson(tx, name)
		return err
	})
	if err == nil {
		data.Logins, err = c.sessionsOf(data.Name, false)
	}
	data.AtText = strings.Join(data.Dotted, "\n")
	return &result{template: "person", title: data.Name, data: data}, err
}

// sessionsOf returns the sessions of a person, or those of the local owner with a name.
func (c *call) sessionsOf(name string, local bool) (list []session, err error) {
	list = []session{}
	if c.inPast {
		return list, nil
	}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		all, err := c.login.Sessions(tx, name)
		for _, s := range all {
			if s.Local == local {
				list = append(list, session{ID: s.ID, Created: s.Created, Seen: s.Seen, Address: s.Address,
					Browser: browserOf(s.UserAgent), UserAgent: s.UserAgent, Current: s.ID == c.session.ID})
			}
		}
		return err
	})
	return list, err
}

// browserOf returns what a browser says of itself in a few words, for people.
func browserOf(userAgent string) string {
	first := func(words ...string) string { // pairs of what it says and its name
		for i := 0; i < len(words); i += 2 {
			if strings.Contains(userAgent, words[i]) {
				return words[i+1]
			}
		}
		return ""
	}
	browser := first("Edg", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari",
		"curl/", "curl")
	system := first("Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "Mac OS", "macOS",
		"Linux", "Linux")
	switch {
	case browser == "":
		return short(userAgent, 80)
	case system == "":
		return browser
	}
	return text("account.browser", browser, system)
}

// personActions are what the forms on the page of a person can do, by their field "do". Each
// returns the key of what is said then.
var personActions = map[string]func(*call, string) (said string, change int64, err error){
	"role": (*call).changeRole, "password": (*call).changePassword, "remove": (*call).removePerson,
	"end": (*call).endSession, "endAll": (*call).endSessions,
}

// changePerson does what a form on the page of a person asks for.
func (c *call) changePerson() (*result, error) {
	name := c.query("name")
	if name == "" {
		name = c.field("name")
	}
	action, ok := personActions[c.field("do")]
	if !ok {
		return nil, unknownAction(c.field("do"))
	}
	err := c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		p, err := site.FindPerson(tx, name)
		if err == nil {
			name = p.Name // as the root spells it
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	said, change, err := action(c, name)
	if err != nil {
		if q := (&confirmation{}); errors.As(err, &q) {
			return c.orConfirm(q)
		}
		return c.orAgain(err, func(message string) (*result, error) { return c.personPageWith(name, message) })
	}
	to := c.link("users/person", "name", name)
	if said == "userRemoved" {
		to = c.link("users")
	}
	return c.redirect(to, said, change), nil
}

// changeRole gives a person another role, which ends the sessions of that person.
func (c *call) changeRole(name string) (said string, change int64, err error) {
	if c.isSelf(name) {
		return "", 0, newProblem(http.StatusConflict, "users.ownRole")
	}
	change, err = c.update("role of "+name, func(tx *objectdb.Tx) error {
		return keepOwner(tx, name, func() error {
			if err := c.storeRole(tx, name, c.field("role"), c.field("at")); err != nil {
				return err
			}
			return login.EndAll(tx, name)
		})
	})
	return "userRole", change, err
}

// changePassword gives a person another password, which ends the sessions of that person.
func (c *call) changePassword(name string) (said string, change int64, err error) {
	if c.isSelf(name) {
		return "", 0, newProblem(http.StatusConflict, "users.ownPassword")
	}
	hash, err := c.newHash()
	if err != nil {
		return "", 0, err
	}
	_, err = c.update("password of "+name, func(tx *objectdb.Tx) error {
		if _, err := site.FindPerson(tx, name); err != nil {
			return err
		}
		return login.SetPassword(tx, name, hash)
	})
	return "userPassword", 0, err // whoever undid it would bring the old password back
}

// removePerson removes a person with role, sessions and all. It asks first.
func (c *call) removePerson(name string) (said string, change int64, err error) {
	if c.isSelf(name) {
		return "", 0, newProblem(http.StatusConflict, "users.ownRow")
	}
	change, err = c.update("remove user "+name, func(tx *objectdb.Tx) error {
		err := keepOwner(tx, name, func() error {
			if err := site.RemoveUser(tx, name); err != nil {
				return err
			}
			return login.Forget(tx, name)
		})
		if err == nil && c.field("confirm") != "yes" {
			err = &confirmation{Title: text("users.removeTitle", name), Lines: []string{text("users.removes", name)},
				Button: text("users.remove"), Danger: true, Cancel: c.link("users/person", "name", name)}
		}
		return err
	})
	return "userRemoved", change, err
}

// endSession ends the session of a person that the field "id" names.
func (c *call) endSession(name string) (said string, change int64, err error) {
	return "sessionEnded", 0, c.endOf(name, false, c.field("id"))
}

// endSessions ends all sessions of a person.
func (c *call) endSessions(name string) (said string, change int64, err error) {
	return "sessionsEnded", 0, c.endOf(name, false, "")
}

// endOf ends the session with an ID of a person, or all for "", but those with the IDs in except.
func (c *call) endOf(name string, local bool, id string, except ...string) error {
	list, err := c.sessionsOf(name, local)
	if err != nil {
		return err
	}
	if id != "" && !slices.ContainsFunc(list, func(s session) bool { return s.ID == id }) {
		return newProblem(http.StatusNotFound, "account.noSession")
	}
	_, err = c.update("sessions of "+name, func(tx *objectdb.Tx) error {
		for _, s := range list {
			if id != "" && s.ID != id || slices.Contains(except, s.ID) {
				continue
			}
			if err := login.End(tx, s.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
