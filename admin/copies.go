package admin

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scripter/autosave"
	"scripter/history"
	"scripter/objectdb"
	"scripter/rootname"
	"scripter/site"
)

// copyRoutes lists the pages of saved copies.
func (s *Server) copyRoutes() {
	s.page("GET /saves", readers, (*call).copiesPage)
	s.page("POST /saves", owners, (*call).changeCopies)
	s.page("GET /saves/revert", owners, (*call).revertPage)
	s.page("GET /saves/download", owners, (*call).downloadCopy)
}

// savedCopy is a saved copy for people and programs. Its folder stays unsaid.
type savedCopy struct {
	Name   string    `json:"name"`
	Time   time.Time `json:"time"`
	Size   int64     `json:"size"`
	Before int       `json:"beforeForm,omitempty"` // it was kept when the root was brought to this form
	Large  bool      `json:"large,omitempty"`      // too large to be downloaded here
	path   string
}

// copiesData is the page of saved copies.
type copiesData struct {
	Copies  []savedCopy  `json:"copies"`
	Saving  settingGroup `json:"saving"`
	Most    int64        `json:"-"`                 // bytes of a copy that is downloaded here
	Failed  *time.Time   `json:"failed,omitempty"`  // the last save was not finished
	Why     string       `json:"why,omitempty"`     // for owners
	Running bool         `json:"running,omitempty"` // a copy is being saved right now
	Error   string       `json:"error,omitempty"`
}

// HasLarge reports whether a copy is too large to be downloaded here.
func (data *copiesData) HasLarge() bool {
	return slices.ContainsFunc(data.Copies, func(s savedCopy) bool { return s.Large })
}

const (
	// largestDownload is the size of the largest copy that is downloaded: the answer is held in
	// memory, together with what has grown to hold it.
	largestDownload = 32 << 20
	// saveWait is how long a form waits for another program that saves.
	saveWait = 5 * time.Second
)

func (c *call) copiesPage() (*result, error) { return c.copiesPageWith(typed{}, "") }

func (c *call) copiesPageWith(t typed, message string) (*result, error) {
	data := &copiesData{Most: largestDownload, Error: message,
		Saving: settingGroup{Key: "saving", Title: text("saves.settings"), Back: "saves"}}
	var err error
	if data.Copies, err = c.copies(); err != nil {
		return nil, err
	}
	if f := c.DB.LastFailure(); !f.Time.IsZero() {
		if data.Running = f.Why == ""; !data.Running {
			data.Failed = &f.Time
			if c.role.Kind == site.RoleOwner {
				data.Why = f.Why
			}
		}
	}
	err = c.view(func(tx *objectdb.Tx) error {
		now, err := site.Read(tx)
		if err != nil {
			return err
		}
		for _, s := range []*site.Setting{site.FlAutoSave, site.SaveInterval, site.FlUseDirtyRoot, site.FlDirtyRoot,
			site.MaxSaves} {
			data.Saving.Fields = append(data.Saving.Fields, c.settingField(tx, now, s, data.Saving.Key, t))
		}
		focusMistake(data.Saving)
		return nil
	})
	return &result{template: "saves", title: text("nav.saves"), data: data}, err
}

// copies lists the saved copies, the newest first.
func (c *call) copies() ([]savedCopy, error) {
	all, err := c.DB.Copies()
	list := []savedCopy{}
	for _, k := range all {
		s := savedCopy{Name: filepath.Base(k.Path), Time: k.Time, Size: k.Size, Large: k.Size > largestDownload,
			path: k.Path}
		if k.Version > 0 {
			s.Before = k.Version + 1
		}
		list = append(list, s)
	}
	return list, err
}

// findCopy returns the copy with a name. A name is no path: only what the list has is found.
func (c *call) findCopy(name string) (savedCopy, error) {
	list, err := c.copies()
	if err != nil {
		return savedCopy{}, err
	}
	i := slices.IndexFunc(list, func(s savedCopy) bool { return s.Name == name })
	if i < 0 {
		return savedCopy{}, newProblem(http.StatusNotFound, "saves.none", short(name, 80))
	}
	return list[i], nil
}

// changeCopies does what a form of the page asks for.
func (c *call) changeCopies() (*result, error) {
	if c.inPast {
		return nil, pastProblem()
	}
	switch do := c.field("do"); do {
	case "save":
		return c.saveCopy()
	case "revert":
		return c.revert()
	default:
		return nil, unknownAction(do)
	}
}

