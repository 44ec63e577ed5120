package gateway

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSession has requests with a socket, as BenchmarkServed: a small script and a page without a session, and
// the same when they read one of 1000.
func BenchmarkSession(b *testing.B) {
	s := newBenchSite(b)
	s.script("set", `local p = ... session.n = p.searchTable.n return "x"`)
	s.script("plain", "return '"+strings.TrimSpace(benchHello)+"'")
	s.script("reads", "local n = session.n return '"+strings.TrimSpace(benchHello)+"'")
	s.page("plain.mcro", benchPage())
	s.page("reads.mcro", benchPage()+"<!--#session.n-->")
	var v *browser
	for i := range 1000 {
		v = s.browser()
		v.vars = map[string]string{"HTTP_HOST": "127.0.0.1"}
		require.Equal(b, "x", v.get("/set.fcgi?n="+strconv.Itoa(i)))
	}
	cookie := "scripter-visitor=" + v.cookies["scripter-visitor"]
	c := dialGateway(b, s.g)
	for _, path := range []string{"/plain.fcgi", "/reads.fcgi", "/plain.mcro", "/reads.mcro"} {
		for _, with := range []string{"", cookie} {
			if with == "" && strings.Contains(path, "reads") {
				continue
			}
			params := benchWork{name: "x", path: path}.params(s)
			params["HTTP_COOKIE"] = with
			b.Run(fmt.Sprintf("%s,cookie=%t", path[1:], with != ""), func(b *testing.B) {
				var out sink
				b.ReportAllocs()
				began := processorTime()
				for b.Loop() {
					out = sink{first: out.first[:0]}
					if _, err := c.Do(context.Background(), params, strings.NewReader(""), &out, io.Discard); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((processorTime()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
