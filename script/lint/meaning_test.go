package lint

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/script"
)

func meaningRoot(t *testing.T) (*objectdb.DB, *script.Table) {
	db := newDB(t, map[string]objectdb.Value{
		"user.name": objectdb.String("Ada"), "user.Prefs.colour": objectdb.String("red"), `user.["odd name"]`: objectdb.Number(1),
		"suites.shop.add": objectdb.Script("return 1"), "suites.test": objectdb.String("hides the verbs"),
		"system.verbs.builtins.own": objectdb.Script("return 2"),
	})
	names := script.NewTable()
	names.Set("scriptName", "/x.fcgi")
	names.Set("searchTable", script.NewTable())
	return db, names
}

// TestFind checks what names mean, in the order in which a script looks for them.
func TestFind(t *testing.T) {
	db, names := meaningRoot(t)
	within(t, db, names, func(th *script.Thread) {
		for name, want := range map[string]string{
			"user":                          "table user",
			"USER.prefs":                    "table user.Prefs",
			"user.Prefs.Colour":             "string user.Prefs.colour",
			"user.odd name":                 `number user.["odd name"]`,
			"shop":                          "table suites.shop",
			"shop.add":                      "script suites.shop.add",
			"own":                           "script system.verbs.builtins.own",
			"test":                          "string suites.test",
			"deep":                          "library deep",
			"deep.er":                       "library er",
			"deep.er.verb":                  "function deep.er.verb ()",
			"system.verbs.builtins.deep.er": "library er",
			"scriptname":                    "parameter scriptName",
			"string":                        "library string",
			"string.rep":                    "function string.rep",
			"pairs":                         "function pairs",
			"odb":                           "library odb",
			"odb.get":                       "function odb.get (address [, default])",
			"require":                       "function require (name)",
			"while":                         "keyword while",
			"user.none":                     "", "none": "", "none.at.all": "", "user.name.x": "", "string.none": "", "odb.none": "",
			"deep.none": "", "searchTable.x": "", "": "", "user.": "", ".user": "", "user..name": "", "a\x00b": "",
		} {
			m, err := Find(th, strings.Split(name, ".")...)
			require.NoError(t, err, name)
			got := ""
			if m != nil {
				got = m.Kind + " " + m.Title
				assert.Equal(t, m.Node != nil, m.Address != nil, name)
			}
			assert.Equal(t, strings.ToLower(want), strings.ToLower(got), name)
		}
		m, err := Find(th)
		assert.Nil(t, m)
		assert.NoError(t, err)
		m, err = Find(th, "odb", "get")
		require.NoError(t, err)
		assert.Contains(t, m.Text, "What is there; else the default, else nil.")
		assert.Contains(t, m.Text, "\ngives none")
	})
}

// TestComplete checks with which names one that was typed in part may go on.
func TestComplete(t *testing.T) {
	db, names := meaningRoot(t)
	within(t, db, names, func(th *script.Thread) {
		for typed, want := range map[string]string{
			"us":           "user table",
			"US":           "user table",
			"user.":        "name string, Prefs table", // "odd name" cannot be written after a dot
			"user.pr":      "Prefs table",
			"user.Prefs.c": "colour string",
			"sc":           "scriptName parameter",
			"sh":           "shop table",
			"te":           "test string",
			"deep.":        "er library",
			"deep.er.":     "verb function deep.er.verb ()",
			"string.re":    "rep function, reverse function",
			"odb.mov":      "move function odb.move (from, to)",
			"whi":          "while keyword",
			"requ":         "require function",
			"user.name.":   "", "none.": "", "zzz": "", "user.name": "name string", ".": "", "..": "",
		} {
			list, err := Complete(th, typed, 50)
			require.NoError(t, err, typed)
			var got []string
			for _, c := range list {
				got = append(got, strings.TrimSpace(c.Name+" "+c.Kind+" "+c.Detail))
			}
			assert.Equal(t, want, strings.Join(got, ", "), typed)
		}
		all, err := Complete(th, "", 1000)
		require.NoError(t, err)
		for _, name := range []string{"user", "shop", "own", "deep", "scriptName", "string", "odb", "pairs", "end"} {
			found := false
			for _, c := range all {
				found = found || c.Name == name
			}
			assert.True(t, found, name)
		}
		few, err := Complete(th, "", 3)
		require.NoError(t, err)
		assert.Len(t, few, 3)
	})
}

// TestCompleteInLargeTable checks that a large table is not read as a whole.
func TestCompleteInLargeTable(t *testing.T) {
	objects := map[string]objectdb.Value{}
	for i := range 500 {
		objects["user.t.n"+strconv.Itoa(i)] = objectdb.Number(i)
	}
	db := newDB(t, objects)
	within(t, db, nil, func(th *script.Thread) {
		list, err := Complete(th, "user.t.n49", 5)
		require.NoError(t, err)
		var names []string
		for _, c := range list {
			names = append(names, c.Name)
		}
		assert.Equal(t, []string{"n49", "n490", "n491", "n492", "n493"}, names)
	})
}
