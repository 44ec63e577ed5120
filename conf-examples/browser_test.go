package conf_test

import (
	"testing"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// TestSampleSite: the sample site of "scripter serve" in a browser, behind each kind of server.
func TestSampleSite(t *testing.T) {
	for _, way := range servertest.Ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			b := browsertest.NewTab(t, servertest.Start(t, way).URL)
			b.Open("/")
			b.SeeTitle("Scripter")
			b.See("you are visitor 1")
			b.Reload()
			b.See("you are visitor 2")
			b.Click("samples.form")
			b.SeeURL("/samples.form.fcgi")
		})
	}
}
