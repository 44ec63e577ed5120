package objectfiles

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Lists that nest deep are written without indentation, which would take too much space.
func TestDeepListsAreNotIndented(t *testing.T) {
	v := objectdb.Value(objectdb.List{objectdb.Number(1)})
	for range 150 {
		v = objectdb.List{v}
	}
	content := encodeJSON(v)
	assert.Less(t, len(content), 400)
	back, err := objectdb.ParseJSON(string(content))
	require.NoError(t, err)
	assert.True(t, objectdb.Equal(v, back))
}

// FuzzImportedFile decodes any bytes as a file. If they are a value that can be stored, its file
// must have the same value.
func FuzzImportedFile(f *testing.F) {
	for i, v := range oddValues {
		if form := FileOf("x", v); len(form.Content) < 1000 {
			f.Add(uint8(i), form.Content)
		}
	}
	f.Add(uint8(0), []byte(`<opml><head><title>x</title></head><body><outline text="a" _note="b"/></body></opml>`))
	f.Add(uint8(1), []byte(`{"date": "2026-01-02T15:04:05+02:00"}`))
	f.Add(uint8(1), []byte(`[{"name": "Ada", "tags": [], "by": null, "text": {"record": {"text": `+
		`"x"}}}, {"base64": 1, "date": 2}, null]`))
	suffixes := []string{".opml", ".json"}
	db := open(f)
	errUndo := errors.New("stored")
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		v, err := DecodeValue(suffixes[int(which)%2], IndexEntry{}, string(content))
		if err != nil {
			return
		}
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			if err := tx.Put(objectdb.Address{"x"}, v); err != nil {
				return err
			}
			return errUndo
		})
		if err != errUndo {
			return // it cannot be stored
		}
		form := FileOf("x", v)
		_, suffix, err := NameOf(form.Name, false, form.Entry)
		require.NoError(t, err)
		again, err := DecodeValue(suffix, form.Entry, string(form.Content))
		require.NoError(t, err)
		require.True(t, objectdb.Equal(v, again), "%#v %#v", v, again)
	})
}
