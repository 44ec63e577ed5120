package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEval(t *testing.T) {
	db := site(t)
	for typed, want := range map[string][]Value{
		"1 + 1":                    {2.0},
		"= 1 + 1":                  {2.0},
		"1, nil, 'x'":              {1.0, nil, "x"},
		"1 -- a comment":           {1.0},
		"return 1, 2":              {1.0, 2.0},
		"local x = 3 return x":     {3.0},
		"x = 1":                    nil,
		"":                         nil,
		"(function () end) ()":     nil,
		"#scratchpad.fruit":        {3.0},
		"user.x = 1 return user.x": {1.0},
	} {
		within(t, db, ThreadOptions{}, func(th *Thread) {
			got, err := th.Eval("typed", typed)
			require.NoError(t, err, typed)
			assert.Equal(t, want, got, typed)
		})
	}
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.Eval("typed", "user.nothing.x")
		assert.EqualError(t, err, "typed:1: attempt to index a missing object: user.nothing")
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "user.nothing.x", e.Source)
		_, err = th.Eval("typed", "local x = = 2")
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "typed:1:11: unexpected symbol near '='\n\tlocal x = = 2\n\t          ^", e.Detail())
	})
}

func TestUnfinished(t *testing.T) {
	for typed, want := range map[string]bool{
		"if x then": true, "f (": true, "x = {": true, "return [[a": true,
		"--[[ a": true, "local x =": true, "1 +": true, "= 1 +": true,
		"for i = 1, 2 do\n": true, "x = 'a": false, "x = = 1": false,
		"end": false, "1": false, "x = 1": false, "break": false,
	} {
		assert.Equal(t, want, Unfinished(CheckTyped("typed", typed)), typed)
	}
	assert.False(t, Unfinished(nil))
}
