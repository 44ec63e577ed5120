package gateway

import (
	"errors"
	"fmt"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
)

// webserverVerbs are behind the objects of suites.webserver (specification,
// 2.3), under the names of the CGI Framework.
var webserverVerbs = []script.Verb{
	{
		Name: "webserver.handler", Usage: "webserver.handler (params)",
		Doc:  "Runs the action of a parameter table and returns what its script returned.",
		Func: verbHandler,
	},
	{
		Name: "webserver.httpHeader", Usage: `webserver.httpHeader ([status = "200 OK" [, modifier = "text/html"]])`,
		Doc:  `The head of a response. The modifier is the content type; for "302 FOUND" the URL, for "401 UNAUTHORIZED" the realm.`,
		Func: verbHTTPHeader,
	},
	{
		Name: "webserver.expandPage", Usage: "webserver.expandPage (params)",
		Doc:  "The text of the page that the web server asked for, its markers replaced.",
		Func: verbExpandPage,
	},
	{
		Name: "webserver.processMacros", Usage: "webserver.processMacros (text [, names])",
		Doc:  "The text with its markers replaced; the table names is looked up before everything else, and its texts are escaped unless the marker says raw (name).",
		Func: verbProcessMacros,
	},
	{
		Name: "webserver.sendPartial", Usage: "webserver.sendPartial (data [, params] [, more = true])",
		Doc:  "Sends a piece of the response at once. The first piece commits what was written to the root so far.",
		Func: verbSendPartial,
	},
	{
		Name: "webserver.parseArgs", Usage: "webserver.parseArgs (text [, table])",
		Doc:  "Reads URL-encoded text into a Lua table, which it returns. A name seen again makes a list.",
		Func: verbParseArgs,
	},
	{
		Name: "webserver.encodeArgs", Usage: "webserver.encodeArgs (table)",
		Doc:  "The inverse of parseArgs, in the order of the names.",
		Func: verbEncodeArgs,
	},
	{
		Name: "webserver.getPref", Usage: "webserver.getPref (name)",
		Doc:  "A setting, else an object of user.webserver.prefs, else false.",
		Func: verbGetPref,
	},
	{
		Name: "webserver.setDirtyRoot", Usage: "webserver.setDirtyRoot ()",
		Doc:  "Sets the dirty root flag, which tells the auto-save agent that there is something to save.",
		Func: verbSetDirtyRoot,
	},
	{
		Name: "webserver.errorMessage", Usage: "webserver.errorMessage (message [, params])",
		Doc:  "The response of a failure with this message, made from user.webserver.prefs.errorPage.",
		Func: verbErrorMessage,
	},
	{
		Name: "webserver.fileNotFoundError", Usage: "webserver.fileNotFoundError ([params])",
		Doc:  "The 404 response, made from user.webserver.prefs.fileNotFoundPage.",
		Func: verbFileNotFoundError,
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
		names = nil // the parameters are looked up anyway, and known as foreign
	}
	text, err := c.expand(newCachedPage(v.Text(1)), "webserver.processMacros", names)
	if err != nil {
		return err
	}
	v.Return(text)
	return nil
}

// verbSendPartial takes its second and third argument in either place, so
// that sendPartial (data, false) works without a parameter table.
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
	if err := c.sendPartial(v.Text(1)); err != nil {
		return err
	}
	c.ended = !more
	v.Return("")
	return nil
}

func verbParseArgs(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	t, err := parseForm(v.Text(1), int(c.settings.number(maxFields)), false)
	if err != nil {
		return err
	}
	if into := v.OptTable(2); into != nil {
		t.Each(func(name, value script.Value) bool {
			into.Set(name.(string), value)
			return true
		})
		t = into
	}
	v.Return(t)
	return nil
}

func verbEncodeArgs(v *script.Call) error {
	t := v.Table(1)
	var b []byte
	add := func(name string, value script.Value) error {
		text, err := v.Thread().Text(value)
		if err != nil {
			return err
		}
		if len(b) > 0 {
			b = append(b, '&')
		}
		b = append(escapeForm(b, name), '=')
		b = escapeForm(b, text)
		return nil
	}
	for _, name := range tableKeys(t) {
		values := []script.Value{t.Get(name)}
		if list, ok := values[0].(*script.Table); ok {
			values = values[:0]
			list.Each(func(_, e script.Value) bool { values = append(values, e); return true })
		}
		for _, value := range values {
			if err := add(name, value); err != nil {
				return err
			}
		}
	}
	v.Return(string(b))
	return nil
}

func verbGetPref(v *script.Call) error {
	s := readSettings(v.Thread().Tx())
	name := v.String(1)
	for _, set := range Settings {
		if objectdb.Fold(set.Name) == objectdb.Fold(name) {
			v.Return(s.value(set))
			return nil
		}
	}
	if n := s.node("prefs", name); n != nil && n.Kind() != objectdb.KindTable {
		value, err := s.tx.Value(n)
		if err != nil {
			return err
		}
		if t, ok := value.(objectdb.Text); ok {
			value = objectdb.String(t)
		}
		v.Return(value)
		return nil
	}
	v.Return(false)
	return nil
}

func verbSetDirtyRoot(v *script.Call) error {
	tx := v.Thread().Tx()
	if readSettings(tx).flag(flDirtyRoot) {
		return nil // written once, not by every request
	}
	return tx.Put(flDirtyRoot.Address(), objectdb.Boolean(true))
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
	resp, err := c.errorPage(status, message, "")
	if err != nil {
		return err
	}
	head, err := resp.AppendNPH(nil)
	if err != nil {
		return err
	}
	v.Return(string(head) + resp.Body)
	return nil
}
