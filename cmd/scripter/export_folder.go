package main

import (
	"context"
	"fmt"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// exportFolder updates a folder with the objects at a.
func (t *tool) exportFolder(ctx context.Context, a objectdb.Address, dir string, f exportFlags) error {
	return t.viewAt(ctx, f.at, func(tx *objectdb.Tx) error {
		plan, err := objectfiles.PlanExport(tx, a, dir)
		if err != nil {
			return err
		}
		defer plan.Close()
		stopped := len(plan.InTheWay) > 0 && !f.mirror
		if !t.json {
			t.printExportPlan(plan, f)
		}
		if stopped {
			return t.inTheWay(plan, a, dir)
		}
		if !f.dryRun {
			if err := plan.Do(f.mirror); err != nil {
				return err
			}
		}
		if t.json {
			return t.printJSON(jsonExportPlan(plan, dir, f))
		}
		did := "exported"
		if f.dryRun {
			did = "would export"
		}
		fmt.Fprintf(t.out, "%s %s to %s%s\n", did, counted(plan.Objects, "object"), dir, exportCounts(plan, f))
		return nil
	})
}

// printExportPlan lists, before anything is done, the files that are removed and those
// that stay although the root does not have them; a dry run lists all.
func (t *tool) printExportPlan(p *objectfiles.ExportPlan, f exportFlags) {
	print := func(what, path string) { fmt.Fprintf(t.out, "%-9s %s\n", what, path) }
	if f.dryRun {
		for _, path := range p.Added {
			print("add", path)
		}
		for _, path := range p.Replaced {
			print("replace", path)
		}
	}
	for _, path := range p.Removed {
		print("remove", path)
	}
	if f.mirror {
		for _, o := range p.InTheWay {
			what := "overwrite"
			if o.Gone {
				what = "remove"
			}
			print(what, o.Path+": "+o.Why)
		}
	}
	for _, path := range p.Others {
		if f.mirror {
			print("remove", path+": it was not written by export")
		} else {
			print("leave", path+": it was not written by export")
		}
	}
}

// inTheWay returns the error of an export that stops because of files of others.
func (t *tool) inTheWay(p *objectfiles.ExportPlan, a objectdb.Address, dir string) error {
	text := ""
	for _, o := range p.InTheWay {
		text += "\n    " + o.Path + ": " + o.Why
	}
	err := fmt.Errorf("export to %s: nothing was written, because this is in the way:%s", dir, text)
	into := dir
	if len(a) > 0 {
		into += " " + a.String()
	}
	return hintError{err, fmt.Sprintf("\"scripter import %s\" takes edited files into the root; "+
		"--mirror overwrites and removes what is in the way", into)}
}

// exportCounts returns what an export changes in an existing folder.
func exportCounts(p *objectfiles.ExportPlan, f exportFlags) string {
	if p.Same+len(p.Replaced)+len(p.Removed)+len(p.InTheWay)+len(p.Others) == 0 {
		return ""
	}
	text := fmt.Sprintf(": %s added, %d replaced, %d removed, %d the same",
		counted(len(p.Added), "file"), len(p.Replaced), len(p.Removed), p.Same)
	switch n := len(p.InTheWay) + len(p.Others); {
	case n > 0 && f.mirror:
		text += fmt.Sprintf(", %d of others overwritten or removed", n)
	case n > 0:
		text += fmt.Sprintf(", %d of others left", n)
	}
	return text
}

func jsonExportPlan(p *objectfiles.ExportPlan, dir string, f exportFlags) map[string]any {
	list := func(paths []string) []string { return append([]string{}, paths...) }
	overwritten := []string{}
	for _, o := range p.InTheWay {
		overwritten = append(overwritten, o.Path)
	}
	m := map[string]any{
		"objects": p.Objects, "to": dir, "same": p.Same,
		"added": list(p.Added), "replaced": list(p.Replaced), "removed": list(p.Removed),
		"overwritten": overwritten, "others": list(p.Others), "mirror": f.mirror,
	}
	if f.dryRun {
		m["dryRun"] = true
	}
	return m
}
