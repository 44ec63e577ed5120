package storetest

import (
	"context"
	"sync"

	"scripter/objectdb"
)

// Check sees one state, whatever others write meanwhile.
func testCheckUnderWrites(t *T) {
	db := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			Put(t, db, "a.n", objectdb.Number(n))
		}
	})
	for range 200 {
		RequireSound(t, db)
	}
	cancel()
	writer.Wait()
}
