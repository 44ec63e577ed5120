package gateway

import (
	"scripter/script"
)

// errorVerbs make the pages of failures.
var errorVerbs = []script.Verb{
	{
		Name: "webserver.errorMessage",
		Doc:  "The response of a failure with this message, made from user.webserver.prefs.errorPage.",
		Params: []script.Param{
			script.Arg("message", "any", ""),
			script.Opt("params", "table", "", "not needed; for scripts of 1998"),
		},
		Results: script.Returns("string", "a complete response, status 500"),
		Errors:  "outside a request",
		Example: `webserver.errorMessage ("out of <tea>"):match ("out of %S*tea&gt;")`,
		Gives:   "out of &lt;tea&gt;",
		Func:    verbErrorMessage,
	},
	{
		Name:    "webserver.fileNotFoundError",
		Doc:     "The 404 response, made from user.webserver.prefs.fileNotFoundPage.",
		Params:  []script.Param{script.Opt("params", "table", "", "not needed; for scripts of 1998")},
		Results: script.Returns("string", "a complete response"),
		Errors:  "outside a request",
		Example: `webserver.fileNotFoundError ():match ("^[^\r]*")`,
		Gives:   "HTTP/1.0 404 FILE NOT FOUND",
		Func:    verbFileNotFoundError,
	},
}

func verbErrorMessage(v *script.Call) error {
	message := v.Text(1)
	return verbErrorPage(v, 500, message)
}

func verbFileNotFoundError(v *script.Call) error {
	return verbErrorPage(v, 404, visitorMessage(404))
}

func verbErrorPage(v *script.Call, status int, message string) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	incident := ""
	if status != 404 { // the page of a 404 shows no number
		incident = c.incidentID()
		if !c.isQuiet() {
			c.g.log.Warn("a script answered with an error page", "path", c.request.LogPath(), "id", incident, "err", message)
		}
	}
	resp, err := c.errorPage(status, message, incident)
	if err != nil {
		return err
	}
	text, err := nphText(resp)
	if err != nil {
		return err
	}
	v.Return(text)
	return nil
}
