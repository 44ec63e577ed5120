package textdiff

// edit replaces lines of one text by lines of another: the lines a[aLo:aHi] by b[bLo:bHi].
type edit struct{ aLo, aHi, bLo, bHi int }

// compare returns the edits that turn the lines a into the lines b, in their order. Between two
// edits is at least one line that both texts have. The edits are as few as possible, unless the
// texts differ very much (see maxCost).
func compare(a, b []string) []edit {
	c := newComparison(a, b)
	c.run(0, len(c.a), 0, len(c.b))
	edits := c.edits(len(a), len(b))
	return slideDown(edits, a, b)
}

// comparison compares two lists of lines by the algorithm of E. Myers, "An O(ND) Difference
// Algorithm and Its Variations" (1986), in its linear-space form. It looks only at the lines
// that occur in both texts, because the others are edits in any case.
type comparison struct {
	a, b         []int32 // numbers of lines; equal lines have the same number
	aLine, bLine []int   // the places of these lines in the texts
	aHas, bHas   []bool  // the lines of the texts that stay
	forth, back  []int   // the furthest points of split
}

func newComparison(a, b []string) *comparison {
	c := &comparison{aHas: make([]bool, len(a)), bHas: make([]bool, len(b))}
	numbers := make(map[string]int32, len(b))
	for _, line := range b {
		if _, seen := numbers[line]; !seen {
			numbers[line] = int32(len(numbers))
		}
	}
	inA := make([]bool, len(numbers))
	for i, line := range a {
		if n, ok := numbers[line]; ok {
			inA[n] = true
			c.a, c.aLine = append(c.a, n), append(c.aLine, i)
		}
	}
	for i, line := range b {
		if n := numbers[line]; inA[n] {
			c.b, c.bLine = append(c.b, n), append(c.bLine, i)
		}
	}
	return c
}

// run finds the lines of a[aLo:aHi] and b[bLo:bHi] that stay.
func (c *comparison) run(aLo, aHi, bLo, bHi int) {
	for {
		for aLo < aHi && bLo < bHi && c.a[aLo] == c.b[bLo] {
			c.stays(aLo, bLo)
			aLo, bLo = aLo+1, bLo+1
		}
		for aLo < aHi && bLo < bHi && c.a[aHi-1] == c.b[bHi-1] {
			aHi, bHi = aHi-1, bHi-1
			c.stays(aHi, bHi)
		}
		if aLo == aHi || bLo == bHi {
			return
		}
		x, y := c.split(c.a[aLo:aHi], c.b[bLo:bHi])
		c.run(aLo, aLo+x, bLo, bLo+y)
		aLo, bLo = aLo+x, bLo+y
	}
}

func (c *comparison) stays(i, j int) {
	c.aHas[c.aLine[i]], c.bHas[c.bLine[j]] = true, true
}

// maxCost bounds the number of edits that split looks for. Beyond it, split returns the
// point that it has reached, so that the time for texts of n lines is at most proportional
// to n times maxCost.
const maxCost = 512

// split returns a point in the middle of a shortest way from a to b: the lines before it can be
// compared by themselves, and those after it. a and b are not empty, and neither their
// first lines nor their last lines are equal. The point is not one of the two ends.
func (c *comparison) split(a, b []int32) (x, y int) {
	n, m := len(a), len(b)
	most := min((n+m+1)/2, maxCost)
	size := 2*most + 2
	if len(c.forth) < size {
		c.forth, c.back = make([]int, size), make([]int, size)
	}
	forth, back := c.forth[:size], c.back[:size]
	for i := range forth {
		forth[i], back[i] = -1, -1
	}
	zero := most // the index of diagonal 0
	forth[zero+1], back[zero+1] = 0, 0
	delta := n - m
	odd := delta%2 != 0
	// A diagonal that leaves the area is not looked at again.
	forthLo, forthHi, backLo, backHi := 0, 0, 0, 0
	for d := range most {
		for k := -d + forthLo; k <= d-forthHi; k += 2 {
			x := next(forth, zero, k, d)
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			forth[zero+k] = x
			switch other := zero + delta - k; {
			case x > n:
				forthHi += 2
			case y > m:
				forthLo += 2
			case odd && 0 <= other && other < size && back[other] >= 0 && x >= n-back[other]:
				return x, y
			}
		}
		for k := -d + backLo; k <= d-backHi; k += 2 {
			x := next(back, zero, k, d)
			y := x - k
			for x < n && y < m && a[n-x-1] == b[m-y-1] {
				x, y = x+1, y+1
			}
			back[zero+k] = x
			switch other := zero + delta - k; {
			case x > n:
				backHi += 2
			case y > m:
				backLo += 2
			case !odd && 0 <= other && other < size && forth[other] >= 0 && forth[other] >= n-x:
				x = forth[other]
				return x, x - (other - zero)
			}
		}
	}
	return furthest(forth, zero, n, m)
}

// next returns how far diagonal k is reached with d edits, before the lines that are equal there.
func next(points []int, zero, k, d int) int {
	if k == -d || k != d && points[zero+k-1] < points[zero+k+1] {
		return points[zero+k+1]
	}
	return points[zero+k-1] + 1
}

// furthest returns the point in the area that is furthest from the beginning.
func furthest(forth []int, zero, n, m int) (x, y int) {
	for i, fx := range forth {
		if fy := fx - (i - zero); 0 <= fx && fx <= n && 0 <= fy && fy <= m && fx+fy > x+y && fx+fy < n+m {
			x, y = fx, fy
		}
	}
	if x+y == 0 {
		return n, 0
	}
	return x, y
}

// edits returns the edits between the lines that stay.
func (c *comparison) edits(n, m int) []edit {
	var edits []edit
	for i, j := 0, 0; i < n || j < m; {
		if i < n && j < m && c.aHas[i] && c.bHas[j] {
			i, j = i+1, j+1
			continue
		}
		e := edit{i, i, j, j}
		for e.aHi < n && !c.aHas[e.aHi] {
			e.aHi++
		}
		for e.bHi < m && !c.bHas[e.bHi] {
			e.bHi++
		}
		edits = append(edits, e)
		i, j = e.aHi, e.bHi
	}
	return edits
}

// slideDown moves each edit that only inserts or only deletes as far down as it can be, because
// the same change is then described in the same way in every text. It joins edits that meet.
func slideDown(edits []edit, a, b []string) []edit {
	var done []edit
	for i := len(edits) - 1; i >= 0; i-- { // backwards, because each edit may move down to the next one
		e := edits[i]
		for {
			end := len(a)
			if len(done) > 0 {
				end = done[len(done)-1].aLo
			}
			if e.aHi == end && len(done) > 0 {
				below := done[len(done)-1]
				done = done[:len(done)-1]
				e.aHi, e.bHi = below.aHi, below.bHi
				continue
			}
			if e.aHi == end || e.aLo < e.aHi && e.bLo < e.bHi ||
				e.aLo == e.aHi && b[e.bLo] != b[e.bHi] || e.bLo == e.bHi && a[e.aLo] != a[e.aHi] {
				break
			}
			e = edit{e.aLo + 1, e.aHi + 1, e.bLo + 1, e.bHi + 1}
		}
		done = append(done, e)
	}
	for i, j := 0, len(done)-1; i < j; i, j = i+1, j-1 {
		done[i], done[j] = done[j], done[i]
	}
	return done
}
