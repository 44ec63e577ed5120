package objectdb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCacheIsBounded(t *testing.T) {
	c := newCache(100_000)
	c.advance(1, Changes{})
	for i := range 10_000 {
		c.putChild(1, &Node{id: int64(i), parent: 1, fold: fmt.Sprint(i), kind: KindNumber})
		c.child(1, 1, []byte("7")) // what is used stays
		assert.LessOrEqual(t, c.children.bytes, c.children.limit)
	}
	assert.Less(t, len(c.children.young)+len(c.children.old), 400)
	assert.Equal(t, int64(7), c.child(1, 1, []byte("7")).id)
	assert.Nil(t, c.child(1, 1, []byte("8")))
}

func TestCacheGenerations(t *testing.T) {
	c := newCache(100_000)
	c.advance(5, Changes{})
	old := &Node{id: 2, parent: 1, fold: "x", ver: 3, kind: KindNumber}
	kept := &Node{id: 3, parent: 1, fold: "y", ver: 3, kind: KindNumber}
	c.putChild(5, old)
	c.putChild(5, kept)
	c.putList(5, 1, []*Node{old, kept})
	c.putChild(4, &Node{id: 9, parent: 1, fold: "late", kind: KindNumber})
	assert.Nil(t, c.child(5, 1, []byte("late")), "what was read in an older state is not for the newer one")
	assert.Nil(t, c.child(4, 1, []byte("x")), "it is not known whether it was so then")

	written1 := &Node{id: 2, parent: 1, fold: "x", ver: 6, kind: KindNumber}
	c.publish(5, []*Node{written1}, []int64{1})
	assert.Equal(t, written1, c.child(6, 1, []byte("x")))
	assert.Nil(t, c.child(5, 1, []byte("x")))
	assert.Equal(t, kept, c.child(5, 1, []byte("y")), "an older transaction still sees what did not change")
	assert.Equal(t, kept, c.child(6, 1, []byte("y")))
	assert.Nil(t, c.list(6, 1))
	assert.Nil(t, c.child(7, 1, []byte("y")), "another process has written")

	c.publish(5, []*Node{old}, nil)
	assert.Equal(t, written1, c.child(6, 1, []byte("x")), "a commit that is late is not believed")
	c.advance(8, Changes{})
	assert.Nil(t, c.child(8, 1, []byte("y")))
}
