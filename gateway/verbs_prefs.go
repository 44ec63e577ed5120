package gateway

import (
	"errors"

	"scripter/autosave"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// prefsVerbs read settings and set them up.
var prefsVerbs = []script.Verb{
	{
		Name:    "webserver.getPref",
		Doc:     "A setting, else an object of user.webserver.prefs, else false.",
		Params:  []script.Param{script.Arg("name", "string", "in any case")},
		Results: script.Returns("any", ""),
		Example: `webserver.getPref ("chunkSize")`,
		Gives:   "24",
		Func:    verbGetPref,
	},
	{
		Name: "webserver.setDirtyRoot",
		Doc:  "Sets the dirty root flag, which tells the auto-save agent that there is something to save.",
		Example: `webserver.setDirtyRoot ()
return tostring (user.webserver.flDirtyRoot)`,
		Gives: "true",
		Func:  verbSetDirtyRoot,
	},
	{
		Name: "webserver.init",
		Doc: "Makes what is missing at user.webserver: settings with their defaults, and copies of " +
			"what lies at suites.webserver.data. Nothing that is there is touched.",
		Results: script.Returns("string[]", "the addresses of what was made"),
		Errors:  "an object at user.webserver where there should be a table",
		Example: `user.webserver.chunkSize = nil
return table.concat (webserver.init (), " ")`,
		Gives: "user.webserver.chunkSize",
		Func:  verbInit,
	},
}

func verbGetPref(v *script.Call) error {
	tx, name := v.Thread().Tx(), v.String(1)
	for _, set := range site.Settings {
		if objectdb.Fold(set.Name) == objectdb.Fold(name) {
			s, err := siteOf(v.Thread())
			if err != nil {
				return err
			}
			v.Return(s.Value(set))
			return nil
		}
	}
	n, err := tx.Find(objectdb.Address{"user", "webserver", "prefs", name})
	if err != nil && !errors.Is(err, objectdb.ErrNotFound) && !errors.Is(err, objectdb.ErrNotTable) {
		return err
	}
	if err == nil && n.Kind() != objectdb.KindTable {
		value, err := tx.Value(n)
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
	return autosave.SetDirtyRoot(v.Thread().Tx())
}

func verbInit(v *script.Call) error {
	tx := v.Thread().Tx()
	made := script.NewTable()
	for _, s := range site.Settings {
		_, err := tx.Stat(s.Address())
		if errors.Is(err, objectdb.ErrNotFound) {
			err = tx.Put(s.Address(), s.Default)
			made.Append(s.Address().String())
		}
		if err != nil {
			return err
		}
	}
	if err := addMissing(tx, suppliedData, objectdb.Address{"user", "webserver"}, made); err != nil {
		return err
	}
	v.Return(made)
	return nil
}

// suppliedData is where the objects lie that an owner of a root is given.
var suppliedData = objectdb.Address{"suites", "webserver", "data"}

// addMissing copies what lies below from and is missing below to. It tells in
// made what it copied.
func addMissing(tx *objectdb.Tx, from, to objectdb.Address, made *script.Table) error {
	list, err := tx.List(from)
	if err != nil {
		return err
	}
	for _, o := range list {
		source, target := from.Child(o.Name), to.Child(o.Name)
		there, err := tx.Stat(target)
		switch {
		case errors.Is(err, objectdb.ErrNotFound):
			err = tx.Copy(source, target)
			made.Append(target.String())
		case err == nil && o.Kind == objectdb.KindTable && there.Kind == objectdb.KindTable:
			err = addMissing(tx, source, target, made)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
