package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/requestlog"
	"scripter/site"
	"scripter/valuetext"
)

// kindNames completes the name of a kind.
func kindNames(t *tool, c *cobra.Command, args []string, typed string) []offer {
	var names []string
	for k := objectdb.KindBoolean; k <= objectdb.KindTable; k++ {
		names = append(names, k.String())
	}
	return words(names...)(t, c, args, typed)
}

func settingNames(_ *tool, _ *cobra.Command, _ []string, typed string) (list []offer) {
	for _, s := range site.Settings {
		list = append(list, offer{text: s.Name, about: s.Meaning})
	}
	return beginning(typed, list)
}

// settingValues completes the value of the setting that the first argument names, if it
// has few.
func settingValues(t *tool, c *cobra.Command, args []string, typed string) []offer {
	s, ok := site.Find(args[0])
	if !ok {
		return nil
	}
	if s.NamesFile() {
		return files(t, c, args, typed)
	}
	var list []offer
	for _, v := range s.Values() {
		list = append(list, offer{text: valuetext.Format(v)})
	}
	return beginning(typed, list)
}

func limitNames(_ *tool, _ *cobra.Command, _ []string, typed string) (list []offer) {
	for _, s := range site.Settings {
		if _, ok := site.FindLimit(s.Name); ok {
			list = append(list, offer{text: s.Name, about: s.Meaning})
		}
	}
	return beginning(typed, list)
}

// requirement completes the words after the address of "scripter requires".
func requirement(t *tool, c *cobra.Command, args []string, typed string) (list []offer) {
	users := objectdb.Address{"user", "webserver", "users"}
	switch {
	case len(args) == 1:
		return beginning(typed, []offer{
			{text: "user", about: "a visitor with a name and password"},
			{text: "role", about: "a visitor with a name and password, and with a role"},
			{text: "realm", about: "a visitor with a name and password of a realm"},
			{text: "anyone", about: "everybody"},
		})
	case args[1] == "user":
		users = users.Child("default")
	case args[1] != "realm" || len(args) > 2:
		return nil
	}
	t.peek(c, func(tx *objectdb.Tx) error {
		table, err := tx.Find(users)
		if err != nil {
			return err
		}
		names, err := namesIn(tx, table, typed)
		for _, n := range names {
			list = append(list, offer{text: n.name, open: n.node == nil})
		}
		return err
	})
	return list
}

// cellsOf completes a cell of a table of the site by the cells of its rows. Cells to its
// left that name the row must be those of args.
func cellsOf(table *site.Table, i int) completer {
	return func(t *tool, c *cobra.Command, args []string, typed string) (list []offer) {
		t.peek(c, func(tx *objectdb.Tx) error {
			s, err := site.Read(tx)
			if err != nil {
				return err
			}
			if i == table.Action && i > 0 {
				for _, a := range s.Actions() {
					list = append(list, offer{text: a.Name})
				}
			}
			for _, row := range table.Rows(s) {
				o := offer{text: row[i]}
				if i < table.Keys && !slices.Equal(row[:i], args[:i]) || o.text == "" {
					continue
				}
				if i == table.Keys-1 {
					o.about = strings.Join(row[i+1:], " ")
				}
				if !slices.ContainsFunc(list, func(other offer) bool { return other.text == o.text }) {
					list = append(list, o)
				}
			}
			return nil
		})
		return beginning(typed, list)
	}
}

func mimeTypes(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, m := range s.MimeTypes() {
			o := offer{text: m.Type}
			if !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
		return nil
	})
	return beginning(typed, list)
}

// recordedNumbers completes the number of a recorded request, or its incident number once
// that is begun.
func recordedNumbers(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	t.peek(c, func(tx *objectdb.Tx) error {
		all, err := requestlog.All(tx)
		for _, r := range slices.Backward(all) {
			about := valuetext.Time(r.Time)
			if r.Answer != nil {
				about += " " + strconv.Itoa(r.Answer.Status)
			}
			about += " " + firstLine(r.Line(), 60)
			list = append(list, offer{text: strconv.Itoa(r.Number), about: about})
			if r.Incident != "" && typed != "" {
				list = append(list, offer{text: r.Incident, about: about})
			}
		}
		return err
	})
	return beginning(typed, list)
}

