package lua

import (
	"testing"

	"github.com/stretchr/testify/assert"
	lua "github.com/yuin/gopher-lua"
)

// TestPlainMetamethods: gopher-lua as it comes does not call a metamethod that is
// a table. If this fails, it has been mended, and metamethod.go may shrink. What
// ours do is in testdata/lua/metamethods.lua.
func TestPlainMetamethods(t *testing.T) {
	for _, expression := range []string{"a + a", "a - a", "a * a", "a / a", "a % a", "a ^ a", "-a", "a < a", "a <= a", "a .. a"} {
		source := `local f = setmetatable ({}, {__call = function () return true end})
			local a = setmetatable ({}, {__add = f, __sub = f, __mul = f, __div = f, __mod = f, __pow = f, __unm = f, __lt = f, __le = f, __concat = f})
			return ` + expression
		L := lua.NewState()
		assert.Error(t, L.DoString(source), expression)
		L.Close()
		assert.Equal(t, "true", eval(t, source), expression)
	}
}
