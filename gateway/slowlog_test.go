package gateway

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// slowLines returns the lines of the slow log.
func (s *testSite) slowLines() []string {
	var lines []string
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "slow request") {
			lines = append(lines, line)
		}
	}
	s.log.Take()
	return lines
}

// TestSlowLog checks that a slow request is logged with the place where it is, without its
// secrets, and again at its end, and that a quick one is not.
func TestSlowLog(t *testing.T) {
	s := newSite(t)
	s.put("workspace.work", objectdb.Script("local t = os.clock ()\nwhile os.clock () - t < 0.3 do end"))
	s.script("slow", "local params = ...\nworkspace.work ()\nreturn 'done'")
	s.script("slowBad", "workspace.work ()\nerror 'no'")
	s.script("quick", "return 'done'")
	s.ask("/slow.fcgi", nil)
	assert.Empty(t, s.slowLines(), "off as supplied")

	s.put("user.webserver.slowLog", objectdb.Number(100))
	body := "name=Ada&password=hunter22"
	var lines []string
	for range 20 { // a busy machine may stop before the script begins, or while it runs
		s.g.TakeCounts()
		r := s.request("/slow.fcgi?x=1&token=abcdefgh",
			map[string]string{"REQUEST_METHOD": "POST",
				"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "26"})
		r.Body = strings.NewReader(body)
		require.Equal(t, 200, s.g.Answer(context.Background(), r, io.Discard).Status)
		lines = s.slowLines()
		if len(lines) == 2 && strings.Contains(lines[0], " addr=workspace.work ") {
			break
		}
	}
	require.Len(t, lines, 2)
	assert.Regexp(t,
		`msg="slow request" id=(\w+) method=POST path="/slow.fcgi\?x=1&token=\(masked\)" bodyBytes=26 body="name=Ada&password=\(masked\)" action=SCRIPTER ran=\d+`, lines[0])
	assert.Contains(t, lines[0], " addr=workspace.work line=2 ")
	assert.Regexp(t, `workspace.work:2.*\\nsuites.webserverScripts.slow:2`, lines[0])
	assert.Regexp(t, `msg="slow request ended" id=\w+ path=.* status=200 took=\d+`, lines[1])
	id := strings.Fields(lines[0][strings.Index(lines[0], "id="):])[0]
	assert.Contains(t, lines[1], id)
	assert.Equal(t, uint64(1), s.g.TakeCounts().Slow)

	same := false
	for tries := 0; tries < 20 && !same; tries++ {
		_, out := s.answer(s.request("/slowBad.fcgi", nil))
		same = strings.Contains(s.log.Take(), `msg="slow request" id=`+out.Incident)
	}
	assert.True(t, same, "the failure has the same number")

	s.limit("suites.webserverScripts.slow", "slowLog", 0)
	s.ask("/slow.fcgi", nil)
	assert.Empty(t, s.slowLines())
	s.put("user.webserver.slowLog", objectdb.Number(3600_000))
	s.ask("/quick.fcgi", nil)
	assert.Empty(t, s.slowLines())
	s.put("user.webserver.slowLog", objectdb.Number(100))

	s.put("user.webserver.flSuspendLogging", objectdb.Boolean(true))
	s.ask("/slowBad.fcgi", nil)
	assert.Empty(t, s.slowLines())
}

// TestSlowOutsideScripts checks that a request that is slow for another reason is logged at its
// end.
func TestSlowOutsideScripts(t *testing.T) {
	s := newSite(t)
	s.script("quick", "return 'done'")
	s.put("user.webserver.slowLog", objectdb.Number(200))
	r := s.request("/quick.fcgi",
		map[string]string{"REQUEST_METHOD": "POST", "CONTENT_TYPE": "text/plain", "CONTENT_LENGTH": "4"})
	slow, w := io.Pipe()
	r.Body = slow
	go func() {
		time.Sleep(300 * time.Millisecond)
		io.WriteString(w, "abcd")
	}()
	s.g.Answer(context.Background(), r, io.Discard)
	lines := s.slowLines()
	require.NotEmpty(t, lines)
	assert.Regexp(t, `msg="slow request" .*path=/quick.fcgi bodyBytes=4 .*`, lines[0])
	assert.NotContains(t, lines[0], "abcd")
	assert.Equal(t, uint64(1), s.g.TakeCounts().Slow)
}