// changeNumbers completes the number of a change.
func changeNumbers(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	const most = 50
	t.peek(c, func(tx *objectdb.Tx) error {
		for change, err := range tx.Changes(0) {
			if err != nil || len(list) == most {
				return err
			}
			about := valuetext.Time(time.Unix(0, change.Time)) + ", " + history.Who(change.Origin) + ", " +
				valuetext.Count(change.Count, "object")
			list = append(list, offer{text: strconv.FormatInt(change.Generation, 10), about: about})
		}
		return nil
	})
	return beginning(typed, list)
}

// savedCopies completes the number or the name of a saved copy, else a file.
func savedCopies(t *tool, c *cobra.Command, args []string, typed string) (list []offer) {
	files(t, c, args, typed)
	copies, err := roots.Copies(t.rootName())
	if err != nil {
		return nil
	}
	for i, copied := range copies {
		about := copied.Time.Format("2006-01-02 15:04:05") + ", " + valuetext.Count(int(copied.Size), "byte")
		list = append(list, offer{text: strconv.Itoa(i + 1), about: about + ", " + filepath.Base(copied.Path)})
		if typed != "" {
			list = append(list, offer{text: filepath.Base(copied.Path), about: about})
		}
	}
	return beginning(typed, list)
}

func commandNames(_ *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	for _, sub := range c.Root().Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, offer{text: sub.Name(), about: sub.Short})
		}
	}
	return beginning(typed, list)
}

// inURL has the names of scripts that can be called by a URL.
var inURL = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_-]*$`)

// urlPaths completes the path of a URL: scripts, by the names of their tables, and the files
// with an action in the folder of --site.
func urlPaths(t *tool, c *cobra.Command, _ []string, typed string) (list []offer) {
	folder, last := path.Split(typed)
	if strings.ContainsAny(typed, "?$") || strings.Contains(typed, "..") {
		return nil
	}
	if folder == "" {
		folder = "/"
	}
	t.peek(c, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		extensions := map[string]string{}
		for _, m := range s.MimeTypes() {
			extensions[m.Extension] = m.Action
		}
		scripts, err := scriptPaths(tx, last, extensions)
		if err != nil && !objectdb.IsMissing(err) {
			return err
		}
		for _, o := range append(scripts, t.pages(c, folder, extensions)...) {
			o.text = folder + o.text
			list = append(list, o)
		}
		return nil
	})
	return beginning(folder+last, list)
}

// scriptPaths returns the scripts whose URL ends with a path segment that begins as typed.
func scriptPaths(tx *objectdb.Tx, typed string, extensions map[string]string) (list []offer, err error) {
	names := strings.Split(typed, ".")
	last := len(names) - 1
	scripts := objectdb.Address{"suites", "webserverScripts"}
	table, err := tx.Find(append(scripts, names[:last]...))
	if err != nil {
		return nil, err
	}
	head := strings.Join(names[:last], ".")
	endings := func(name, about string) {
		for extension, action := range extensions {
			if action == "SCRIPTER" {
				list = append(list, offer{text: name + extension, about: about})
			}
		}
	}
	if table.Kind() != objectdb.KindTable {
		endings(head, table.Kind().String())
		return list, nil
	}
	if head != "" {
		head += "."
	}
	found, err := namesIn(tx, table, names[last])
	if err != nil {
		return nil, err
	}
	for _, n := range found {
		switch name := head + n.name; {
		case !inURL.MatchString(n.name):
		case n.node == nil:
			list = append(list, offer{text: name, open: true})
		case n.node.Kind() == objectdb.KindTable:
			list = append(list, offer{text: name + ".", about: "table", open: true})
		default:
			endings(name, n.node.Kind().String())
		}
	}
	return list, nil
}

// pages returns the folders in a folder of the site, and its files with an action.
func (t *tool) pages(c *cobra.Command, folder string, extensions map[string]string) (list []offer) {
	flag := c.Flags().Lookup("site")
	if flag == nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(flag.Value.String(), filepath.FromSlash(folder)))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name[0] == '.':
		case e.IsDir():
			list = append(list, offer{text: name + "/", open: true})
		case extensions[strings.ToLower(path.Ext(name))] != "":
			list = append(list, offer{text: name, about: "page"})
		}
	}
	return list
}
