package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// foundFile is a file that may be read.
type foundFile struct {
	real string // its path, links resolved
	base string // the allowed folder that it lies below, links resolved
	info os.FileInfo
}

// checkHidden returns an error if the path below the folder, with links resolved, has
// a hidden name.
func (f foundFile) checkHidden() error {
	if inside := strings.TrimPrefix(f.real, f.base); isHidden(inside) {
		return hidden(inside)
	}
	return nil
}

// open opens the file. It returns an error if a link that was created since the file
// was found leads out of the folder, or if the file is no longer a regular one.
func (f foundFile) open() (*os.File, os.FileInfo, error) {
	folder, err := os.OpenRoot(f.base)
	if err != nil {
		return nil, nil, notFound(err)
	}
	defer folder.Close()
	inside, err := filepath.Rel(f.base, f.real)
	if err != nil {
		return nil, nil, notFound(err)
	}
	file, err := folder.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would wait for a writer
	if err != nil {
		return nil, nil, notFound(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.real)
	}
	if err != nil {
		file.Close()
		return nil, nil, notFound(err)
	}
	return file, info, nil
}

func notFound(err error) error {
	status := 404
	if os.IsPermission(err) {
		status = 403
	}
	return &Error{Status: status, Message: err.Error(), Err: err}
}

// passOn finds the plain file that the URL of the request leads to, for a script that returned
// "": the web server shall serve the URL.
func (c *attempt) passOn() (foundFile, error) {
	if e, ok := c.Site().MimeType(filepath.Ext(c.target.Path)); ok && e.Action != "" {
		return foundFile{}, &Error{Status: 404, Message: c.target.Path + " is not a plain file that could be sent instead"}
	}
	if isHidden(c.target.Path) {
		return foundFile{}, hidden(c.target.Path)
	}
	found, err := c.findFile(c.pageFiles())
	if err == nil {
		err = found.checkHidden()
	}
	return found, err
}

// isHidden reports whether a path has a hidden name, such as .git.
func isHidden(path string) bool { return strings.Contains(filepath.ToSlash(path), "/.") }

func hidden(path string) error { return &Error{Status: 404, Message: path + " is hidden"} }

