package sqlitestore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func placesOf(log changeLog, from, gen int64) (list []string, ok bool) {
	c := log.read(gen)
	for _, p := range c.Places {
		if p.Generation > from {
			list = append(list, fmt.Sprint(p.Table, " ", p.Fold))
		}
	}
	return list, c.Since > 0 && c.Since <= from
}

func at1(table int64, fold string) objectdb.Place { return objectdb.Place{Table: table, Fold: fold} }

func TestChangeLog(t *testing.T) {
	var log changeLog
	_, ok := placesOf(log, 4, 5)
	assert.False(t, ok, "a new one knows nothing")

	log = log.with(5, []objectdb.Place{at1(1, "a"), at1(300, "ä")})
	log = log.with(6, []objectdb.Place{at1(2, "b")})
	log = log.with(7, nil)
	for from, want := range map[int64][]string{5: {"1 a", "300 ä", "2 b"}, 6: {"2 b"}, 7: nil, 8: nil} {
		list, ok := placesOf(log, from, 8)
		assert.True(t, ok, from)
		assert.Equal(t, want, list, from)
	}
	_, ok = placesOf(log, 4, 8)
	assert.False(t, ok, "what was before it is not known")
	_, ok = placesOf(log, 5, 9)
	assert.False(t, ok, "somebody has raised the generation and said nothing")
	list, ok := placesOf(log.with(20, []objectdb.Place{at1(3, "c")}), 20, 21)
	assert.True(t, ok)
	assert.Equal(t, []string{"3 c"}, list)
	_, ok = placesOf(log.with(20, []objectdb.Place{at1(3, "c")}), 8, 21)
	assert.False(t, ok)
}

func TestChangeLogIsBounded(t *testing.T) {
	var log changeLog
	for gen := range int64(5000) {
		log = log.with(gen, []objectdb.Place{at1(gen, strings.Repeat("x", int(gen)%256))})
		assert.LessOrEqual(t, len(log), changeLogBytes)
	}
	list, ok := placesOf(log, 4995, 5000)
	assert.True(t, ok)
	assert.Len(t, list, 5)
	_, ok = placesOf(log, 4000, 5000)
	assert.False(t, ok)

	var many []objectdb.Place
	for i := range int64(1000) {
		many = append(many, at1(i, "name"))
	}
	log = log.with(5000, many)
	assert.Less(t, len(log), 10)
	_, ok = placesOf(log, 5000, 5001)
	assert.False(t, ok)
	list, ok = placesOf(log.with(5001, many[:1]), 5001, 5002)
	assert.True(t, ok)
	assert.Equal(t, []string{"0 name"}, list)
}

// The log lists each place once, so many commits of the same places do not push others
// out.
func TestChangeLogHasEachPlaceOnce(t *testing.T) {
	log := changeLog(nil).with(1, []objectdb.Place{at1(9, "first")})
	for gen := int64(2); gen < 5000; gen++ {
		log = log.with(gen, []objectdb.Place{at1(1, "n"), at1(2, fmt.Sprint("counter", gen%20))})
	}
	list, ok := placesOf(log, 1, 5000)
	assert.True(t, ok)
	assert.Len(t, list, 22)
	list, ok = placesOf(log, 4998, 5000)
	assert.True(t, ok)
	assert.ElementsMatch(t, []string{"1 n", "2 counter18", "2 counter19"}, list)
}

func FuzzChangeLog(f *testing.F) {
	f.Add([]byte(changeLog(nil).with(5, []objectdb.Place{at1(1, "a")})), int64(5))
	f.Add([]byte{1, 2, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1, 1}, int64(1))
	f.Fuzz(func(t *testing.T, log []byte, gen int64) {
		if gen < 1 || gen > 1<<60 {
			return
		}
		if c := changeLog(log).read(gen + 1); c.Since == 0 {
			require.Empty(t, c.Places)
		}
		next := changeLog(log).with(gen, []objectdb.Place{at1(7, "x")})
		list, ok := placesOf(next, gen, gen+1)
		require.True(t, ok)
		require.Equal(t, []string{"7 x"}, list)
	})
}
