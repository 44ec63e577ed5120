// Package browsertest lets a test use a web page as a person does, in Debian's Chromium without
// a window: it opens addresses, clicks what has a label, types, and looks at what is to be
// seen.
//
//	b := browsertest.NewTab(t, site.URL)
//	b.Open("/")
//	b.Type("Your name", "Ada")
//	b.Click("Say hello")
//	b.See("Hello, Ada.")
//	b.Inspect("hello")
//
// A label is the name that a screen reader says: what cannot be found by it cannot be found
// by everybody. Each step waits until what it needs is there; the test fails if it is not
// there in time, with a picture of the page. The test also fails, at its end, if a page has
// logged an error, has broken its Content-Security-Policy, or has asked another host.
//
// If SCRIPTER_SCREENSHOTS names a folder, the pictures of pages are kept there for a reader to
// look at.
//
// TestMain of a package with such tests calls Close at its end.
package browsertest
