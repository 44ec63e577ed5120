package conf_test

import (
	"testing"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// TestSampleSite: the sample site of "scripter serve" in a browser, behind each kind of server.
func TestSampleSite(t *testing.T) {
	for _, setUp := range servertest.BrowserSetUps {
		t.Run(setUp, func(t *testing.T) {
			t.Parallel()
			b := browsertest.NewTab(t, servertest.Start(t, setUp).URL)
			b.Open("/")
			b.SeeTitle("Scripter is running")
			b.See("<!--#counter (home)--> 1")
			b.Reload()
			b.See("<!--#counter (home)--> 2")
			b.Inspect("sample")
			demo := b.In("navigation", "Demo")

			demo.Click("Guestbook")
			b.See("0 entries")
			b.Type("Name", "Ada <b>Lovelace</b>")
			b.Type("Message", "The first message.")
			b.Click("Sign the guestbook")
			b.See("1 entry")
			b.See("Ada <b>Lovelace</b>")
			b.Reload()
			b.See("1 entry")
			b.Inspect("sample-guestbook")

			demo.Click("Log-in")
			b.Inspect("sample-login")
			demo.Click("Pictures")
			b.Inspect("sample-pictures")
			demo.Click("JSON API")
			b.Inspect("sample-api")
			demo.Click("Page")
			b.Inspect("sample-page")
		})
	}
}
