package gateway

import (
	"strings"

	"scripter/httpform"
	"scripter/login"
	"scripter/site"
)

// A form that changes something needs the token of the visitor's session, so that a page of another site cannot
// send it with the visitor's cookie. The rule applies to all requests with these methods and the cookie of a session
// that counts. Others are let through:
//
//   - those without such a session: they have nothing that another site could use. SameSite=Lax keeps the cookie out
//     of forms of other sites, too, and users.logIn refuses requests of other sites in any case.
//   - those with an Authorization field, or with a type that is not one of forms, such as JSON: a browser
//     sends neither for another site without asking this one first (CORS).

const (
	// formField is the field of a form, and formHeader the header field of a script's request, that has the token.
	formField  = "formToken"
	formHeader = "X-CSRF-Token"
)

// checkForm returns an error for a form without the token of the visitor's session.
func (c *attempt) checkForm() error {
	r := c.request
	switch r.Params["REQUEST_METHOD"] {
	case "GET", "HEAD", "OPTIONS":
		return nil
	}
	if !strings.Contains(r.Params["HTTP_COOKIE"], login.VisitCookie) || !c.Site().Flag(site.FlFormTokens) ||
		r.Params["HTTP_AUTHORIZATION"] != "" || !r.isForm() {
		return nil
	}
	v, err := c.session()
	if err != nil || !v.IsStored() {
		return err
	}
	if err := c.checkOrigin(); err != nil {
		return err
	}
	token, found := c.formToken()
	switch kind := v.CheckForm(token); {
	case kind == login.OwnForm:
		return nil
	case kind == login.EarlierForm && r.isSameOrigin(), found && token == "" && r.isSameOrigin():
		return nil // the form was opened before the visitor's session began, or before the log-in
	case !found:
		return foreignForm("the form has no field " + formField + ": form.token () makes it, or the setting flFormTokens " +
			"switches the check off")
	}
	return foreignForm("the field " + formField + " is not of this visitor's session")
}

// formToken returns the token that a form has.
func (c *attempt) formToken() (token string, found bool) {
	if t := c.request.field(formHeader); t != "" {
		return t, true
	}
	if c.cells.form.args == nil {
		return "", false
	}
	token, found = c.cells.form.args.Get(formField).(string)
	return token, found
}

// isForm reports whether a request has the type of a form. A page of another site can also POST without a type, but
// nothing else.
func (r *Request) isForm() bool {
	contentType := r.Params["CONTENT_TYPE"]
	if contentType == "" {
		return r.Params["REQUEST_METHOD"] == "POST"
	}
	media, _, err := httpform.Media(contentType)
	return err != nil || media == httpform.URLEncoded || media == httpform.Multipart || media == "text/plain"
}

// isSameOrigin reports whether the browser says that a page of this site has made the request.
func (r *Request) isSameOrigin() bool {
	if from := r.field("Sec-Fetch-Site"); from != "" {
		return from == "same-origin"
	}
	origin := r.field("Origin")
	return origin != "" && origin != "null" && origin == r.Origin()
}

// foreignForm returns the error for a request that the visitor may not have wanted.
func foreignForm(why string) *Error {
	return &Error{Status: 403, Message: why, warns: true, pref: "formPage", Public: formRefused}
}

const formRefused = "This form was not accepted, and nothing was changed. It was open for too long, or it was not opened on this " +
	"site. Go back, copy what you have typed, open the page again, and send the form from there."
