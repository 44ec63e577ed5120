package gateway

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
)

// Verbs returns all verbs in the order of their names: those of package verbs, and the
// group webserver, which is the gateway's. Scripts see them as tables in
// system.verbs.builtins; most scripts call the objects of the root that use them.
func Verbs() []script.Verb { return verbsWith(site.NewPasswords()) }

// verbsWith returns all verbs; they hash passwords with p.
func verbsWith(p *site.Passwords) []script.Verb {
	list := slices.Concat(verbs.All(p), answerVerbs, headVerbs, siteVerbs, sessionVerbs, userVerbs)
	slices.SortFunc(list, func(a, b script.Verb) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// appInfo is the table that tells the scripts of apps.httpd about the web server (specification,
// 6). Two web servers may share a root and a server id. Scripts distinguish them by the name of
// the web server whose request they answer.
var appInfo = objectdb.Address{"apps", "httpd", "appInfo"}

// properties are the computed cells of the root.
var properties = slices.Concat(verbs.Properties(), sessionProperties, []script.Property{
	{Address: appInfo.Child("name"), Doc: "what the web server calls itself",
		Value: func(t *script.Thread) script.Value { return serverOf(t).name }},
	{Address: appInfo.Child("version"), Doc: "its version",
		Value: func(t *script.Thread) script.Value { return serverOf(t).version }},
	{Address: appInfo.Child("id"), Doc: "the server id, which two servers may share",
		Value: func(t *script.Thread) script.Value { return stringSetting(t, site.ServerID) }},
	{Address: appInfo.Child("path"), Doc: "its program, the setting serverPath: no server tells it",
		Value: func(t *script.Thread) script.Value { return stringSetting(t, site.ServerPath) }},
})

// siteOf returns the site as the transaction of the thread sees it.
func siteOf(t *script.Thread) (*site.Snapshot, error) {
	if c, ok := t.Host().(*attempt); ok {
		return c.Site(), nil
	}
	return site.Read(t.Tx())
}

// stringSetting returns a setting, or "" if the root cannot be read.
func stringSetting(t *script.Thread, set *site.Setting) string {
	s, err := siteOf(t)
	if err != nil {
		return ""
	}
	return s.String(set)
}

// product is a name with a version, as SERVER_SOFTWARE has them (RFC 3875,
// 4.1.17): "Apache/2.4.62 (Debian)".
type product struct{ name, version string }

// serverOf returns the web server whose request is answered, or that of Set Server Name if the
// request does not name it.
func serverOf(t *script.Thread) product {
	if c, ok := t.Host().(*attempt); ok {
		if s := c.request.Params["SERVER_SOFTWARE"]; s != "" {
			return parseProduct(s)
		}
	}
	if s := stringSetting(t, site.ServerName); s != "" {
		return parseProduct(s)
	}
	return product{name: "Scripter"}
}

// parseProduct splits a product at its slash.
func parseProduct(s string) product {
	name, version, ok := strings.Cut(s, "/")
	if !ok {
		return product{name: s}
	}
	return product{name, version}
}

// hostOf returns the attempt in which a verb was called, or an error outside of a request.
func hostOf(v *script.Call) (*attempt, error) {
	c, ok := v.Thread().Host().(*attempt)
	if !ok {
		return nil, errors.New("this verb works only while a request is answered")
	}
	return c, nil
}

func secondsOf(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// quote quotes a text for a message, and clips it.
func quote(s string) string { return strconv.Quote(clip(s, 200)) }
