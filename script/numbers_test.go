package script

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestLooksNumeric(t *testing.T) {
	for name, want := range map[string]bool{
		"0": true, "11": true, "000000012": true, "-3": true, "3.5": true, "1e5": false, "": false, "-": false,
		".": false, ".5": false, "5.": false, "1.2.3": false, "2026-01-31": false, "a1": false, " 1": false, "١": false,
	} {
		assert.Equal(t, want, looksNumeric(name), name)
	}
}

// numberedSite returns a root with a table whose records have numbers for names.
func numberedSite(t *testing.T) *objectdb.DB {
	db := newDB(t)
	values := map[string]objectdb.Value{"user.mixed.a": objectdb.Number(1), "user.mixed.b": objectdb.Number(2),
		"user.mixed.12": objectdb.Number(12)}
	for i := 1; i <= 11; i++ {
		values[fmt.Sprintf("user.t.%d", i)] = objectdb.String(fmt.Sprintf("record %d", i))
	}
	put(t, db, values)
	return db
}

// TestPositionsThatMislead: in a table whose names look like numbers, a position is another
// record than the one of that number, because names sort as text: 1, 10, 11, 2.
func TestPositionsThatMislead(t *testing.T) {
	db := numberedSite(t)
	hit := `user.t [3] is a position, where the record "11" is: ` +
		`write user.t ["3"] for the name, or odb.nth (user.t, 3) for the position`
	for _, c := range [][2]string{
		{`user.t [3] = "lost"`, hit},
		{`user.t [3] = nil`, hit},
		{`return user.t [3]`, hit},
		{`local t = user.t t [3] = {a = 1}`, hit},
		{
			`return user.t [1]`,
			`user.t [1] is a position, where the record "1" is: write user.t ["1"] for the name, or odb.nth (user.t, ` +
				`1) for the position`,
		},
		{
			`user.t [12] = "new"`,
			`user.t [12] is a position, where no record is, and this table has numbers for names, such as "1": write ` +
				`user.t ["12"] for the name`,
		},
		{
			`return user.t [12]`,
			`user.t [12] is a position, where no record is, and this table has numbers for names, such as "1": write ` +
				`user.t ["12"] for the name`,
		},
		{
			`return user.t [0]`,
			`user.t [0] is a position, where no record is, and this table has numbers for names, such as "1": write ` +
				`user.t ["0"] for the name`,
		},
		{
			`return user.t [1.5]`,
			`user.t [1.5] is a position, where no record is, and this table has numbers for names, such as "1": write ` +
				`user.t ["1.5"] for the name`,
		},
		{
			`return user.mixed [12]`,
			`user.mixed [12] is a position, where no record is, and this table has numbers for names, such as "12": ` +
				`write user.mixed ["12"] for the name`,
		},
		{
			`odb.append ("user.new", "a") return user.new [1]`,
			`user.new [1] is a position, where the record "000000001" is: write user.new ["000000001"] for the name, ` +
				`or odb.nth (user.new, 1) for the position`,
		},
		{
			`odb.append ("user.new", "a") return user.new [2]`,
			`user.new [2] is a position, where no record is, and this table has numbers for names, such as ` +
				`"000000001": write user.new ["000000002"] for the name`,
		},
		{
			`odb.append ("user.new", "a") return user.new [-2.5]`,
			`user.new [-2.5] is a position, where no record is, and this table has numbers for names, such as ` +
				`"000000001": write user.new ["-2.5"] for the name`,
		},
		{
			`odb.append ("user.t", 1)`,
			`append user.t: the name "9" in the table does not sort with numbers of 9 digits: rename it and similar ` +
				`ones to names such as "000000009" first (odb.rename)`,
		},
		{`odb.append ("user.t.1", 1)`, "append user.t.1: object is not a table"},
		{
			`odb.append ({}, 1)`,
			"bad argument #1 to 'append' (table of the root expected, got a Lua table; table.insert adds to that)",
		},
		{`odb.append ("user.new")`, "bad argument #2 to 'append' (value expected, got nil)"},
		{
			`odb.append ("user.new", type)`,
			"set user.new.000000001: a function cannot be stored: odb.script (source) makes a script",
		},
		{`odb.nth ({}, 1)`, "bad argument #1 to 'nth' (address expected, got table)"},
		{`odb.nth ("user.nothing", 1)`, "bad argument #1 to 'nth' (table of the root expected)"},
	} {
		source, want := c[0], c[1]
		e := fails(t, db, source)
		assert.Equal(t, want, e.Message, source)
		assert.NotZero(t, e.Line, source)
	}
	for _, c := range [][2]string{
		{`return user.t ["3"] .. user.t ["11"]`, "record 3record 11"},
		{`return odb.get ("user.t.3")`, "record 3"},
		{`user.t ["3"] = "new" return user.t ["3"] .. user.t ["11"]`, "newrecord 11"},
		{`return (odb.nth (user.t, 3))`, "11"},
		{`return select (2, odb.nth (user.t, 3))`, "record 11"},
		{`return (odb.nth (user.t, -1)) .. (odb.nth ("user.t", -11))`, "91"},
		{`return select ("#", odb.nth (user.t, 12)) .. tostring (odb.nth (user.t, -12))`, "1nil"},
		{`return tostring (odb.nth (user.t, 0))`, "nil"},
		{`return user.mixed [2] .. user.mixed.b`, "12"},
		{
			`local s = "" for i, v in ipairs (user.t) do s = s .. i .. "=" .. v:sub (8) .. " " end return s`,
			"1=1 2=10 3=11 4=2 5=3 6=4 7=5 8=6 9=7 10=8 11=9 ",
		},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, run(t, db, source), source)
	}
}

