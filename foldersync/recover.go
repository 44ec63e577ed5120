package foldersync

import "slices"

// recover corrects the base after an interrupted sync. The history of the root says whether it has
// changed the root, and the progress file which files it has written. What was done is the base; what
// was not done is as the base says. A file that was just being written, and that is not as before and not as
// it should be, may have been written by both: then the base is that of no side.
func (p *plan) recover(g *begun) error {
	committed, err := p.committed(g)
	if err != nil {
		return err
	}
	for i, b := range g.Items {
		it := p.items[b.Key]
		if it == nil {
			if p.scan.dropped[b.Key] {
				continue
			}
			it = &item{key: b.Key} // both sides have nothing now
			it.base = p.base.items[b.Key]
			p.items[b.Key] = it
		}
		if b.ToRoot && !committed {
			continue // nothing was done
		}
		progress := g.progress[i]
		switch {
		case !b.ToFiles, progress == progressDone, it.inFiles() == b.Want:
			it.setBase(b.Want)
		case progress == 0, it.fileIs(b):
			if b.ToRoot { // the root has what was merged with this file
				it.setBase(b.File)
			}
		case it.file == nil && b.File.exists() && b.Want.exists() && b.File.isTable() != b.Want.isTable():
			it.base = nil // the old file was removed before the new folder was made, or the other way round
		default:
			it.setBase(object{nameOr(b.Want.Name, it.nameAnywhere()), unknownSum})
		}
	}
	p.keys = sortedKeys(p.items)
	return nil
}

// saveRecovered writes the corrected base, so that it is known when this sync is interrupted too.
func (p *plan) saveRecovered() error {
	next := p.newBase()
	next.Root.Generation, next.Whole, next.Ignore = p.base.Root.Generation, false, p.base.Ignore
	for _, key := range p.keys {
		if b := p.items[key].base; b != nil {
			again := *b
			p.addToBase(next, key, &again)
		}
	}
	return p.saveBase(next)
}

// committed reports whether the interrupted sync has changed the root.
func (p *plan) committed(g *begun) (bool, error) {
	if p.tx.Generation() == g.Generation || !slices.ContainsFunc(g.Items, func(b begunItem) bool { return b.ToRoot }) {
		return false, nil
	}
	for c, err := range p.tx.Changes(0) {
		if err != nil {
			return false, err
		}
		if c.Generation <= g.Generation {
			break
		}
		if c.Origin == g.Origin {
			return true, nil
		}
	}
	// The root may not keep the history of these objects.
	return slices.ContainsFunc(g.Items, func(b begunItem) bool {
		it := p.items[b.Key]
		return b.ToRoot && it != nil && it.inRoot() == b.Want && b.Want != b.Root
	}), nil
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// fileIs reports whether the file of an item is the one that was there when the interrupted sync began.
func (it *item) fileIs(b begunItem) bool {
	switch {
	case it.file == nil || !b.File.exists():
		return false // it may have been made and removed
	case it.file.isTable() || b.File.isTable():
		return it.file.object == b.File
	}
	return it.file.stat.sameContent(b.Stat)
}

// setBase gives an item another base.
func (it *item) setBase(o object) {
	if !o.exists() {
		it.base = nil
		return
	}
	b := &baseItem{object: o}
	switch {
	case it.base != nil:
		b.Path = it.base.Path
	case it.file != nil:
		b.Path = it.file.path
	case it.root != nil:
		b.Path = it.root.fileName
	default:
		b.Path = "gone"
	}
	it.base = b
}