// openFile opens a file that is sent to a visitor. It refuses files that belong to a
// root.
func (g *Gateway) openFile(found foundFile) (*os.File, os.FileInfo, error) {
	refused := &Error{Status: 404, Message: found.real + " belongs to a root, or is its configuration"}
	// The root itself must not even be opened: closing it would release the locks that
	// this process holds on it.
	if belongsToRoot(filepath.Base(found.real)) || g.isOwn(found.info) {
		return nil, nil, refused
	}
	f, info, err := found.open()
	if err != nil {
		return nil, nil, err
	}
	head := make([]byte, 100)
	n, err := f.ReadAt(head, 0)
	switch {
	case err != nil && err != io.EOF:
		err = notFound(err)
	case objectdb.IsRoot(head[:n]):
		err = refused
	default:
		g.readFiles.Store(true)
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// isOwn reports whether a file is the gateway's own root, or one of the files that
// SQLite and objectdb keep beside it.
func (g *Gateway) isOwn(info os.FileInfo) bool {
	if g.db == nil {
		return false
	}
	return slices.ContainsFunc([]string{"", "-wal", "-shm", "-lock"}, func(suffix string) bool {
		own, err := os.Stat(g.db.Path() + suffix)
		return err == nil && os.SameFile(own, info)
	})
}

// rootSuffixes end the names of roots and of files beside them.
var rootSuffixes = []string{
	".root", ".root-wal", ".root-shm", ".root-journal", ".root-lock", ".root-door", ".part", ".saving", ".resident.log",
}

// belongsToRoot reports whether a file with this name is a root, a saved copy, an
// archive of replaced objects, another file beside a root, or a configuration file
// or a copy of one.
func belongsToRoot(name string) bool {
	name = strings.ToLower(name)
	for _, suffix := range []string{".undo-", ".redo-", ".undo.part-", ".redo.part-"} {
		if _, stamp, ok := strings.Cut(name, suffix); ok && stamp != "" && '0' <= stamp[0] && stamp[0] <= '9' {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(name, site.ConfFile); ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
		return true // also scripter.conf~ and scripter.conf.bak
	}
	return slices.ContainsFunc(rootSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// pageFiles returns where the page of the request may lie, best first.
func (c *attempt) pageFiles() []string {
	files := c.target.files(c.request.Params)
	if folder := c.Site().String(site.WebsiteFolderPath); folder != "" && c.request.Params["DOCUMENT_ROOT"] == "" {
		// A folder that is not listed is not searched.
		if c.g.Reach().Check(site.WebsiteFolderPath.Name, site.KeyPages, folder) == nil {
			files = append(files, strings.TrimSuffix(folder, "/")+c.target.Path)
		}
	}
	return files
}

// findFile returns the first of the files that is a regular one, with its real path.
// The file must lie below the document root, or below a folder that a setting names
// and that is listed for this root ([Reach]): a link must not lead anywhere else.
func (c *attempt) findFile(files []string) (foundFile, error) {
	if c.replay == nil || len(files) == 0 {
		return c.findFirst(files)
	}
	// A script may have written the recorded request.
	first := error(nil)
	for _, f := range files {
		found, err := c.findNamed(f)
		if err == nil {
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	return foundFile{}, first
}

// findFirst is findFile for paths that come from the web server.
func (c *attempt) findFirst(files []string) (foundFile, error) {
	first := error(nil)
	for _, f := range files {
		if found, ok := c.g.found.get(c, f); ok {
			c.request.trace("file %s", found.real)
			return found, nil
		}
		found, err := lookAt(f)
		if err == nil {
			if found.base, err = c.allowed(found.real); err != nil {
				return foundFile{}, err
			}
			c.request.trace("file %s", found.real)
			return c.g.found.put(c, f, found), nil
		}
		c.request.trace("file %s: %v", f, err)
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return foundFile{}, notFound(first)
	}
	folder := c.Site().String(site.WebsiteFolderPath)
	if folder == "" {
		return foundFile{}, notFound(fmt.Errorf(
			"the web server does not tell where the file of %s lies, and user.webserver.websiteFolderPath is not set",
			c.target.Path))
	}
	err := c.g.Reach().Check(site.WebsiteFolderPath.Name, site.KeyPages, folder)
	return foundFile{}, &Error{Status: 403, Message: fmt.Sprintf("%s: %v", c.target.Path, err), Err: err}
}

// lookAt resolves the links of a path, which must lead to a regular file. The base of the
// result is empty.
func lookAt(file string) (foundFile, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return foundFile{}, err
	}
	info, err := os.Lstat(real)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", file)
	}
	return foundFile{real: real, info: info}, err
}

// findNamed is findFile for a path that a script has named. It refuses a path outside
// the allowed folders before it looks at the disk, and returns one error for all other
// failures: a script must not learn which files exist.
func (c *attempt) findNamed(file string) (foundFile, error) {
	file = filepath.Clean(file)
	found, known := c.g.found.get(c, file) // a moment ago it was allowed
	var err error
	if !known {
		if _, err = c.allowed(file); err != nil {
			return foundFile{}, err
		}
		found, err = c.findFirst([]string{file})
	}
	if err == nil {
		err = found.checkHidden()
	}
	if err != nil {
		c.request.trace("%v", err)
		return foundFile{}, &Error{Status: 404, Err: err, Message: fmt.Sprintf(
			"there is no page at %s: no regular file that may be read, "+
				"or a link leads out of the folders that pages come from", file)}
	}
	return found, nil
}

// documentRoot returns the document root that the web server names, or "" if it is
// unknown. A recorded request lies in the root, where scripts can write: when it runs
// again, its document root counts only if the caller of Replay names the same.
func (x *exchange) documentRoot() string {
	root := x.request.Params["DOCUMENT_ROOT"]
	if root == "" || x.replay != nil && filepath.Clean(root) != filepath.Clean(x.replay.DocumentRoot) {
		return ""
	}
	return root
}

// allowed returns the folder, without links, that a path lies below. It returns an
// error if pages may not come from there. No script decides which folders are allowed.
func (c *attempt) allowed(path string) (base string, err error) {
	if base, ok := below(path, c.documentRoot()); ok {
		return base, nil
	}
	chosen, unlisted := c.pageFolders()
	for _, folder := range chosen {
		if _, ok := below(path, folder); !ok {
			continue
		}
		for _, listed := range c.g.Reach().Pages {
			if base, ok := below(path, listed); ok {
				return base, nil
			}
		}
	}
	for _, u := range unlisted {
		// Links are not followed here: the error would tell what is at u.Value.
		if site.IsBelow(path, []string{filepath.Clean(u.Value)}) {
			return "", &Error{Status: 403, Message: path + ": " + u.Error(), Err: u}
		}
	}
	return "", &Error{Status: 403, Message: fmt.Sprintf(
		"%s lies in no folder that pages come from: neither the document root nor a folder that scripter.conf lists "+
			"and user.webserver.websiteFolderPath or user.webserver.pageFolders names", path)}
}

// pageFolders returns the folders that the root names for pages: those that are
// listed, and an error for each of the others.
func (c *attempt) pageFolders() (chosen []string, unlisted []*site.Unlisted) {
	add := func(setting, folder string) {
		if err := c.g.Reach().Check(setting, site.KeyPages, folder); err == nil {
			chosen = append(chosen, folder)
		} else if u := (*site.Unlisted)(nil); errors.As(err, &u) {
			unlisted = append(unlisted, u)
		}
	}
	if root := c.request.Params["DOCUMENT_ROOT"]; root != "" && c.documentRoot() == "" {
		add("", root)
	}
	if folder := c.Site().String(site.WebsiteFolderPath); folder != "" {
		add(site.WebsiteFolderPath.Name, folder)
	}
	for _, folder := range c.Site().PageFolders() {
		add("pageFolders", folder)
	}
	return chosen, unlisted
}

// below reports whether a path lies below a folder, which may be a link, and returns
// the folder without links.
func below(path, folder string) (base string, ok bool) {
	if folder == "" || filepath.Clean(folder) == "/" {
		return "", false
	}
	base, err := filepath.EvalSymlinks(folder)
	if err != nil || base == "/" {
		return "", false
	}
	return base, strings.HasPrefix(path, base+"/") || strings.HasPrefix(path, filepath.Clean(folder)+"/")
}

// foundFiles caches for a moment where paths lead, because resolving the links of a path is slow.
// Each use checks that the path still leads to the same file.
type foundFiles struct {
	mu    sync.Mutex
	files map[foundKey]cachedFile
}

type foundKey struct{ file, root string } // root is the document root

type cachedFile struct {
	foundFile
	site *site.Snapshot // it says which folders are allowed
	at   time.Time      // when the links were resolved
}

const (
	foundTime = time.Second // after which the links of a path are resolved again
	maxFound  = 10_000      // more paths empty the cache
)

// get returns what a file is now, if its path was resolved a moment ago for the same document
// root and the same site.
func (ff *foundFiles) get(c *attempt, file string) (foundFile, bool) {
	ff.mu.Lock()
	cached, ok := ff.files[foundKey{file, c.documentRoot()}]
	ff.mu.Unlock()
	if !ok || cached.site != c.Site() || time.Since(cached.at) > foundTime {
		return foundFile{}, false
	}
	now, err := os.Stat(file)
	if err != nil || !unchanged(now, cached.info) || !now.Mode().IsRegular() {
		return foundFile{}, false
	}
	return foundFile{cached.real, cached.base, now}, true
}

// forget empties the cache, so that all links are resolved again.
func (ff *foundFiles) forget() {
	ff.mu.Lock()
	defer ff.mu.Unlock()
	ff.files = nil
}

// unchanged reports whether a and b describe the same unchanged file. A new file often gets the
// inode number of one that was removed, so the number alone is not enough.
func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// put caches where a path leads, and returns it.
func (ff *foundFiles) put(c *attempt, file string, f foundFile) foundFile {
	ff.mu.Lock()
	defer ff.mu.Unlock()
	if ff.files == nil || len(ff.files) >= maxFound {
		ff.files = make(map[foundKey]cachedFile)
	}
	ff.files[foundKey{file, c.documentRoot()}] = cachedFile{f, c.Site(), time.Now()}
	return f
}
