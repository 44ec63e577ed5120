package admin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// number returns the number of the last change.
func (b *browser) lastChange() int64 {
	return int64(b.json("history")["changes"].([]any)[0].(map[string]any)["number"].(float64))
}

func TestHistoryPages(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.story", objectdb.Text("once\nupon\na time\n"))
	s.put("user.story", objectdb.Text("once\nupon\n"+hostile+"\n"))
	changed := ada.lastChange()
	a := ada.get("history")
	assert.Contains(t, a.text(), "changed user.story test · scripter put")
	a = ada.get(fmt.Sprintf("history/%d", changed))
	assert.Contains(t, a.text(), "-a time")
	lacks(t, a.body, "<script>alert")
	m := ada.json(fmt.Sprintf("history/%d", changed))
	assert.Equal(t, "user.story", m["objects"].([]any)[0].(map[string]any)["address"])
	assert.Len(t, ada.json("history?address=user.story")["changes"], 2)
	assert.Len(t, ada.json("history?who=nobody")["changes"], 0)
	assert.Contains(t, ada.get(fmt.Sprintf("history/diff?address=user.story&from=%d", changed-1)).text(), "+<script>")
	for path, status := range map[string]int{
		"history/999": http.StatusNotFound, "history/x": http.StatusNotFound, "history/-1": http.StatusNotFound,
		"history?since=whenever": http.StatusBadRequest, "history?address=user.never": http.StatusNotFound,
		"history/diff?address=user&from=whenever": http.StatusBadRequest, "at/user?at=x": http.StatusBadRequest,
		"at/user?at=99999": http.StatusNotFound,
	} {
		assert.Equal(t, status, ada.get(path).status, path)
	}

	// As of then.
	s.update(func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "story"}) })
	then := fmt.Sprintf("at/user.story?at=%d", changed)
	assert.Equal(t, http.StatusOK, ada.get(then).status)
	assert.Contains(t, ada.get(then).body, "You see the root as change")
	assert.Equal(t, http.StatusConflict, ada.post(then, "do", "delete").status, "the past cannot be changed")
	for _, n := range ada.get(then).find("a", "href") {
		if href := attributeOf(n, "href"); strings.HasPrefix(href, "/scripter/at/") && !strings.HasSuffix(href, "/at/user.story") {
			assert.Contains(t, href, "at="+fmt.Sprint(changed), "the links stay in the past")
		}
	}
	assert.Equal(t, http.StatusNotFound, ada.get("at/user.story").status)
}

// TestLargeTableInHistory opens the pages of a table with more objects than they look at.
func TestLargeTableInHistory(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.update(func(tx *objectdb.Tx) error {
		for i := range compareMost + 1 {
			if err := tx.Put(objectdb.Address{"user", "large", fmt.Sprint(i)}, objectdb.Number(i)); err != nil {
				return err
			}
		}
		return nil
	})
	made := ada.lastChange()
	s.put("user.large.one", objectdb.Text("x"))
	one := ada.lastChange()
	s.update(func(tx *objectdb.Tx) error { // as many objects as the page looks at
		for i := range historyObjects - 1 {
			if err := tx.Put(objectdb.Address{"user", "other", fmt.Sprint(i)}, objectdb.Number(i)); err != nil {
				return err
			}
		}
		return nil
	})
	a := ada.get("history?address=user.large")
	assert.Contains(t, a.text(), "None of the changes from")
	next := ""
	for _, n := range a.find("a", "rel") {
		next = attributeOf(n, "href")
	}
	text := ada.get(next).text()
	assert.Contains(t, text, fmt.Sprint(one))
	assert.Contains(t, text, fmt.Sprint(made))
	a = ada.get(fmt.Sprintf("history/diff?address=user.large&from=%d", made))
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Contains(t, a.text(), "holds more than 1,000 objects")
	assert.Equal(t, http.StatusOK, ada.get(fmt.Sprintf("history/diff?address=user.large.one&from=%d", made)).status)
}

func TestUndo(t *testing.T) {
	s := newSite(t)
	ada, bob := s.person("ada", "owner"), s.person("bob", "author user.pages")
	s.put("user.story", objectdb.Text("one\ntwo\nthree\nfour\nfive\n"))
	s.put("user.story", objectdb.Text("ONE\ntwo\nthree\nfour\nfive\n"))
	first := ada.lastChange()
	s.put("user.story", objectdb.Text("ONE\ntwo\nthree\nfour\nFIVE\n"))
	undo := fmt.Sprintf("history/%d", first)

	assert.Equal(t, http.StatusForbidden, bob.post(undo, "do", "undo").status)
	a := ada.post(undo, "do", "undo")
	require.Equal(t, http.StatusConflict, a.status)
	assert.Contains(t, a.text(), "nothing was undone")
	assert.Equal(t, objectdb.Text("ONE\ntwo\nthree\nfour\nFIVE\n"), s.get("user.story"))
	a = ada.post(undo, "do", "undo", "merge", "yes")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Equal(t, objectdb.Text("one\ntwo\nthree\nfour\nFIVE\n"), s.get("user.story"))

	// An undo can be undone.
	page := ada.get(a.header.Get("Location"))
	assert.Contains(t, page.text(), "Undo this undo")
	require.Equal(t, http.StatusSeeOther, ada.post(fmt.Sprintf("history/%d", ada.lastChange()), "do", "undo").status)
	assert.Equal(t, objectdb.Text("ONE\ntwo\nthree\nfour\nFIVE\n"), s.get("user.story"))

	// A form that is sent twice makes one change.
	ada.post("at/user.story", "do", "delete")
	deleted := ada.lastChange()
	undo = fmt.Sprintf("history/%d", deleted)
	require.Equal(t, http.StatusSeeOther, ada.post(undo, "do", "undo").status)
	last := ada.lastChange()
	a = ada.post(undo, "do", "undo")
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	assert.Contains(t, ada.get(a.header.Get("Location")).text(), "nothing left to undo")
	assert.Equal(t, last, ada.lastChange())
}

// TestSecretsInHistory looks for passwords in the pages of the history.
func TestSecretsInHistory(t *testing.T) {
	s := newSite(t)
	ada, rita := s.person("ada", "owner"), s.person("rita", "reader")
	s.put("user.password", objectdb.String("swordfish"))
	s.put("user.password", objectdb.String("swordfish2"))
	for _, b := range []*browser{ada, rita} {
		for n := int64(1); n <= b.lastChange(); n++ {
			a := b.get(fmt.Sprintf("history/%d", n))
			lacks(t, a.body, "swordfish")
			lacks(t, a.body, "$argon2id$v=")
		}
		lacks(t, b.get("history/diff?address=user&from=1").body, "swordfish")
	}
}
