package lua

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua keeps every key from 1 to MaxArrayIndex in an array that begins at 1, with
// nil in the gaps, and never frees the places of deleted keys. So t[1000000] = 1 needs
// memory for a million items, a queue (q[last] = v, q[first] = nil) never shrinks, and
// emptying a stack with t[#t] = nil, or a table with next, takes quadratic time.
//
// Here an array has at most about as many gaps as items. Other integers are keys of the
// hash part, as in PUC Lua:
//
//   - an integer from 1 to len (array) is in the array, any other is not;
//   - the item after the last one of the array is nil;
//   - the array does not end in nil, unless a constructor has made it so.
//
// keys holds the keys of the hash part in the order of a walk. While there are few
// keys, k2i is nil. With more keys, k2i holds the place of each key in keys. A deleted
// key loses its entry in keys but not its place in k2i, so that a walk can go on from
// it. Places of deleted keys are freed when a new key needs room; a walk must not add
// keys.
//
// All changes to the tables of scripts must use these functions. The methods of
// lua.LTable do not see integers in the hash part, do not know of deleted keys, and
// fail if k2i is nil.

const (
	// arraySlack is the number of gaps that even a short array may have.
	arraySlack = 16
	// sparseArray is the length from which an array is examined before it grows: if
	// most of its items are nil, as in a queue, they move to the hash part.
	sparseArray = 1024
	// fewKeys is the number of keys up to which the hash part is searched key by key.
	fewKeys = 8
)

// RawGet returns t[key] without metamethods.
func RawGet(t *lua.LTable, key lua.LValue) lua.LValue { return itemsOf(t).get(key) }

// RawSet stores t[key] without metamethods. The key must not be nil or NaN.
func RawSet(t *lua.LTable, key, value lua.LValue) { itemsOf(t).set(key, value) }

// Append stores value after the last item of t, as table.insert does. A nil value changes nothing.
func Append(t *lua.LTable, value lua.LValue) { itemsOf(t).setInt(t.Len()+1, value) }

// Next returns the key and value after key, which is nil at the beginning; the
// key after the last one is nil. While keys are walked, items may be changed and
// deleted, but none may be added.
func Next(t *lua.LTable, key lua.LValue) (lua.LValue, lua.LValue) { return itemsOf(t).next(key) }

func (t *items) get(key lua.LValue) lua.LValue {
	switch key := key.(type) {
	case lua.LString:
		if v, ok := t.strdict[string(key)]; ok {
			return v
		}
		return lua.LNil
	case lua.LNumber:
		if i := int(key); uint(i-1) < uint(len(t.array)) && lua.LNumber(i) == key {
			return t.array[i-1]
		}
	}
	if len(t.dict) > 0 {
		if v, ok := t.dict[key]; ok {
			return v
		}
	}
	return lua.LNil
}

func (t *items) getInt(i int) lua.LValue {
	if uint(i-1) < uint(len(t.array)) {
		return t.array[i-1]
	}
	if len(t.dict) > 0 {
		if v, ok := t.dict[lua.LNumber(i)]; ok {
			return v
		}
	}
	return lua.LNil
}

func (t *items) set(key, value lua.LValue) {
	switch key := key.(type) {
	case lua.LString:
		t.setString(string(key), value)
		return
	case lua.LNumber:
		if i := int(key); i >= 1 && i <= lua.MaxArrayIndex && lua.LNumber(i) == key {
			t.setInt(i, value)
			return
		}
	}
	t.setHash(key, value)
}

func (t *items) setString(key string, value lua.LValue) {
	_, ok := t.strdict[key]
	switch {
	case value == lua.LNil && ok:
		delete(t.strdict, key)
		t.leavePlace(lua.LString(key))
	case value == lua.LNil:
	case ok:
		t.strdict[key] = value
	default:
		if t.strdict == nil {
			t.strdict = make(map[string]lua.LValue)
		}
		t.strdict[key] = value
		t.place(lua.LString(key))
	}
}

// setHash stores a key that is neither a string nor in the array.
func (t *items) setHash(key, value lua.LValue) {
	_, ok := t.dict[key]
	switch {
	case value == lua.LNil && ok:
		delete(t.dict, key)
		t.leavePlace(key)
	case value == lua.LNil:
	case ok:
		t.dict[key] = value
	default:
		if t.dict == nil {
			t.dict = make(map[lua.LValue]lua.LValue)
		}
		t.dict[key] = value
		t.place(key)
	}
}

// place gives a new key of the hash part a place in the order of a walk.
func (t *items) place(key lua.LValue) {
	if i, ok := t.placeOf(key); ok {
		t.keys[i] = key
		return
	}
	n := len(t.dict) + len(t.strdict)
	if len(t.keys) >= fewKeys && (t.k2i == nil || len(t.keys) == cap(t.keys) && len(t.keys) > 2*n) {
		t.freePlaces(n)
	}
	if t.k2i != nil {
		t.k2i[key] = len(t.keys)
	}
	t.keys = append(t.keys, key)
}

