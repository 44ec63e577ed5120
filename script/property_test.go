package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
)

// TestProperties: a cell that is computed when it is read, beside objects of
// the database, which go before it.
func TestProperties(t *testing.T) {
	reads := 0
	engine := NewEngine(testVerbs,
		Property{Address: objectdb.Address{"apps", "httpd", "appInfo", "name"},
			Value: func(th *Thread) Value { reads++; return th.Host() }},
		Property{Address: objectdb.Address{"apps", "httpd", "appInfo", "none"}, Value: func(*Thread) Value { return nil }},
	)
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"system.paths": objectdb.List{objectdb.Address{"apps"}}})
	run := func(source string) Value {
		t.Helper()
		var v Value
		require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
			th := engine.NewThread(t.Context(), ThreadOptions{Tx: tx, Limits: lua.DefaultLimits(), Host: "Apache"})
			defer th.Close()
			var err error
			v, err = th.RunSource("property", source)
			return err
		}))
		return v
	}
	assert.Equal(t, "Apache", run(`return apps.httpd.appInfo.name`), "the tables need not be there")
	assert.Equal(t, 1, reads)
	put(t, db, map[string]objectdb.Value{"apps.httpd.other": objectdb.String("x")})
	assert.Equal(t, "Apachexnil", run(`return httpd.APPINFO.Name .. httpd.other .. tostring (httpd.appInfo.none)`))
	assert.Equal(t, "appInfo other name=Apache none=nil", run(`
		local names = {}
		for name in pairs (httpd) do names [#names + 1] = name end
		for name, v in pairs (httpd.appInfo) do names [#names + 1] = name .. "=" .. tostring (v) end
		return table.concat (names, " ") .. (#names == 3 and " none=nil" or "")`))
	put(t, db, map[string]objectdb.Value{"apps.httpd.appInfo.name": objectdb.String("mine")})
	assert.Equal(t, "mine", run(`return httpd.appInfo.name`))

	p := func(a ...string) Property { return Property{Address: a, Value: func(*Thread) Value { return 1 }} }
	assert.Panics(t, func() { NewEngine(nil, p("a", "b"), p("a", "B")) })
	assert.Panics(t, func() { NewEngine(nil, p("a", "b"), p("a", "b", "c")) })
}
