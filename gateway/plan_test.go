package gateway

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// TestPlanIsMadeAnew checks that settings that change while the body of a request is read apply to
// its run.
func TestPlanIsMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name, address string
		value         objectdb.Value
		status        int
		body          string
	}{
		{"nothing", "scratchpad.x", objectdb.Number(1), 200, "SCRIPTER abcd"},
		{"another action", "user.webserver.overrides.localhost.[\"/x.fcgi\"]", objectdb.String("OWN"), 200, "own"},
		{"maintenance", "user.webserver.flRefuseConnections", objectdb.Boolean(true), 503, ""},
		{"a form that is too long", "user.webserver.maxFields", objectdb.Number(1), 413, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.script("x", `local p = ... return p.action .. " " .. p.argTable.a .. p.argTable.b`)
			s.put("user.webserver.actions.OWN", objectdb.Script(`return "own"`))
			r := s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "9",
				"CONTENT_TYPE": "application/x-www-form-urlencoded"})
			arrives, sends := io.Pipe()
			r.Body = arrives
			answered := make(chan string)
			go func() {
				var b bytes.Buffer
				s.g.Answer(t.Context(), r, &b)
				answered <- b.String()
			}()
			_, err := io.WriteString(sends, "a=ab")
			require.NoError(t, err) // it is being read
			s.put(c.address, c.value)
			_, err = io.WriteString(sends, "&b=cd")
			require.NoError(t, err)
			resp, err := httpheader.Parse(<-answered)
			require.NoError(t, err)
			assert.Equal(t, c.status, resp.Status)
			if c.body != "" {
				assert.Equal(t, c.body, resp.Body)
			}
		})
	}
}
