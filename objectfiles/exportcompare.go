package objectfiles

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"scripter/objectdb"
)

// compare compares the plan with the content of the folder; a is the address of the
// exported object.
func (p *ExportPlan) compare(a objectdb.Address) error {
	before := p.note
	p.note = exportNote{Form: exportNoteForm, Address: a.String()}
	for _, f := range p.order {
		f.write = true
	}
	if before.Form != 0 && before.Address != p.note.Address {
		of := "the whole root"
		if before.Address != "" {
			of = before.Address
		}
		p.block(".", "the folder holds an export of "+of)
	}
	if p.folder.root != nil {
		if err := p.compareFolder(".", before); err != nil {
			return err
		}
	}
	for _, f := range p.order {
		if _, exists := p.replaceable[f.path]; f.write && !exists && !p.blocked[f.path] {
			p.Added = append(p.Added, f.path)
		}
	}
	slices.Sort(p.Added)
	return nil
}

// block adds an obstacle.
func (p *ExportPlan) block(path, why string) {
	p.InTheWay = append(p.InTheWay, Obstacle{path, why, p.files[path] == nil && !p.tables[path]})
	p.blocked[path] = true
}

// compareFolder compares the files in a folder, and in the folders in it, with the plan.
func (p *ExportPlan) compareFolder(dir string, before exportNote) error {
	entries, err := p.folder.list(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, pathError(err))
	}
	for _, e := range entries {
		if isHidden(e.Name()) {
			continue
		}
		if err := context.Cause(p.tx.Context()); err != nil {
			return err
		}
		if err := p.compareEntry(path.Join(dir, e.Name()), e, before); err != nil {
			return err
		}
	}
	return nil
}

func (p *ExportPlan) compareEntry(name string, e fs.DirEntry, before exportNote) error {
	wanted := p.files[name]
	switch {
	case p.tables[name] && e.IsDir():
		return p.compareFolder(name, before)
	case p.tables[name]:
		p.block(name, "it is "+entryWord(e)+", and a folder must be there")
	case wanted != nil && !e.Type().IsRegular():
		p.block(name, "it is "+entryWord(e)+", and a file must be there")
	case e.IsDir() && p.noteFolders[name]:
		return p.compareFolder(name, before)
	case e.IsDir():
		p.Others = append(p.Others, name+"/")
	case e.Type().IsRegular() && (wanted != nil || before.lists(name)):
		return p.compareFile(name, wanted, before)
	case !isReadme(e.Name()):
		p.Others = append(p.Others, name)
	}
	return nil
}

// compareFile compares a file that must be there, or that an export wrote, with the plan.
func (p *ExportPlan) compareFile(name string, wanted *exportFile, before exportNote) error {
	sum, err := p.folder.sum(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, pathError(err))
	}
	switch {
	case wanted != nil && sum == wanted.sum:
		wanted.write = false
		p.replaceable[name] = sum
		p.Same++
	case !before.lists(name):
		p.block(name, "it was not written by export")
	case !before.wrote(name, sum) && wanted == nil:
		p.block(name, "it was changed since the last export, and its object is gone")
	case !before.wrote(name, sum):
		p.block(name, "it was changed since the last export")
	case wanted == nil:
		p.Removed = append(p.Removed, name)
		p.replaceable[name] = sum
	default:
		p.Replaced = append(p.Replaced, name)
		p.replaceable[name] = sum
	}
	return nil
}
