package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// slowVisitor takes what is written at so many bytes a second.
type slowVisitor struct {
	rate  float64
	bytes int
}

func (v *slowVisitor) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(float64(len(p)) / v.rate * float64(time.Second)))
	v.bytes += len(p)
	return len(p), nil
}

// The time that a visitor takes is not the script's, unless it is very long.
func TestSlowVisitors(t *testing.T) { inFakeTime(t, testSlowVisitors) }

func testSlowVisitors(t *testing.T, s *site) {
	s.put("user.webserver.maxTime", objectdb.Number(0.5))
	s.script("x", `
		webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
		for i = 1, 32 do webserver.sendPartial (("x"):rep (32 * 1024)) end
		webserver.sendPartial ("", false)
		return ""`)
	patient := &slowVisitor{rate: 512 << 10} // two seconds
	out := s.g.Answer(context.Background(), s.request("/x.fcgi", nil), patient)
	assert.NoError(t, out.Err)
	assert.Greater(t, patient.bytes, 1<<20)

	crawling := &slowVisitor{rate: slowest / 4}
	out = s.g.Answer(context.Background(), s.request("/x.fcgi", nil), crawling)
	assert.ErrorContains(t, out.Err, "time limit")
	assert.True(t, out.Broken)
	assert.Less(t, crawling.bytes, 1<<20)
}
