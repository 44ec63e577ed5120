package gateway

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"scripter/site"
)

// This file has what a built-in web server needs before it calls [Gateway.Answer] or sends a
// file itself.

// Answers reports whether the root binds the path of a request to an action or, if there is no file
// with this path, to a route. If not, the web server sends a file.
func (g *Gateway) Answers(ctx context.Context, r *Request, isFile bool) bool {
	s, err := g.siteNow(ctx)
	if err != nil {
		return true // Answer reports the error, and that of dispatch
	}
	var d Target
	if isFile {
		d, _, err = bind(r, s)
	} else {
		d, err = dispatch(r, s)
	}
	return err != nil || d.Action != "" || g.answersAdmin(d, s)
}

// Refuse answers a request with the error page for err.
func (g *Gateway) Refuse(ctx context.Context, r *Request, w io.Writer, err error) Outcome {
	x := g.newExchange(r, w)
	defer x.close()
	out := x.fail(ctx, err)
	out.Status = x.out.status
	return out
}

// defaultIndex is the DirectoryIndex where user.webserver.directoryIndex has none.
const defaultIndex = "index.html default.mcro"

// DirectoryIndex returns the names of the files that may answer for the URL of a folder, best
// first (specification, 4.1 and 4.4.4).
func (g *Gateway) DirectoryIndex(ctx context.Context, r *Request, folder string) ([]string, error) {
	s, err := g.siteNow(ctx)
	if err != nil {
		return nil, err
	}
	return strings.Fields(cmp.Or(s.DirectoryIndex(r.Host(), folder), defaultIndex)), nil
}

// ServerName returns the setting Set Server Name, or "" if it is not set.
func (g *Gateway) ServerName(ctx context.Context) string {
	s, err := g.siteNow(ctx)
	if err != nil {
		return ""
	}
	return s.String(site.ServerName)
}

// CheckHidden returns an error if a path has a hidden name, such as .git, or if the file
// in a folder is a link to such a file of that folder.
func CheckHidden(folder, path, file string) error {
	if isHidden(path) {
		return hidden(path)
	}
	found, err := findBelow(folder, file)
	if err != nil && found.base != "" {
		return &Error{Status: 404, Message: err.Error(), Err: err}
	}
	return nil
}

// OpenFile opens a regular file that lies below a folder, with its links resolved. It
// refuses hidden files and those that belong to a root.
func (g *Gateway) OpenFile(folder, file string) (*os.File, os.FileInfo, error) {
	found, err := findBelow(folder, file)
	if err != nil {
		return nil, nil, &Error{Status: 404, Message: err.Error(), Err: err}
	}
	return g.openFile(found)
}

// findBelow finds a regular file below a folder. With a hidden file it returns both the
// file and an error.
func findBelow(folder, file string) (foundFile, error) {
	found, err := lookAt(file)
	if err != nil {
		return found, err
	}
	base, inside := below(found.real, folder)
	if !inside {
		return found, fmt.Errorf("%s lies outside the site's folder", found.real)
	}
	found.base = base
	return found, found.checkHidden()
}

// ContentType returns the MIME type of a file with this name and content, with the
// charset of its text.
func (g *Gateway) ContentType(ctx context.Context, name string, content io.ReadSeeker) (string, error) {
	s, err := g.siteNow(ctx)
	if err != nil {
		return "", err
	}
	kind, err := typingOf(s, name).of(content)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return kind, nil
}
