package textdiff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		context             int
		want                string
	}{
		{"equal texts", "a\nb\n", "a\nb\n", 3, ""},
		{"a changed line", "a\nb\nc\n", "a\nB\nc\n", 3, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"without context", "a\nb\nc\n", "a\nB\nc\n", 0, "@@ -2 +2 @@\n-b\n+B\n"},
		{"an inserted line without context", "a\nb\n", "a\nx\nb\n", 0, "@@ -1,0 +2 @@\n+x\n"},
		{"a deleted line without context", "a\nx\nb\n", "a\nb\n", 0, "@@ -2 +1,0 @@\n-x\n"},
		{"from nothing", "", "a\n", 3, "@@ -0,0 +1 @@\n+a\n"},
		{"to nothing", "a\n", "", 3, "@@ -1 +0,0 @@\n-a\n"},
		{"a final newline comes", "a", "a\n", 3, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"no final newline in both", "a\nz", "b\nz", 3, "@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n"},
		{"line ends change", "a\r\nb\r\n", "a\nb\r\n", 3, "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"},
		{"two hunks", "1\n2\n3\n4\n5\n", "x\n2\n3\n4\ny\n", 1,
			"@@ -1,2 +1,2 @@\n-1\n+x\n 2\n@@ -4,2 +4,2 @@\n 4\n-5\n+y\n"},
		{"hunks that meet are one", "1\n2\n3\n4\n", "x\n2\n3\ny\n", 1,
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n-4\n+y\n"},
		{"a repeated block is inserted after the first", "f\nend\n", "f\nend\nf\nend\n", 0, "@@ -2,0 +3,2 @@\n+f\n+end\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Unified("then", "now", c.before, c.after, c.context)
			if c.want != "" {
				c.want = "--- then\n+++ now\n" + c.want
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestMerge(t *testing.T) {
	const conflict = "conflict"
	for _, c := range []struct{ name, base, ours, theirs, want string }{
		{"only ours", "a\nb\n", "a\nB\n", "a\nb\n", "a\nB\n"},
		{"only theirs", "a\nb\n", "a\nb\n", "A\nb\n", "A\nb\n"},
		{"lines apart", "1\n2\n3\n", "x\n2\n3\n", "1\n2\ny\n", "x\n2\ny\n"},
		{"one line", "1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n", conflict},
		{"lines that touch", "1\n2\n3\n", "x\n2\n3\n", "1\ny\n3\n", conflict},
		{"insertions at one place", "1\n2\n", "1\nx\n2\n", "1\ny\n2\n", conflict},
		{"the same insertion", "1\n2\n", "1\nx\n2\n", "1\nx\n2\n", "1\nx\n2\n"},
		{"the same change and another one", "1\n2\n3\n4\n", "x\n2\n3\n4\n", "x\n2\n3\ny\n", "x\n2\n3\ny\n"},
		{"one deletes what the other changes", "1\n2\n3\n", "1\n3\n", "1\nx\n3\n", conflict},
		{"both delete", "1\n2\n3\n4\n5\n", "1\n3\n4\n5\n", "1\n2\n3\n5\n", "1\n3\n5\n"},
		{"both add to the end", "1\n", "1\nx\n", "1\ny\n", conflict},
		{"from nothing", "", "x\n", "y\n", conflict},
		{"no final newline", "1\n2\n3", "x\n2\n3", "1\n2\n3\n4", "x\n2\n3\n4"},
		{"the final newline on one side", "1\n2\n3", "1\n2\n3\n", "x\n2\n3", "x\n2\n3\n"},
		{"windows line ends", "1\r\n2\r\n3\r\n", "x\r\n2\r\n3\r\n", "1\r\n2\r\ny\r\n", "x\r\n2\r\ny\r\n"},
		{"one side changes the line ends", "1\n2\n3\n", "1\r\n2\r\n3\r\n", "1\n2\ny\n", "1\r\n2\r\ny\r\n"},
		{"the other side changes them, back", "1\r\n2\r\n3\r\n", "1\r\n2\r\ny\r\n", "1\n2\n3\n", "1\n2\ny\n"},
		{"and a conflict", "1\n2\n3\n", "1\r\nx\r\n3\r\n", "1\ny\n3\n", conflict},
		{"mixed line ends stay", "1\r\n2\n3\n", "x\r\n2\n3\n", "1\r\n2\ny\n", "x\r\n2\ny\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, clean := Merge(c.base, c.ours, c.theirs)
			if !clean {
				assert.Empty(t, got)
				got = conflict
			}
			assert.Equal(t, c.want, got)
			back, clean := Merge(c.base, c.theirs, c.ours)
			if !clean {
				back = conflict
			}
			assert.Equal(t, got, back, "the sides exchanged")
		})
	}
}

// TestMergeMarked checks that a text with marks has both changes where they do not fit together.
func TestMergeMarked(t *testing.T) {
	for _, c := range []struct {
		name, base, ours, theirs, want string
		clashes                        int
	}{
		{"clean", "1\n2\n3\n", "x\n2\n3\n", "1\n2\ny\n", "x\n2\ny\n", 0},
		{"one line", "1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n", "1\n<<<<<<< us\nx\n=======\ny\n>>>>>>> them\n3\n", 1},
		{"a line that does not end", "1\n2", "1\nx", "1\ny", "1\n<<<<<<< us\nx\n=======\ny\n>>>>>>> them\n", 1},
		{"one deletes", "1\n2\n3\n", "1\n3\n", "1\ny\n3\n", "1\n<<<<<<< us\n=======\ny\n>>>>>>> them\n3\n", 1},
		{"two places", "1\n2\n3\n4\n5\n", "a\n2\n3\n4\nb\n", "c\n2\n3\n4\nd\n",
			"<<<<<<< us\na\n=======\nc\n>>>>>>> them\n2\n3\n4\n<<<<<<< us\nb\n=======\nd\n>>>>>>> them\n", 2},
		{"from nothing", "", "x", "y\n", "<<<<<<< us\nx\n=======\ny\n>>>>>>> them\n", 1},
		{"line ends of one side", "1\n2\n", "1\r\nx\r\n", "1\ny\n",
			"1\r\n<<<<<<< us\r\nx\r\n=======\r\ny\r\n>>>>>>> them\r\n", 1},
	} {
		merged, clashes := MergeMarked(c.base, c.ours, c.theirs, "us", "them")
		assert.Equal(t, c.want, merged, c.name)
		assert.Equal(t, c.clashes, clashes, c.name)
	}
}

// patched applies hunks to a text.
func patched(t *testing.T, before string, hunks []Hunk) string {
	lines := Lines(before)
	var b strings.Builder
	at := 0
	for _, h := range hunks {
		from := h.Old - 1
		if h.OldLines == 0 {
			from = h.Old
		}
		require.LessOrEqual(t, at, from)
		b.WriteString(strings.Join(lines[at:from], ""))
		at = from
		for _, line := range h.Lines {
			if line.Op != Delete {
				b.WriteString(line.Text)
			}
			if line.Op != Insert {
				require.Equal(t, lines[at], line.Text)
				at++
			}
		}
	}
	return b.String() + strings.Join(lines[at:], "")
}

// check checks the promises of the package for three texts.
func check(t *testing.T, base, ours, theirs string, context int) {
	require.Equal(t, ours, patched(t, base, Hunks(base, ours, context)))
	require.Equal(t, base == ours, Unified("a", "b", base, ours, context) == "")
	for _, x := range []string{base, ours, theirs} {
		for _, c := range [][4]string{{base, base, x, x}, {base, x, base, x}, {base, x, x, x}} {
			got, clean := Merge(c[0], c[1], c[2])
			require.True(t, clean)
			require.Equal(t, c[3], got)
		}
	}
	got, clean := Merge(base, ours, theirs)
	back, cleanBack := Merge(base, theirs, ours)
	require.Equal(t, clean, cleanBack)
	require.Equal(t, got, back)
}

func randomText(r *rand.Rand, lines int) string {
	ends := []string{"\n", "\n", "\n", "\r\n"}
	if r.IntN(3) > 0 {
		ends = ends[:1]
	}
	var b strings.Builder
	for range r.IntN(lines + 1) {
		fmt.Fprintf(&b, "%d%s", r.IntN(1+lines/2), ends[r.IntN(len(ends))])
	}
	if r.IntN(4) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

// randomEdit changes some lines.
func randomEdit(r *rand.Rand, text string) string {
	lines := Lines(text)
	for range r.IntN(4) {
		i := r.IntN(len(lines) + 1)
		j := min(len(lines), i+r.IntN(3))
		added := Lines(randomText(r, 2))
		lines = append(append(append([]string{}, lines[:i]...), added...), lines[j:]...)
	}
	return strings.Join(lines, "")
}

func TestRandomTexts(t *testing.T) {
	for seed := range uint64(20000) {
		r := rand.New(rand.NewPCG(seed, 1))
		base := randomText(r, 12)
		check(t, base, randomEdit(r, base), randomEdit(r, base), r.IntN(4))
		check(t, base, randomText(r, 12), randomText(r, 12), r.IntN(4))
	}
}

// TestRandomMerges lets both sides change a text of different lines, and knows which changes touch.
func TestRandomMerges(t *testing.T) {
	clean := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var base, ours, theirs, both strings.Builder
		fit, last := true, 0 // last: who changed the line before
		for i := range 1 + r.IntN(20) {
			line := fmt.Sprintf("%d\n", i)
			change := fmt.Sprintf("%d changed\n", i)
			if r.IntN(3) == 0 {
				change = ""
			}
			who := max(0, r.IntN(12)-8) // 1: ours, 2: theirs, 3: both the same
			our, their, merged := line, line, line
			if who&1 != 0 {
				our, merged = change, change
			}
			if who&2 != 0 {
				their, merged = change, change
			}
			fit = fit && (who == 0 || last == 0 || who == last)
			last = who
			base.WriteString(line)
			ours.WriteString(our)
			theirs.WriteString(their)
			both.WriteString(merged)
		}
		got, ok := Merge(base.String(), ours.String(), theirs.String())
		if ok {
			clean++
			require.Equal(t, both.String(), got)
		} else {
			require.False(t, fit, "%q %q %q", base.String(), ours.String(), theirs.String())
		}
	}
	assert.Greater(t, clean, 1000)
}

// TestFewest compares the number of changed lines with that of the longest common subsequence.
func TestFewest(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		a, b := Lines(randomText(r, 30)), Lines(randomText(r, 30))
		common := make([][]int, len(a)+1)
		for i := range common {
			common[i] = make([]int, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				common[i][j] = max(common[i+1][j], common[i][j+1])
				if a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
		changed := 0
		for _, e := range compare(a, b) {
			changed += e.aHi - e.aLo + e.bHi - e.bLo
		}
		require.Equal(t, len(a)+len(b)-2*common[0][0], changed, "%q %q", a, b)
	}
}

// TestGitApplies lets git apply the differences.
func TestGitApplies(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "text")
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		base := randomText(r, 20) + "last\n"
		ours := randomEdit(r, base) + "more"
		context := r.IntN(4)
		require.NoError(t, os.WriteFile(file, []byte(base), 0o600))
		c := exec.Command("git", "apply", "--unidiff-zero", "-p0", "-")
		c.Dir = dir
		c.Stdin = strings.NewReader(Unified("text", "text", base, ours, context))
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, ours, string(got))
	}
}

// TestLongTexts compares texts that are long and very different.
func TestLongTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var a, b strings.Builder
	for range 100_000 {
		fmt.Fprintln(&a, r.IntN(1000))
		fmt.Fprintln(&b, r.IntN(1000))
	}
	began := time.Now()
	got := patched(t, a.String(), Hunks(a.String(), b.String(), 3))
	assert.True(t, b.String() == got)
	assert.Less(t, time.Since(began), 30*time.Second)
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n", 3)
	f.Add("a\r\nb", "a\nb\r\n", "", 0)
	f.Add("x\nx\nx\n", "x\nx\n", "x\ny\nx\nx\nx\n", 1)
	f.Fuzz(func(t *testing.T, base, ours, theirs string, context int) {
		check(t, base, ours, theirs, max(0, min(context, 9)))
	})
}

func ExampleUnified() {
	fmt.Print(Unified("hello (12)", "hello (now)", "return 1\n", "return 2\n", 3))
	// Output:
	// --- hello (12)
	// +++ hello (now)
	// @@ -1 +1 @@
	// -return 1
	// +return 2
}

func ExampleMerge() {
	base := "local a = 1\n\nreturn a\n"
	merged, clean := Merge(base, "local a = 2\n\nreturn a\n", "local a = 1\n\nreturn a + 1\n")
	fmt.Print(clean, "\n", merged)
	// Output:
	// true
	// local a = 2
	//
	// return a + 1
}
