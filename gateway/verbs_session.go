package gateway

import (
	"scripter/login"
	"scripter/script"
	"scripter/verbs/html"
)

// sessionVerbs are for the session of the visitor. Scripts see the session itself, a table, in place of the group.
var sessionVerbs = []script.Verb{
	{
		Name: "session.flash",
		Doc: "Keeps a message for the visitor, which the next page that names flash shows, once. That page may be " +
			"the one after a redirect. Of messages that no page shows, the last 20 are kept.",
		Params: []script.Param{
			script.Arg("text", "string", "at most 1000 bytes"),
			script.Opt("kind", "string", `"info"`, "at most 40 bytes, for the page's style"),
		},
		Errors: "a longer text; outside a request",
		Example: `session.flash ("Saved.")
return flash [1].text`,
		Gives: "Saved.",
		Func:  verbFlash,
	},
	{
		Name: "session.renew",
		Doc: "Gives the session another token: what anybody knew of the one before is worth nothing. users.logIn does " +
			"it by itself.",
		Errors: "outside a request",
		Example: `session.cart = 3
session.renew ()
return session.cart`,
		Gives: "3",
		Func: func(v *script.Call) error {
			c, err := hostOf(v)
			if err != nil {
				return err
			}
			return c.changeVisit(func(s *visit) error { return s.Renew(c.Tx) })
		},
	},
	{
		Name:   "session.close",
		Doc:    "Ends the session, with all that is stored in it. users.logOut does it by itself.",
		Errors: "outside a request",
		Example: `session.cart = 3
session.close ()
return tostring (session.cart)`,
		Gives: "nil",
		Func: func(v *script.Call) error {
			c, err := hostOf(v)
			if err != nil {
				return err
			}
			return c.endVisit()
		},
	},
	{
		Name: "form.token",
		Doc: "The hidden field that shows that this visitor has opened the form: a form that changes something needs it, " +
			"once the visitor has a session.",
		Results: script.Returns("string", "HTML"),
		Errors:  "outside a request",
		Example: `form.token ():match ('^<input type="hidden" name="(%a+)"')`,
		Gives:   "formToken",
		Page:    true,
		Func: func(v *script.Call) error {
			c, err := hostOf(v)
			if err != nil {
				return err
			}
			field, err := c.formTokenField()
			v.Return(field)
			return err
		},
	},
}

const (
	maxMessage     = 1000 // bytes
	maxMessageKind = 40
)

func verbFlash(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	m := login.Message{Text: v.String(1), Kind: v.OptString(2, "info")}
	switch {
	case len(m.Text) > maxMessage:
		v.Bad(1, "at most %d bytes", maxMessage)
	case len(m.Kind) > maxMessageKind:
		v.Bad(2, "at most %d bytes", maxMessageKind)
	}
	s, err := c.session()
	if err != nil {
		return err
	}
	s.Flash(m)
	return nil
}

// formTokenField returns the hidden field for a form. A visitor without a session gets an empty one: there is nothing
// yet that another site could use, and the page makes no session.
func (c *attempt) formTokenField() (string, error) {
	s, err := c.session()
	if err != nil {
		return "", err
	}
	token := ""
	if has, err := s.HasContent(c.Tx); err != nil {
		return "", err
	} else if has {
		token = s.FormToken()
		c.hide("field "+formField, token)
	}
	return `<input type="hidden" name="` + formField + `" value="` + html.Escape(token) + `">`, nil
}

// The computed cells of the session.
var sessionProperties = []script.Property{
	{Address: script.Builtins.Child("session"), Doc: "what scripts keep of the visitor from one request to the next",
		Value: func(t *script.Thread) script.Value {
			c, ok := t.Host().(*attempt)
			if !ok {
				return nil
			}
			table, err := c.sessionTable()
			if err != nil {
				t.Stop(err)
				return nil
			}
			return table
		}},
	{Address: script.Builtins.Child("flash"), Doc: "the messages of session.flash for this page: {text =, kind =}",
		Value: func(t *script.Thread) script.Value {
			c, ok := t.Host().(*attempt)
			if !ok {
				return script.NewList()
			}
			list, err := c.takeMessages()
			if err != nil {
				t.Stop(err)
				return nil
			}
			return list
		}},
}