// saveCopy saves a copy now.
func (c *call) saveCopy() (*result, error) {
	saved, err := autosave.Save(c.ctx(), c.DB, objectdb.SaveOptions{Wait: saveWait})
	if saved.Path == "" {
		return nil, c.copyProblem(err)
	}
	if err != nil { // an old copy could not be removed
		c.Log.Warn("web page: after saving a copy", "copy", saved.Path, "err", err)
	}
	c.Log.Info("web page: saved a copy", "user", c.user, "copy", saved.Path)
	return c.redirect(c.link("saves"), "copySaved", 0), nil
}

// copyProblem returns the problem of a save or a revert that failed, without the folder of the root.
func (c *call) copyProblem(err error) error {
	if errors.Is(err, objectdb.ErrSaving) {
		return newProblem(http.StatusConflict, "saves.busy")
	}
	var known *objectdb.Error
	if !errors.As(err, &known) || errors.Is(err, objectdb.ErrConflict) || errors.Is(err, objectdb.ErrBusy) {
		return err
	}
	c.Log.Error("web page: saved copies", "user", c.user, "err", err)
	why := known.Err.Error()
	if local, err := rootname.LocalPath(known.Path); err == nil {
		why = strings.ReplaceAll(why, filepath.Dir(local)+string(filepath.Separator), "")
	}
	return newProblem(http.StatusConflict, "saves.failed", why)
}

// revertData is the page that asks before the root is put back.
type revertData struct {
	savedCopy
	Changes []changeRow `json:"changes"` // since it was saved, the newest first
	More    bool        `json:"more,omitempty"`
}

// revertChanges is how many changes the page lists.
const revertChanges = 20

// revertPage says what would be lost by going back to a copy.
func (c *call) revertPage() (*result, error) {
	k, err := c.findCopy(c.query("copy"))
	if err != nil {
		return nil, err
	}
	data := &revertData{savedCopy: k}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		log, err := history.List(tx, history.Filter{Since: history.Moment{Time: k.Time}, Most: revertChanges,
			Objects: historyObjects})
		if err != nil {
			return err
		}
		data.Changes, data.More = c.rows(log.Changes), log.More
		return nil
	})
	if err != nil {
		return nil, historyProblem(err)
	}
	return &result{template: "saverevert", title: text("saves.revertTitle"), data: data}, nil
}

// revert makes the root what it was when a copy was saved.
func (c *call) revert() (*result, error) {
	k, err := c.findCopy(c.field("copy"))
	if err != nil {
		return nil, err
	}
	if c.field("confirm") != "yes" {
		if c.json {
			return nil, &problem{Status: http.StatusConflict, Text: text("saves.revertTitle"),
				Data: map[string]any{"confirm": []string{text("saves.reverts", k.Name), text("saves.revertPeople")}}}
		}
		return c.redirect(c.link("saves/revert", "copy", k.Name), "", 0), nil
	}
	did, err := c.DB.Revert(c.ctx(), k.path, objectdb.SaveOptions{Wait: saveWait, Origin: c.by("revert " + k.Name)})
	if err != nil {
		return nil, c.copyProblem(err)
	}
	c.Log.Info("web page: reverted", "user", c.user, "copy", k.path, "before", did.Before.Path)
	change, _ := c.kept(did.Generation) // after an error only the button that undoes it is missing
	// The web page may have had another path then, or none.
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		now, err := site.Read(tx)
		if err == nil {
			c.base = now.String(site.AdminPath)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.base == "" {
		return c.redirect("/", "", 0), nil
	}
	res := c.redirect(c.link("saves"), "reverted", change)
	res.data = map[string]any{"location": res.location, "message": text("said.reverted"), "change": change,
		"before": filepath.Base(did.Before.Path), "restored": did.Restored, "removed": did.Removed}
	return res, nil
}

// downloadCopy sends the file of a copy. It holds everything, secrets too, so it is for owners.
func (c *call) downloadCopy() (*result, error) {
	k, err := c.findCopy(c.query("copy"))
	if err != nil {
		return nil, err
	}
	if k.Large {
		return nil, newProblem(http.StatusRequestEntityTooLarge, "saves.large", byteSize(largestDownload),
			k.Name)
	}
	f, err := os.Open(k.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, newProblem(http.StatusNotFound, "saves.none", k.Name) // removed just now
	}
	if err != nil {
		return nil, fmt.Errorf("download a saved copy: %w", err)
	}
	c.Log.Info("web page: downloaded a saved copy", "user", c.user, "copy", k.path)
	return &result{serve: func(w http.ResponseWriter, r *http.Request) {
		defer f.Close()
		w.Header().Set("Content-Type", "application/vnd.sqlite3")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": k.Name}))
		http.ServeContent(w, r, "", k.Time, f)
	}}, nil
}
