package objectfiles

import (
	"fmt"
	"strings"
)

// Names in an archive are ASCII, because the folder form escapes every other byte. So names
// that another system would take for another name (absolute ones, "..", backslashes, case,
// writing direction) can be refused.

// checkArchiveName returns an error if no file or folder of an archive may have this path. The
// error shows the name so that none of its characters does harm.
func checkArchiveName(name string) error {
	refused := func(why string) error {
		if len(name) > 200 {
			name = name[:200] + "…"
		}
		return fmt.Errorf("%w: the name %+q %s", ErrArchive, name, why)
	}
	switch {
	case name == "":
		return refused("is empty")
	case len(name) > maxArchiveName:
		return refused(fmt.Sprintf("has more than %d bytes", maxArchiveName))
	case name[0] == '/':
		return refused("is absolute")
	case strings.IndexByte(name, '\\') >= 0:
		return refused("holds a backslash")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxArchiveDepth+2 {
		return refused(fmt.Sprintf("lies more than %d folders deep", maxArchiveDepth))
	}
	for _, part := range parts {
		switch {
		case part == "":
			return refused("has an empty part")
		case part == "." || part == "..":
			return refused(`has a part "` + part + `"`)
		case isHidden(part):
			return refused("is that of a hidden file")
		case len(part) > maxFileName:
			return refused(fmt.Sprintf("has a part of more than %d bytes", maxFileName))
		}
		for i := range len(part) {
			if c := part[i]; c != '%' && !isFileByte(c) {
				return refused(fmt.Sprintf("holds the byte %#02x, which the folder form writes %%%02X", c, c))
			}
		}
	}
	if name != manifestFile && name != readmeFile && parts[0] != objectsFolder {
		return refused("belongs to no Scripter archive")
	}
	return nil
}

// archiveNames are the names of the files and folders of an archive. No two are the same
// without regard to case.
type archiveNames struct {
	names map[string]archiveName // by name in lower case
	most  int
}

type archiveName struct {
	name   string
	folder bool
	entry  bool // the archive has an entry for it; else it is only the folder of another one
}

func newArchiveNames(most int) *archiveNames {
	return &archiveNames{names: map[string]archiveName{}, most: most}
}

// add adds a file or folder and the folders that it is in.
func (x *archiveNames) add(name string, folder bool) error {
	if err := checkArchiveName(name); err != nil {
		return err
	}
	low := strings.ToLower(name)
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if err := x.put(low[:i], archiveName{name: name[:i], folder: true}); err != nil {
			return err
		}
	}
	return x.put(low, archiveName{name, folder, true})
}

func (x *archiveNames) put(low string, n archiveName) error {
	other, exists := x.names[low]
	switch {
	case !exists && len(x.names) >= x.most:
		return errManyFiles(x.most)
	case !exists:
	case other.name != n.name:
		return fmt.Errorf("%w: %q and %q differ only in case", ErrArchive, other.name, n.name)
	case other.folder != n.folder:
		return fmt.Errorf("%w: %q is both a file and a folder", ErrArchive, n.name)
	case other.entry && n.entry:
		return fmt.Errorf("%w: it holds %q twice", ErrArchive, n.name)
	case other.entry || !n.entry:
		return nil
	}
	x.names[low] = n
	return nil
}