func TestAppend(t *testing.T) {
	db := numberedSite(t)
	for _, c := range [][2]string{
		{`return odb.append ("user.new", "a") .. user.new ["000000001"]`, "000000001a"},
		{
			`user.new = {} odb.append (user.new, 1) odb.append (user.new, {a = {b = 2}}) return user.new ["000000002"].a.b`,
			"2",
		},
		{
			`odb.append ("user.new", 1) user.new.title = "x" user.new ["2026-01-31"] = 1 user.new [":"] = 1 user.new ` +
				`["0001x"] = 1 return odb.append (user.new, 2)`,
			"000000002",
		},
		{
			`odb.append ("user.new", 1) odb.append ("user.new", 2) user.new ["000000002"] = nil return odb.append (user.new, 3)`,
			"000000002",
		},
		{`odb.append ("user.new", 1) user.new ["000000001"] = nil return odb.append (user.new, 3)`, "000000001"},
		{`user.new = {["000000041"] = 1} return odb.append (user.new, 1)`, "000000042"},
		{
			`for i = 1, 200 do odb.append ("user.new", i) end return (odb.nth (user.new, -1)) .. #user.new .. ` +
				`user.new ["000000200"]`,
			"000000200200200",
		},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, run(t, db, source), source)
	}
	e := fails(t, db, `user.new = {["999999999"] = 1} return odb.append (user.new, 1)`)
	assert.Equal(t, "append user.new: the number 999999999 is taken, and it is the last one", e.Message)
	e = fails(t, db, `user.new = {["0000000001"] = 1} return odb.append (user.new, 1)`)
	assert.Contains(t, e.Message, `the name "0000000001" in the table`)
}

// TestAppendTogether: requests that append at the same time lose nothing and get different
// numbers without a gap.
func TestAppendTogether(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.log.title": objectdb.String("log")})
	const visitors, each = 8, 15
	engine := NewEngine(nil)
	var mu sync.Mutex
	given := map[string]int{}
	var wait sync.WaitGroup
	for v := range visitors {
		wait.Go(func() {
			for i := range each {
				key := ""
				err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
					th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
					defer th.Close()
					k, err := th.RunSource("test", fmt.Sprintf(`return odb.append (user.log, {by = %d, n = %d})`, v, i))
					key, _ = k.(string)
					return err
				})
				if errors.Is(err, objectdb.ErrBusy) {
					continue
				}
				if assert.NoError(t, err) {
					mu.Lock()
					given[key]++
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	for key, n := range given {
		assert.Equal(t, 1, n, key)
	}
	for i := 1; i <= len(given); i++ {
		assert.Equal(t, 1, given[fmt.Sprintf("%09d", i)], i)
	}
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		rows, err := tx.List(objectdb.Address{"user", "log"})
		assert.Len(t, rows, len(given)+1)
		return err
	}))
}

// BenchmarkAppend: the cost of an append does not grow with the table.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			db := newDB(b)
			require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				for i := range size {
					if err := tx.Put(objectdb.Address{"user", "log", fmt.Sprintf("%09d", i+1)}, objectdb.Number(i)); err != nil {
						return err
					}
				}
				return nil
			}))
			engine := NewEngine(nil)
			for b.Loop() {
				require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
					th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
					defer th.Close()
					_, err := th.RunSource("test", `odb.append ("user.log", 1)`)
					return err
				}))
			}
		})
	}
}
