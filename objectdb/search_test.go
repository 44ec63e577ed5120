package objectdb

import "testing"

// FuzzSearchPosition: what is read as a place of a search is written in the same way.
func FuzzSearchPosition(f *testing.F) {
	for _, s := range []string{"", "n", "nfold", "i0", "i17", "i-1", "i9223372036854775807", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseSearchPosition(s)
		if err != nil {
			return
		}
		again, err := parseSearchPosition(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if again != p && p != searchEnd {
			t.Fatalf("%q is %+v and then %+v", s, p, again)
		}
	})
}

// FuzzPattern compares find with a search character by character.
func FuzzPattern(f *testing.F) {
	f.Add("Straße", "die STRAẞE")
	f.Add("k", "K k")
	f.Add("ſ", "s ſ")
	f.Add("\ufffd", "\xff")
	f.Add("aab", "aaab")
	f.Add("Ωm", "ωM \x80")
	f.Fuzz(func(t *testing.T, query, text string) {
		if query == "" {
			return
		}
		p := newPattern(query)
		runes, from := []rune(text), []int{}
		for i := range text {
			from = append(from, i)
		}
		from = append(from, len(text))
		wantStart, wantEnd := -1, -1
		for i := 0; i+len(p.runes) <= len(runes) && wantStart < 0; i++ {
			same := true
			for j, r := range p.runes {
				same = same && foldRune(runes[i+j]) == r
			}
			if same {
				wantStart, wantEnd = from[i], from[i+len(p.runes)]
			}
		}
		if start, end := p.find(text); start != wantStart || end != wantEnd {
			t.Fatalf("%q in %q: %d to %d, want %d to %d", query, text, start, end, wantStart, wantEnd)
		}
	})
}
