package objectfiles

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func FuzzFileName(f *testing.F) {
	for _, name := range oddNames {
		f.Add(name, true)
	}
	f.Fuzz(func(t *testing.T, name string, table bool) {
		if objectdb.CheckName(name) != nil {
			return
		}
		var v objectdb.Value
		if !table {
			v = objectdb.Script("")
		}
		form := fileOf(name, v)
		require.LessOrEqual(t, len(form.name), maxFileName)
		require.NotContains(t, form.name, "/")
		require.False(t, strings.HasPrefix(form.name, "."))
		back, _, err := nameOf(form.name, table, form.entry)
		require.NoError(t, err)
		require.Equal(t, name, back)
	})
}

// FuzzImportedFile gives any bytes to the decoders of files. What they let in is
// stored and exported as a value that they read again.
func FuzzImportedFile(f *testing.F) {
	for i, v := range oddValues {
		if form := fileOf("x", v); len(form.content) < 1000 {
			f.Add(uint8(i), form.content)
		}
	}
	f.Add(uint8(0), []byte(`<opml><head><title>x</title></head><body><outline text="a" _note="b"/></body></opml>`))
	f.Add(uint8(1), []byte(`{"date": "2026-01-02T15:04:05+02:00"}`))
	f.Add(uint8(1), []byte(`[{"name": "Ada", "tags": [], "by": null, "text": {"record": {"text": "x"}}}, {"base64": 1, "date": 2}, null]`))
	suffixes := []string{".opml", ".json"}
	db := open(f)
	errUndo := errors.New("stored")
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		v, err := decodeValue(suffixes[int(which)%2], indexEntry{}, string(content))
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
		form := fileOf("x", v)
		_, suffix, err := nameOf(form.name, false, form.entry)
		require.NoError(t, err)
		again, err := decodeValue(suffix, form.entry, string(form.content))
		require.NoError(t, err)
		require.True(t, objectdb.Equal(v, again), "%#v %#v", v, again)
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"a.txt": {"kind": "outline"}, "b%_0": {"name": "b", "type": "x/y"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		x, err := decodeIndex(content)
		if err != nil {
			return
		}
		_, err = decodeIndex(x.encode())
		require.NoError(t, err)
	})
}
