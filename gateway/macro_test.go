package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestFailedMarkerIsUndone checks that what a failed marker has written is undone, and nothing
// else.
//
// Specification: 4.4.2.3
func TestFailedMarkerIsUndone(t *testing.T) {
	s := newSite(t)
	s.put("scratchpad.n", objectdb.Number(0))
	s.put("scratchpad.old.x", objectdb.Number(1))
	s.put("user.count", objectdb.Script(`scratchpad.n = scratchpad.n + 1 return scratchpad.n`))
	s.put("user.bad", objectdb.Script(`
		scratchpad.n = 99
		scratchpad.new = {x = 1}
		kept = scratchpad.new
		odb.delete ("scratchpad.old")
		user.count ()
		error ("no")`))
	s.put("user.caught", objectdb.Script(`pcall (function () scratchpad.caught = 1 error ("no") end) return "caught"`))
	s.put("user.seen", objectdb.Script(`
		return tostring (scratchpad.n) .. tostring (odb.defined ("scratchpad.new")) .. scratchpad.old.x
			.. tostring (kept.x)`))
	s.put("user.inner", objectdb.Script(`
		scratchpad.outer = 1
		local text = webserver.processMacros ("<!--#user.bad ()-->" .. "<!--#user.count ()-->")
		if ... then error ("later") end
		return text`))
	s.page("p.mcro",
		`<!--#user.count ()-->,<!--#user.bad ()-->,<!--#user.seen ()-->,<!--#user.caught ()-->,<!--#user.inner ()-->,<!--#user.inner (true)-->,<!--#user.count ()-->`)
	resp := s.ask("/p.mcro", nil)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "1,,1false1nil,caught,2,,3", resp.Body)
	assert.Equal(t, objectdb.Number(3), s.get("scratchpad.n"))
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.old.x"))
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.outer"))
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.caught"), "a marker whose script catches the error has not failed")
	assert.Contains(t, s.log.String(), "later")
}
