package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/site"
)

// protection has the settings of the root for scripts in a folder that the web server
// protects.
type protection struct {
	path    string   // "/members"; "" = no folder is checked
	folders []string // the setting scriptFolders
	all     bool     // every script requires a user
	rows    int      // the number of rows of user.webserver.requires
}

// readProtection reads from the root who may call a script.
func (d *doctor) readProtection(tx *objectdb.Tx) error {
	now, err := site.Read(tx)
	if err != nil {
		return err
	}
	d.protected.folders = strings.Fields(string(site.ScriptFolders.Read(tx).Value.(objectdb.String)))
	rows, err := site.ReadRequireRows(tx)
	d.protected.all, d.protected.rows = !now.Requirement(site.Scripts).Anyone(), len(rows)
	return err
}

// checkProtected requests a folder that needs a password without one, and checks
// whether its scripts answer at other URLs.
func (d *doctor) checkProtected(ctx context.Context) {
	p := d.protected
	if p.path == "" {
		return
	}
	stranger := *d.ask
	stranger.fields = slices.DeleteFunc(slices.Clone(stranger.fields), func(f string) bool {
		name, _, _ := strings.Cut(f, ":")
		return strings.EqualFold(strings.TrimSpace(name), "Authorization")
	})
	ask := func(path string) *answered { return stranger.ask(ctx, question{path: path, probe: true}) }
	open := false
	for _, name := range []string{"scripter-doctor.fcgi", "scripter-doctor.mcro", "scripter-doctor.html"} {
		path := p.path + "/" + name
		r := ask(path)
		if r.Status == 404 && r.Probe == nil && strings.HasSuffix(name, ".mcro") {
			continue // nginx looks whether there is such a page before it asks for a password
		}
		if r.Status != 401 && r.Status != 403 {
			open = true
			d.fault("protected", "%s needs no password: %s", path, r.outcome())
		}
	}
	if open {
		return
	}
	d.ok("protected", "scripts, pages and files in %s need a password", p.path)
	var elsewhere []string
	for _, folder := range p.folders {
		if folder == p.path {
			continue
		}
		path := strings.TrimSuffix(strings.Replace(folder, "*", "/", 1), "/") + "/scripter-doctor.fcgi"
		if r := ask(path); r.Probe != nil {
			elsewhere = append(elsewhere, path)
		}
	}
	every := slices.Contains(p.folders, "*")
	switch {
	case len(elsewhere) == 0:
		d.ok("protected", "no script answers without a password in another folder")
	case p.all:
		d.ok("protected", "scripts have URLs such as %s without a password, and all of them require a user themselves",
			elsewhere[0])
	case every:
		d.add(Fault, "protected",
			fmt.Sprintf("the scripts of %s answer at URLs such as %s too, "+
				"without a password: scriptFolders is *", p.path, elsewhere[0]),
			"scripter settings scriptFolders '/ "+p.path+"'",
			"scripter requires ADDRESS user (for each script that is for few)")
	default:
		d.add(Warning, "protected",
			fmt.Sprintf("scripts have URLs such as %s too, without a password; "+
				"%s of user.webserver.requires: a script that is for few must have one",
				elsewhere[0], rowCount(p.rows)),
			"scripter requires ADDRESS user (for each script that is for few)")
	}
}

// protectedFolder checks the folder of Options.Protected.
func protectedFolder(path string) (string, error) {
	folder := strings.TrimSuffix(path, "/")
	if path != "" && (folder == "" || folder[0] != '/' || strings.ContainsAny(folder, " ?#\r\n")) {
		return "", &OptionError{"protected", path, "no folder of URLs, such as /members/"}
	}
	return folder, nil
}

func rowCount(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
