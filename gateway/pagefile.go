package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// foundFile is a file that [call.findFile] has found: the path that it really
// has, and what is there.
type foundFile struct {
	real string
	info os.FileInfo
}

// findFile gives the first of the files that is a regular one, as the path
// without links that it really has. It must lie below the document root, the
// website folder, or a folder of user.webserver.pageFolders: the web server
// is asked for a URL, and a link must not lead anywhere else.
func (c *call) findFile(files []string) (foundFile, error) {
	first := error(nil)
	for _, f := range files {
		if known, ok := c.g.found.get(c, f); ok {
			c.r.trace("file %s", known.real)
			return known, nil
		}
		real, err := filepath.EvalSymlinks(f)
		var info os.FileInfo
		if err == nil {
			if info, err = os.Lstat(real); err == nil && !info.Mode().IsRegular() {
				err = fmt.Errorf("%s is no regular file", f)
			}
		}
		if err == nil {
			if !c.allowed(real) {
				return foundFile{}, &Error{Status: 403, Message: fmt.Sprintf("%s lies in no folder that pages come from (document root, user.webserver.websiteFolderPath, user.webserver.pageFolders)", real)}
			}
			c.r.trace("file %s", real)
			return c.g.found.put(c, f, real, info), nil
		}
		c.r.trace("file %s: %v", f, err)
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = fmt.Errorf("the web server does not tell where the file of %s lies", c.target.Path)
	}
	status := 404
	if os.IsPermission(first) {
		status = 403
	}
	return foundFile{}, &Error{Status: status, Message: first.Error(), Err: first}
}

func (c *call) allowed(real string) bool {
	if below(real, c.r.Params["DOCUMENT_ROOT"]) || below(real, c.settings.string(websiteFolderPath)) {
		return true
	}
	folders := []string(nil)
	if r := c.settings.known(); r != nil {
		folders = r.folders
	} else {
		folders = c.settings.pageFolders()
	}
	return slices.ContainsFunc(folders, func(f string) bool { return below(real, f) })
}

// below tells whether a real path lies below a folder, which may be a link.
func below(real, folder string) bool {
	if folder == "" || folder == "/" {
		return false
	}
	if strings.HasPrefix(real, strings.TrimSuffix(folder, "/")+"/") {
		return true
	}
	r, err := filepath.EvalSymlinks(folder)
	return err == nil && r != "/" && strings.HasPrefix(real, r+"/")
}

// foundFiles remembers for a moment which files pages come from: to follow a
// path link by link takes longer than to expand most pages. That the path still
// leads to the same file is asked each time.
type foundFiles struct {
	mu    sync.Mutex
	files map[foundKey]rememberedFile
}

type foundKey struct{ file, root string } // root is the document root

type rememberedFile struct {
	foundFile
	rules *rules    // which folders are allowed
	at    time.Time // when the path was followed
}

// A path is followed anew after foundMemory; beyond foundMost all are forgotten.
const (
	foundMemory = time.Second
	foundMost   = 10_000
)

// get gives what a file is now, if its path was followed a moment ago for the
// same document root and by the same rules.
func (ff *foundFiles) get(c *call, file string) (foundFile, bool) {
	r := c.settings.known()
	if r == nil {
		return foundFile{}, false
	}
	ff.mu.Lock()
	known, ok := ff.files[foundKey{file, c.r.Params["DOCUMENT_ROOT"]}]
	ff.mu.Unlock()
	if !ok || known.rules != r || time.Since(known.at) > foundMemory {
		return foundFile{}, false
	}
	now, err := os.Stat(file)
	if err != nil || !unchanged(now, known.info) || !now.Mode().IsRegular() {
		return foundFile{}, false
	}
	return foundFile{known.real, now}, true
}

// unchanged tells whether two looks at a path have met the same file. A file
// that is made when another is removed often gets that one's number, so the
// number alone does not tell.
func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func (ff *foundFiles) put(c *call, file, real string, info os.FileInfo) foundFile {
	f := foundFile{real, info}
	if r := c.settings.known(); r != nil {
		ff.mu.Lock()
		defer ff.mu.Unlock()
		if ff.files == nil || len(ff.files) >= foundMost {
			ff.files = make(map[foundKey]rememberedFile)
		}
		ff.files[foundKey{file, c.r.Params["DOCUMENT_ROOT"]}] = rememberedFile{f, r, time.Now()}
	}
	return f
}
