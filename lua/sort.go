package lua

import lua "github.com/yuin/gopher-lua"

// A sorter sorts a table in place by PUC Lua's own quicksort (auxsort in
// ltablib.c): with an order function that is no order, and among items that
// are equal, the result is the same as there.
type sorter struct {
	L    *lua.LState
	b    *State
	t    *lua.LTable
	less *lua.LFunction
}

func (s *sorter) get(i int) lua.LValue { return rawInt(s.t, i) }

func (s *sorter) set(i int, v lua.LValue) { setRawInt(s.t, i, v) }

func (s *sorter) swap(i, j int) {
	a, b := s.get(i), s.get(j)
	s.set(i, b)
	s.set(j, a)
}

// before reports whether a comes before b.
func (s *sorter) before(a, b lua.LValue) bool {
	s.b.Charge(s.L, 1)
	if s.less == nil {
		return s.b.less(s.L, a, b)
	}
	return lua.LVAsBool(call1(s.L, s.less, a, b))
}

func (s *sorter) sort(lo, up int) {
	for lo < up {
		if s.before(s.get(up), s.get(lo)) {
			s.swap(lo, up)
		}
		if up-lo == 1 {
			return
		}
		mid := lo + (up-lo)/2
		if s.before(s.get(mid), s.get(lo)) {
			s.swap(mid, lo)
		} else if s.before(s.get(up), s.get(mid)) {
			s.swap(mid, up)
		}
		if up-lo == 2 {
			return
		}
		mid = s.partition(lo, up, mid)
		// Recursion sorts the shorter part, the loop the longer one.
		if mid-lo < up-mid {
			s.sort(lo, mid-1)
			lo = mid + 1
		} else {
			s.sort(mid+1, up)
			up = mid - 1
		}
	}
}

// partition puts the pivot, which is at mid, into its final place and returns that
// place.
func (s *sorter) partition(lo, up, mid int) int {
	pivot := s.get(mid)
	s.swap(mid, up-1)
	i, j := lo, up-1
	for {
		for i++; s.before(s.get(i), pivot); i++ {
			if i > up {
				fail(s.L, "invalid order function for sorting")
			}
		}
		for j--; s.before(pivot, s.get(j)); j-- {
			if j < lo {
				fail(s.L, "invalid order function for sorting")
			}
		}
		if j < i {
			break
		}
		s.swap(i, j)
	}
	s.swap(up-1, i)
	return i
}
