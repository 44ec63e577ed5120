package objectfiles

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// While an import replaces fifty objects, readers see the old ones or the new ones.
//
// Catalogue: C5
func TestReadersNeverSeeAMixture(t *testing.T) {
	db := open(t)
	const objects, imports = 50, 8
	tree := func(n int) fstest.MapFS {
		fsys := fstest.MapFS{}
		for i := range objects {
			fsys[fmt.Sprintf("page/part%d.json", i)] = &fstest.MapFile{Data: fmt.Append(nil, n)}
		}
		return fsys
	}
	importDir(t, db, tree(0), "")
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-ended:
					return
				default:
				}
				assert.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
					first, err := tx.Get(objectdb.Address{"page", "part0"})
					for i := range objects {
						v, err := tx.Get(objectdb.Address{"page", fmt.Sprint("part", i)})
						if err != nil || v != first {
							return fmt.Errorf("part %d is %v, part 0 is %v (%v)", i, v, first, err)
						}
					}
					return err
				}))
			}
		}()
	}
	for n := range imports {
		importDir(t, db, tree(n+1), "")
	}
	close(ended)
	readers.Wait()
	requireEqual(t, objectdb.Number(imports), get(t, db, "page.part7"))
}
