package foldersync

import "scripter/objectdb"

// recover corrects the base after an interrupted sync. The history of the root shows whether that
// sync has changed the root, and the progress file shows which files it has written. What it has
// written becomes the base; for the rest, the base stays. The sync may have been writing a file
// whose content is now neither the old nor the new one. Then the base is that of no side, so that the
// object is in conflict.
func (p *plan) recover(g *begun) error {
	committed, complete, err := p.committed(g)
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
			switch { // nothing was written, if the history is complete
			case it.inRoot() == b.Want && !b.ToFiles:
				it.setBase(b.Want)
			case !complete && !it.rootIs(b):
				it.setBase(object{nameOr(b.Want.Name, it.nameAnywhere()), unknownSum})
			}
			continue
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
	for _, it := range p.items {
		if both := it.inFiles(); both == it.inRoot() && both != it.base.of() {
			it.setBase(both)
		}
	}
	p.keys = sortedKeys(p.items)
	return nil
}

// saveRecovered writes the corrected base, in case this sync is interrupted too.
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

// committed reports whether the interrupted sync has changed the root, and whether the history of
// the root is complete since then.
func (p *plan) committed(g *begun) (committed, complete bool, err error) {
	if p.tx.Generation() == g.Generation {
		return false, true, nil
	}
	for c, err := range p.tx.Changes(0) {
		if err != nil {
			return false, false, err
		}
		if c.Generation <= g.Generation {
			break
		}
		if c.Origin != g.Origin {
			continue
		}
		if ours, err := p.changes(c.Generation, g); ours || err != nil {
			return ours, true, err
		}
	}
	reach, _, err := p.tx.Reach()
	return false, reach <= g.Generation, err
}

// changes reports whether a change has changed an object that the interrupted sync was about to
// change. Another folder may be synced with the same origin.
func (p *plan) changes(generation int64, g *begun) (bool, error) {
	ours := map[string]bool{}
	for _, b := range g.Items {
		if b.ToRoot {
			ours[keyOf(p.options.Address)+b.Key] = true
		}
	}
	for o, err := range p.tx.ChangedObjects(generation) {
		if err != nil {
			return false, err
		}
		for _, state := range []*objectdb.ObjectState{o.Before, o.After} {
			if state != nil && ours[keyOf(state.Address)] {
				return true, nil
			}
		}
	}
	return false, nil
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// fileIs reports whether the file of an item is the one that was there when the interrupted
// sync began.
func (it *item) fileIs(b begunItem) bool {
	switch {
	case it.file == nil || !b.File.exists():
		return false // the file may have been made and removed meanwhile
	case it.file.isTable() || b.File.isTable():
		return it.file.object == b.File
	}
	return it.file.stat.sameContent(b.Stat)
}

// rootIs reports whether the object of an item is as it was when the interrupted sync began.
func (it *item) rootIs(b begunItem) bool {
	switch {
	case it.root == nil || !b.Root.exists():
		return it.root == nil && !b.Root.exists()
	case it.root.isTable() || b.Root.isTable():
		return it.root.object == b.Root && it.root.id == b.ID
	}
	return it.root.id == b.ID && it.root.version == b.Version
}

// setBase gives an item another base.
func (it *item) setBase(o object) {
	if !o.exists() {
		it.base = nil
		return
	}
	b := &baseItem{object: o}
	switch {
	case it.file != nil:
		b.Path = it.file.path
	case it.base != nil:
		b.Path = it.base.Path
	case it.root != nil:
		b.Path = it.root.fileName
	default:
		b.Path = "gone"
	}
	it.base = b
}
