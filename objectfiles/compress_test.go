package objectfiles

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"scripter/objectdb"

	"github.com/stretchr/testify/require"
)

// With the default limits, Import accepts what an ArchiveWriter writes, however many objects
// there are, and however well they compress.
func TestImportAcceptsOwnArchives(t *testing.T) {
	list := make(objectdb.List, 1<<20)
	for i := range list {
		list[i] = objectdb.Number(1)
	}
	dates := make(objectdb.List, 2000)
	for i := range dates {
		dates[i] = objectdb.Date{Time: someDay}
	}
	for name, put := range map[string]func(x *ArchiveWriter){
		"very many objects": func(x *ArchiveWriter) {
			for i := range FreeFiles + FreeFiles/5 {
				require.NoError(t, x.Put(objectdb.Address{"t", fmt.Sprint(i / 1000), fmt.Sprint(i)}, objectdb.Text("")))
			}
		},
		"very many tables": func(x *ArchiveWriter) {
			for i := range FreeFiles/2 + FreeFiles/5 {
				require.NoError(t, x.Put(objectdb.Address{"t", fmt.Sprint(i), "x"}, objectdb.Boolean(true)))
			}
		},
		"a text of one letter": func(x *ArchiveWriter) {
			require.NoError(t, x.Put(objectdb.Address{"text"}, objectdb.Text(strings.Repeat("x", 3*FreeBytes))))
		},
		"texts of one letter": func(x *ArchiveWriter) {
			text := objectdb.Text(strings.Repeat("x", 1<<20))
			for i := range 3 * FreeBytes >> 20 {
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("text", i)}, text))
			}
		},
		"a long list": func(x *ArchiveWriter) { require.NoError(t, x.Put(objectdb.Address{"list"}, list)) },
		"many lists": func(x *ArchiveWriter) {
			for i := range 200 {
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("dates", i)}, dates))
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("text", i)}, objectdb.Text("x")))
			}
		},
	} {
		for form, format := range archiveFormats {
			if name == "very many objects" && format == Zip || name == "very many tables" && format == TarGzip {
				continue // the other form needs fewer bytes for each object
			}
			t.Run(name+" "+form, func(t *testing.T) {
				var b bytes.Buffer
				w := NewArchiveWriter(&b, format, someDay)
				put(w)
				require.NoError(t, w.Close(Manifest{}, "read me"))
				x, err := openBytes(b.Bytes(), ImportLimits{})
				require.NoError(t, err)
				t.Logf("%d objects, packed %d", w.Count(), b.Len())
				require.NoError(t, x.Close())
			})
		}
	}
}