// placeOf returns the place of a key, also of a deleted one.
func (t *items) placeOf(key lua.LValue) (int, bool) {
	if t.k2i == nil {
		i := slices.Index(t.keys, key)
		return i, i >= 0
	}
	i, ok := t.k2i[key]
	return i, ok
}

// leavePlace marks the place of a deleted key.
func (t *items) leavePlace(key lua.LValue) {
	if t.k2i != nil {
		t.keys[t.k2i[key]] = nil
	}
}

// freePlaces frees the places of deleted keys. The table has n keys; one of them has no
// place yet.
func (t *items) freePlaces(n int) {
	keys := t.keys
	t.keys = t.keys[:0]
	if n > fewKeys || t.k2i != nil {
		t.keys = make([]lua.LValue, 0, max(n+n/2, 2*fewKeys))
		t.k2i = make(map[lua.LValue]int)
	}
	for _, key := range keys {
		if key == nil || t.get(key) == lua.LNil {
			continue
		}
		if t.k2i != nil {
			t.k2i[key] = len(t.keys)
		}
		t.keys = append(t.keys, key)
	}
	if t.k2i == nil {
		clear(keys[len(t.keys):])
	}
}

// setInt stores t[i]. i must be 1 or more.
func (t *items) setInt(i int, value lua.LValue) {
	n := len(t.array)
	switch {
	case i <= n:
		t.array[i-1] = value
		if i == n && value == lua.LNil {
			t.trim()
		}
	case value == lua.LNil:
		if len(t.dict) > 0 {
			t.setHash(lua.LNumber(i), value)
		}
	case i == n+1:
		if n == cap(t.array) && n >= sparseArray && t.sparse() {
			t.spill()
			t.setHash(lua.LNumber(i), value)
			return
		}
		if t.dict != nil {
			t.taken(i)
		}
		t.array = append(t.array, value)
		t.gather()
	case i > n+n/2+arraySlack:
		t.setHash(lua.LNumber(i), value)
	default:
		for ; n < i-1; n++ {
			t.array = append(t.array, t.taken(n+1))
		}
		t.taken(i)
		t.array = append(t.array, value)
		t.gather()
	}
}

// trim removes the nils at the end of the array.
func (t *items) trim() {
	n := len(t.array)
	for n > 0 && t.array[n-1] == lua.LNil {
		n--
		t.array[n] = nil
	}
	t.array = t.array[:n]
}

// taken removes item i from the hash part, with its place, and returns it. If the place
// stayed, a walk that reaches item i would go on from the place once the array is
// shorter.
func (t *items) taken(i int) lua.LValue {
	key := lua.LNumber(i)
	if place, ok := t.placeOf(key); ok {
		t.keys[place] = nil
		delete(t.k2i, key)
	}
	v, ok := t.dict[key]
	if !ok {
		return lua.LNil
	}
	delete(t.dict, key)
	return v
}

// gather moves the items that follow the end of the array from the hash part into it.
func (t *items) gather() {
	for len(t.dict) > 0 {
		v := t.taken(len(t.array) + 1)
		if v == lua.LNil {
			return
		}
		t.array = append(t.array, v)
	}
}

// sparse reports whether more than three quarters of the array are nil.
func (t *items) sparse() bool {
	live := 0
	for _, v := range t.array {
		if v != lua.LNil {
			live++
		}
	}
	return live < len(t.array)/4
}

// spill moves the items after the first gap of the array into the hash part.
func (t *items) spill() {
	old := t.array
	n := slices.Index(old, lua.LNil)
	t.array = slices.Clone(old[:n])
	for i := n; i < len(old); i++ {
		if old[i] != lua.LNil {
			t.setHash(lua.LNumber(i+1), old[i])
		}
	}
}

func (t *items) next(key lua.LValue) (lua.LValue, lua.LValue) {
	at := 0 // in keys
	if i := t.walked(key); i >= 0 {
		for ; i < len(t.array); i++ {
			if v := t.array[i]; v != lua.LNil {
				return lua.LNumber(i + 1), v
			}
		}
	} else if place, ok := t.placeOf(key); ok {
		at = place + 1
	} else if _, isNumber := key.(lua.LNumber); !isNumber { // a number may have been in the array
		return lua.LNil, lua.LNil
	}
	for ; at < len(t.keys); at++ {
		key := t.keys[at]
		if key == nil {
			continue
		}
		if v := t.get(key); v != lua.LNil {
			return key, v
		}
	}
	return lua.LNil, lua.LNil
}

// walked returns how many items of the array a walk has passed when it is at key, or -1
// if the walk has reached the hash part.
func (t *items) walked(key lua.LValue) int {
	if key == lua.LNil {
		return 0
	}
	if f, ok := key.(lua.LNumber); ok {
		if i := int(f); uint(i-1) < uint(len(t.array)) && lua.LNumber(i) == f {
			return i
		}
	}
	return -1
}
