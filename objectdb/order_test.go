package objectdb

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestOrder compares each of some values, which are in order, with all others, alone and with a value after it.
func TestOrder(t *testing.T) {
	day := func(year int) Value { return Date{time.Date(year, 2, 3, 4, 5, 6, 7, time.UTC)} }
	list := []Value{
		nil, Boolean(false), Boolean(true),
		Number(math.NaN()), Number(math.Inf(-1)), Number(-1e300), Number(-1), Number(-0.5), Number(0), Number(1e-300),
		Number(1), Number(1 << 53), Number(math.Inf(1)),
		day(0), day(1969), day(1970), day(2026), day(9999),
		String(""), String("\x00"), String("\x00a"), String("\x01"), String("0"), String("a"), String("A\x00"),
		String("a\x00b"), Text("Ab"), String("b"), String("ä"), String("\xff"), String(strings.Repeat("\uffff", 100)),
		List{},
	}
	for i, a := range list {
		for j, b := range list {
			for _, after := range []Value{nil, String("z"), List{}} {
				want := map[bool]int{true: -1}[i < j] + map[bool]int{true: 1}[i > j]
				x, y := AppendOrdered(nil, a), AppendOrdered(nil, b)
				if i == j {
					continue
				}
				assert.False(t, bytes.HasPrefix(x, y), "%v %v", a, b)
				assert.Equal(t, want, bytes.Compare(AppendOrdered(x, after), AppendOrdered(y, nil)), "%v %v", a, b)
				x, y = AppendReversed(nil, a), AppendReversed(nil, b)
				assert.Equal(t, -want, bytes.Compare(AppendOrdered(x, after), AppendOrdered(y, nil)), "%v %v", a, b)
			}
			if i < j && a != nil && AppendOrdered(nil, a)[0] == AppendOrdered(nil, b)[0] {
				assert.Negative(t, bytes.Compare(AppendOrdered(nil, b), OrderedEnd(a)))
			}
		}
	}
	assert.Equal(t, AppendOrdered(nil, Number(0)), AppendOrdered(nil, Number(math.Copysign(0, -1))))
	assert.Equal(t, AppendOrdered(nil, String("ÄRGER")), AppendOrdered(nil, Text("ärger")))
}

func FuzzOrder(f *testing.F) {
	f.Add("a", "b", "")
	f.Add("a\x00", "A", "\x00\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		x := AppendOrdered(AppendOrdered(nil, String(a)), String(c))
		y := AppendOrdered(AppendOrdered(nil, String(b)), String(c))
		if len(a) < OrderedText && len(b) < OrderedText && bytes.Compare(x, y) != strings.Compare(Fold(a), Fold(b)) &&
			strings.ToValidUTF8(a, "") == a && strings.ToValidUTF8(b, "") == b {
			t.Errorf("%q %q", a, b)
		}
		if p := AppendOrderedPrefix(nil, a); !bytes.HasPrefix(AppendOrdered(nil, String(a+c)), p) && len(a) < OrderedText &&
			strings.ToValidUTF8(a, "") == a {
			t.Errorf("%q is no beginning of %q", a, a+c)
		}
	})
}
