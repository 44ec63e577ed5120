package gateway

import (
	"errors"
	"fmt"

	"scripter/httpheader"
	"scripter/script"
	"scripter/site"
)

// answerVerbs answer requests. Those of the group webserver are behind the objects of
// suites.webserver (specification, 2.3), under the names of the CGI Framework.
var answerVerbs = []script.Verb{
	{
		Name:    "webserver.handler",
		Doc:     "Runs the action of a parameter table and returns what its script returned.",
		Params:  []script.Param{script.Arg("params", "table", "the parameters of the request")},
		Results: script.Returns("any", "what the script returned"),
		Errors:  "what the script fails with; a call that nests deeper than 16",
		Example: `suites.webserverScripts.part = odb.script ("return 'from ' .. (...).scriptName")
return webserver.handler ({action = "SCRIPTER", scriptName = "/part.fcgi"})`,
		Gives: "from /part.fcgi",
		Func:  verbHandler,
	},
	{
		Name: "webserver.httpHeader",
		Doc: `The head of a response. The modifier is the content type; for "302 FOUND", 301, 303, 307 and 308 ` +
			`the URL to go to, for "401 UNAUTHORIZED" the realm.`,
		Params: []script.Param{
			script.Opt("status", "string", `"200 OK"`, "a number and words"),
			script.Opt("modifier", "string", `"text/html"`, ""),
		},
		Results: script.Returns("string", "with the empty line at its end"),
		Errors:  "a status outside 200 to 599, a line end or control character in an argument",
		Example: `webserver.httpHeader ("302 FOUND", "https://www.example.com/"):match ("Location: [^\r]*")`,
		Gives:   "Location: https://www.example.com/",
		Func:    verbHTTPHeader,
	},
	{
		Name:    "webserver.expandPage",
		Doc:     "The text of the page that the web server asked for, its markers replaced.",
		Params:  []script.Param{script.Arg("params", "table", "the parameters of the request")},
		Results: script.Returns("string", ""),
		Errors:  "a page that is not there or lies outside the folders for pages; outside a request",
		Example: `-- the page hello.mcro reads <p><!--#html.escape ("1 < 2")--></p>
return webserver.expandPage ({scriptName = "/hello.mcro", websiteFolder = websiteFolder})`,
		Gives: "<p>1 &lt; 2</p>",
		Func:  verbExpandPage,
	},
	{
		Name: "webserver.processMacros",
		Doc: "The text with its markers replaced; the table names is looked up before everything else, " +
			"and its texts are escaped unless the marker says raw (name).",
		Params:  []script.Param{script.Arg("text", "any", ""), script.Opt("names", "table", "", "")},
		Results: script.Returns("string", ""),
		Errors:  "outside a request; more markers than maxMacros",
		Example: `webserver.processMacros ("<p><!--#name--></p>", {name = "Tom & Co"})`,
		Gives:   "<p>Tom &amp; Co</p>",
		Page:    true,
		Func:    verbProcessMacros,
	},
	{
		Name: "webserver.download",
		Doc: "A response with which a browser saves a binary under a name, for return. Ranges and conditional " +
			"requests are answered.",
		Params: []script.Param{
			script.Arg("value", "binary", "or a string"),
			script.Arg("name", "string", "folders and characters that mean something in a path are left out"),
		},
		Results: script.Returns("table", "a response table"),
		Example: `webserver.download (odb.binary ("a,b", "text/csv"), "../März.csv").headers ["Content-Disposition"]`,
		Gives:   `attachment; filename="M_rz.csv"; filename*=UTF-8''M%C3%A4rz.csv`,
		Func:    verbDownload,
	},
	{
		Name: "webserver.sendPartial",
		Doc: "Sends a piece of the response at once. The first piece commits what was written to the " +
			"root so far.",
		Params: []script.Param{
			script.Arg("data", "any", ""),
			script.Opt("params", "table", "", "not needed; for scripts of 1998"),
			script.Opt("more", "boolean", "true",
				"false says that the piece is the last one; it may be the second argument"),
		},
		Results: script.Returns("string", `always ""`),
		Errors:  "outside a request; after the last piece",
		Example: `webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
webserver.sendPartial ("one, ")
return "two"`,
		Gives: "one, two",
		Func:  verbSendPartial,
	},
	{
		Name: "write",
		Doc: "Adds the texts of its arguments to the response. What the script returns, if anything, " +
			"comes after them.",
		Params:  []script.Param{script.Arg("…", "any", "any number of values; each is made a text")},
		Errors:  "a response over maxResponse; outside a request",
		Example: `write ("1 + 1 = ", 1 + 1)`,
		Gives:   "1 + 1 = 2",
		Func:    verbWrite,
	},
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

func verbHandler(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	c.nested++
	defer func() { c.nested-- }()
	if c.nested > maxNesting {
		return fmt.Errorf("it calls itself deeper than %d", maxNesting)
	}
	result, err := c.handle(v.Table(1))
	if err == nil {
		result, err = forScript(result)
	}
	if err != nil {
		return err
	}
	v.Return(result)
	return nil
}

func verbHTTPHeader(v *script.Call) error {
	server := "Scripter"
	if c, err := hostOf(v); err == nil {
		server = c.server()
	}
	head, err := httpheader.Build(v.OptString(1, "200 OK"), v.OptString(2, "text/html"), server)
	if err != nil {
		return err
	}
	v.Return(head)
	return nil
}

func verbExpandPage(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	text, err := c.expandPage(v.Table(1))
	if err != nil {
		return err
	}
	v.Return(text)
	return nil
}

func verbProcessMacros(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	names := v.OptTable(2)
	if names == c.params {
		names = nil // markers find the parameters anyway, and escape them
	}
	text, err := c.expand(newCachedPage(v.Text(1)), "webserver.processMacros", names)
	if err != nil {
		return err
	}
	v.Return(text)
	return nil
}

// verbSendPartial takes its second and third argument in either order, so that
// sendPartial (data, false) works without a parameter table.
func verbSendPartial(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	more := true
	for i := 2; i <= 3; i++ {
		if b, ok := v.Value(i).(bool); ok {
			more = b
		}
	}
	if c.ended {
		return errors.New("webserver.sendPartial: the response has ended")
	}
	text, err := textForVisitor(v, 1)
	if err == nil {
		err = c.sendPartial(text)
	}
	if err != nil {
		return err
	}
	c.ended = !more
	v.Return("")
	return nil
}

func verbWrite(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	if c.ended {
		return errors.New("the response has ended")
	}
	output := c.Output()
	if output == nil {
		limit := c.Size(site.MaxResponse)
		output = c.StartOutput(limit.Most, func() error {
			return fmt.Errorf("%w; webserver.sendPartial has no such limit",
				limit.Error("the response is longer than %d bytes", limit.Most))
		})
	}
	for i := 1; i <= v.NArgs(); i++ {
		text, err := textForVisitor(v, i)
		if err == nil {
			err = output.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	resp, err := c.errorPage(status, "", message, incident)
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
