package htmlcheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>T</title>\n</head>\n<body>\n<main>\n<h1>T</h1>\n"
	tail = "</main>\n</body>\n</html>\n"
)

func TestCheckAccepts(t *testing.T) {
	for _, body := range []string{
		"",
		"<p>a &amp; b &lt; c &#39; &#x41;</p><!-- a & b -->",
		`<form method="post"><input type="hidden" name="a"><label for="b">B</label><input id="b"><label>C <textarea></textarea></label></form>`,
		`<table><thead><tr><th scope="col">a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>`,
		`<svg viewBox="0 0 1 1" role="img" aria-label="x"><rect width="1" height="1"/></svg>`,
		`<ul><li><a href="/x?a=1&amp;b=2"><img src="/i" alt="i"></a></li></ul>`,
		"<details open><summary><code>x</code></summary><pre>x\n</pre></details>",
		"<h2>a</h2><h3>b</h3><h2>c</h2>",
	} {
		assert.Empty(t, Check(head+body+tail), body)
	}
}

func TestCheckRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"<p>a":                                "must stand there",
		"<p><ul><li>a</li></ul></p>":          "must stand there",
		"<b><i>a</b></i>":                     "must stand there",
		"<table><tr><td>a</td></tr></table>":  "must stand there",
		"</div>":                              "must stand there",
		"<span><div>a</div></span>":           "holds text only",
		"<h2><p>a</p></h2>":                   "holds text only",
		"<ul><p>a</p></ul>":                   "<p> stands in <ul>",
		"<div><li>a</li></div>":               "<li> stands in <div>",
		"<center>a</center>":                  "<center> is not known",
		"<p align=left>a</p>":                 "attribute align",
		`<p style="color: red">a</p>`:         "attribute style",
		`<p onclick="x()">a</p>`:              "attribute onclick",
		"<style>a{}</style>":                  "<style> is not known",
		`<p id="a" id="b">a</p>`:              "two attributes",
		`<p id="a">a</p><p id="a">b</p>`:      "used twice",
		"<p>a & b</p>":                        "not escaped",
		"<p>a&b</p>":                          "not escaped",
		`<a href="/?a=1&b=2">a</a>`:           "not escaped",
		"<p>\x01</p>":                         "control character",
		`<a href="/a"></a>`:                   "no text",
		`<a href="/a"><button>b</button></a>`: "<button> stands in <a>",
		`<a href="#none">a</a>`:               "leads nowhere",
		`<img src="/a">`:                      "no alt",
		"<input>":                             "no label",
		`<label for="x">a</label>`:            "labels no field",
		`<div aria-labelledby="x">a</div>`:    "names no element",
		"<h3>a</h3>":                          "level 1",
		"<h1>a</h1>":                          "2 elements <h1>",
		"<main>a</main>":                      "2 elements <main>",
	} {
		assert.Contains(t, strings.Join(Check(head+body+tail), "\n"), want, body)
	}
	assert.Contains(t, strings.Join(Check(strings.Replace(head, ` lang="en"`, "", 1)+tail), "\n"), "no lang")
	assert.Contains(t, strings.Join(Check(strings.Replace(head, "utf-8", "latin1", 1)+tail), "\n"), "charset")
	assert.Contains(t, strings.Join(Check(head[len("<!DOCTYPE html>"):]+tail), "\n"), "DOCTYPE")
	assert.Contains(t, strings.Join(Check(strings.TrimSuffix(head+tail, "</html>\n")), "\n"), "missing")
}

func TestExternal(t *testing.T) {
	assert.Equal(t, []string{"https://a.test/x", "//b.test/y", "javascript:z"}, External(head+
		`<a href="https://a.test/x">a</a><img src="//b.test/y" alt=""><a href="javascript:z">c</a><a href="/d?e">f</a>`+
		`<img src="data:image/png;base64,AA" alt="">`+tail))
}
