package objectfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// Do carries the plan out. If something is in the way, it writes nothing and returns
// ErrInTheWay; but a mirror overwrites that, and removes the others.
//
// Each file appears whole. An interrupted export can be run again, because it first notes
// which files it will write.
func (p *ExportPlan) Do(mirror bool) error {
	if err := p.do(mirror); err != nil {
		return p.folderError(err)
	}
	return nil
}

func (p *ExportPlan) do(mirror bool) error {
	if len(p.InTheWay) > 0 && !mirror {
		return ErrInTheWay
	}
	if err := p.folder.create(); err != nil {
		return err
	}
	if err := p.folder.removeParts(); err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	if mirror {
		if err := p.removeObstacles(); err != nil {
			return err
		}
	}
	for _, f := range p.order {
		if !f.write {
			continue
		}
		if err := p.writeFile(f, mirror); err != nil {
			return fmt.Errorf("%s: %w", f.path, pathError(err))
		}
	}
	for _, name := range p.Removed {
		if err := p.removeFile(name); err != nil {
			return fmt.Errorf("%s: %w", name, pathError(err))
		}
	}
	p.note.Begun = nil
	p.note.Files = make(map[string]string, len(p.order))
	for _, f := range p.order {
		p.note.Files[f.path] = f.sum.String()
	}
	return p.writeNote()
}

// begin notes the present files and the planned ones, so that after an interrupted export
// both count as written by an export.
func (p *ExportPlan) begin() error {
	p.note.Files = make(map[string]string, len(p.replaceable))
	for name, sum := range p.replaceable {
		p.note.Files[name] = sum.String()
	}
	p.note.Begun = map[string]string{}
	for _, f := range p.order {
		if f.write {
			p.note.Begun[f.path] = f.sum.String()
		}
	}
	if len(p.note.Begun) == 0 && len(p.Removed) == 0 {
		return nil // do writes the only note
	}
	return p.writeNote()
}

// writeFile writes one file of the plan.
func (p *ExportPlan) writeFile(f *exportFile, mirror bool) error {
	if err := context.Cause(p.tx.Context()); err != nil {
		return err
	}
	if err := p.checkUnchanged(f.path, mirror); err != nil {
		return err
	}
	content := f.index
	if f.node != nil {
		v, err := p.tx.Value(f.node)
		if err != nil {
			return err
		}
		content = FileOf(f.node.Name(), v).Content
	}
	return p.folder.write(f.path, content)
}

// checkUnchanged returns an error if somebody has written a file since the plan was made.
func (p *ExportPlan) checkUnchanged(name string, mirror bool) error {
	if _, err := p.folder.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	planned, exists := p.replaceable[name]
	if !exists {
		if mirror && p.blocked[name] {
			return nil
		}
		return fmt.Errorf("%w: it was made meanwhile", ErrInTheWay)
	}
	sum, err := p.folder.sum(name)
	if err == nil && sum != planned {
		err = fmt.Errorf("%w: it was changed meanwhile", ErrInTheWay)
	}
	return err
}

// removeFile removes a file whose object no longer exists, and the folders that are empty then.
func (p *ExportPlan) removeFile(name string) error {
	err := p.checkUnchanged(name, false)
	if err == nil {
		err = p.folder.root.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); !p.tables[dir]; dir = path.Dir(dir) {
		if p.folder.root.Remove(dir) != nil {
			break
		}
	}
	return nil
}

// removeObstacles removes for a mirror the files in the place of folders, the folders in the
// place of files, and the others.
func (p *ExportPlan) removeObstacles() error {
	for _, o := range p.InTheWay {
		info, err := p.folder.root.Lstat(o.Path)
		if errors.Is(err, fs.ErrNotExist) || o.Path == "." {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Path, pathError(err))
		}
		if p.files[o.Path] != nil && info.Mode().IsRegular() {
			continue // writeFile replaces it
		}
		if err := p.removeAll(o.Path); err != nil {
			return err
		}
	}
	for _, name := range p.Others {
		if err := p.removeAll(strings.TrimSuffix(name, "/")); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a file, or a folder with everything in it that is neither hidden nor
// README.md. A folder that is not empty then stays.
func (p *ExportPlan) removeAll(name string) error {
	info, err := p.folder.root.Lstat(name)
	if err == nil && info.IsDir() {
		var entries []fs.DirEntry
		if entries, err = p.folder.list(name); err != nil {
			return fmt.Errorf("%s: %w", name, pathError(err))
		}
		for _, e := range entries {
			if !isHidden(e.Name()) && !isReadme(e.Name()) {
				if err := p.removeAll(path.Join(name, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	if err == nil {
		err = p.folder.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) && p.files[name] == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, pathError(err))
	}
	return nil
}

// writeNote writes the note, unless it is there already.
func (p *ExportPlan) writeNote() error {
	content := p.note.encode()
	if present, err := p.folder.root.ReadFile(exportNoteFile); err == nil && string(present) == string(content) {
		return nil
	}
	if err := p.folder.write(exportNoteFile, content); err != nil {
		return fmt.Errorf("%s: %w", exportNoteFile, pathError(err))
	}
	return nil
}
