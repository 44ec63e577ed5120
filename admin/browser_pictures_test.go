package admin_test

import (
	"flag"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

var takePictures = flag.Bool("pictures", false, "take the pictures of docs/web-page.md again")

const (
	picturesFolder = "../docs/pictures"
	mostPicture    = 150_000 // bytes
	mostPictures   = 1_000_000
)

// The tea house is the site of the pictures.
const (
	teaPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title><!--#user.teaHouse.title--></title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1><!--#user.teaHouse.title--></h1>
<p class="lead"><!--#user.teaHouse.welcome--></p>
<!--#webserverScripts.teas ()-->
<p>Today: <!--#user.teaHouse.offer ()-->. <!--#text.addCommas (user.teaHouse.orders)--> cups so far.</p>
</main>
</body>
</html>
`
	teaRows = `for name, tea in pairs {
	Assam = {origin = "India", price = 4.2, stock = 12}, Darjeeling = {origin = "India", price = 5.5, stock = 7},
	Keemun = {origin = "China", price = 5.1, stock = 9}, Lapsang = {origin = "China", price = 4.8, stock = 3},
	Sencha = {origin = "Japan", price = 6, stock = 15}, Uva = {origin = "Sri Lanka", price = 4.4, stock = 5},
} do user.teaHouse.teas [name] = tea end`
	teasScript = `local rows = {}
for _, tea in ipairs {"Assam", "Keemun", "Sencha"} do
	rows [#rows + 1] = "<tr><td>" .. tea .. "</td><td>" .. user.teaHouse.teas [tea].price .. "</td></tr>"
end
return "<table>" .. table.concat (rows) .. "</table>"
`
	orderScript = `-- /order.fcgi?tea=Assam: takes a cup of tea from the shelf.
local params = ...
local house = user.teaHouse
local name = params.searchTable.tea
local tea = house.teas [name]

if not tea then
	error ("there is no tea called " .. tostring (name))
end
tea.stock = tea.stock - 1
house.orders = house.orders + 1
return "One cup of " .. name .. ", please. " .. tea.stock .. " left.\n"
`
)

// openTeaHouse starts the site of the pictures.
func openTeaHouse(t *testing.T) *servertest.Server {
	t.Helper()
	s := startSite(t, "serve")
	require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "tea.mcro"), []byte(teaPage), 0o644))
	s.Scripter(t, "settings", "flDebug", "true")
	s.Scripter(t, "put", "--parents", "user.teaHouse.title", "--kind", "string", "The tea house")
	s.Scripter(t, "put", "user.teaHouse.welcome", "--kind", "text", "Open from seven.\n")
	s.Scripter(t, "put", "user.teaHouse.offer", "--kind", "script", `return "a pot of Keemun for " .. user.teaHouse.teas.Keemun.price * 2`)
	s.Scripter(t, "put", "user.teaHouse.orders", "--kind", "number", "1041")
	s.Scripter(t, "put", "--parents", "user.teaHouse.teas.Assam.origin", "India")
	s.Scripter(t, "eval", teaRows)
	s.Scripter(t, "put", "suites.webserverScripts.teas", "--kind", "script", teasScript)
	s.Scripter(t, "put", "suites.webserverScripts.order", "--kind", "script", "--", orderScript)
	return s
}

// TestPictures visits the pages in the pictures of docs/web-page.md, and checks that they still show the same. With
// -pictures it takes new pictures.
func TestPictures(t *testing.T) {
	t.Parallel()
	s := openTeaHouse(t)
	b := logIn(t, s, "ada", "at/user.teaHouse.teas")
	taken := map[string]bool{}
	take := func(name string, width, height int, theme string) {
		t.Helper()
		taken[name+".png"] = true
		if *takePictures {
			require.NoError(t, os.MkdirAll(picturesFolder, 0o755))
			b.Picture(filepath.Join(picturesFolder, name+".png"), width, height, theme)
		}
	}

	b.Has("grid", "")
	b.Has("gridcell", "Sri Lanka")
	take("tree", browsertest.Wide, 800, "light")
	b.DoubleClick("gridcell", "6")
	b.Press("Control+a")
	b.Keys("6.2")
	b.Press("Enter")
	b.See("Saved.")

	b.Open("/scripter/at/user.teaHouse.welcome")
	rewrite(b, "text", "Open from six. <b>Cake on Sundays.</b>\n")
	b.Press("Control+s")
	b.See("Saved.")

	b.Open("/scripter/at/suites.webserverScripts.order")
	mistaken := strings.NewReplacer("error (", "eror (", "orders + 1", "orders +").Replace(orderScript)
	rewrite(b, "Script", mistaken)
	b.Click("Errors and warnings")
	b.See("unexpected symbol near 'return'")
	take("script", browsertest.Wide, 800, "light")
	rewrite(b, "Script", orderScript)

	b.Open("/scripter/run/suites.webserverScripts.order")
	b.Type("Path and query", "/order.fcgi?tea=Assam")
	b.Press("Control+Enter")
	b.See("One cup of Assam, please. 11 left.")
	b.See("changed user.teaHouse.teas.Assam.stock")
	take("run", browsertest.Wide, 880, "light")

	for _, path := range []string{"/tea.mcro", "/order.fcgi?tea=Assam", "/order.fcgi?tea=Sencha", "/order.fcgi?tea=coffee"} {
		r, err := http.Get(s.URL + path)
		require.NoError(t, err)
		r.Body.Close()
	}
	b.Open("/scripter/requests")
	b.See("GET /order.fcgi?tea=coffee")
	take("requests", browsertest.Wide, 480, "light")
	b.Type("Text or incident number", "coffee")
	b.Press("Enter")
	b.In("main", "").ClickRole("link", "4")
	b.See("there is no tea called coffee")
	take("request", browsertest.Wide, 720, "light")

	b.Open("/scripter/history?address=user.teaHouse")
	b.See("changed user.teaHouse.welcome")
	take("history", browsertest.Wide, 640, "light")
	b.In("main", "").ClickRole("link", fmt.Sprint(lastChange(t, s, "user.teaHouse.welcome")))
	b.Click("The root before it")
	b.Click("The site as of then")
	b.Type("Page of the site", "/tea.mcro")
	b.Click("Look")
	b.See("You see the root as change")
	take("then", browsertest.Wide, 800, "light")

	b.Open("/tea.mcro?scripter-map")
	b.See("user.teaHouse.welcome")
	b.See("<!--#text.addCommas (user.teaHouse.orders)-->")
	take("map", browsertest.Wide, 1000, "light")

	putHour(t, s)
	b.Open("/scripter/status")
	b.Has("heading", "Requests per minute")
	take("status", browsertest.Wide, 530, "dark")

	b.Open("/scripter/at/user.teaHouse.welcome")
	b.See("Cake on Sundays.")
	take("narrow", browsertest.Narrow, 740, "dark")

	checkPictures(t, taken)
}

// checkPictures checks that the manual shows these pictures and no others, with an alternative text.
func checkPictures(t *testing.T, taken map[string]bool) {
	t.Helper()
	manual, err := os.ReadFile("../docs/web-page.md")
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`!\[(.*?)\]\(pictures/(.*?)\)`).FindAllStringSubmatch(string(manual), -1) {
		assert.Greater(t, len(m[1]), 20, "docs/web-page.md: the picture %s needs a text", m[2])
		shown[m[2]] = true
	}
	assert.Equal(t, taken, shown, "the pictures of docs/web-page.md")
	files, err := os.ReadDir(picturesFolder)
	require.NoError(t, err)
	there, all := map[string]bool{}, int64(0)
	for _, f := range files {
		there[f.Name()] = true
		info, err := f.Info()
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(mostPicture), f.Name())
		all += info.Size()
		file, err := os.Open(filepath.Join(picturesFolder, f.Name()))
		require.NoError(t, err)
		_, err = png.DecodeConfig(file)
		assert.NoError(t, err, f.Name())
		file.Close()
	}
	assert.Equal(t, taken, there, "make pictures writes the files of docs/pictures")
	assert.LessOrEqual(t, all, int64(mostPictures), "all pictures together")
}
