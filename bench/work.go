package main

import (
	"fmt"
	"net/url"
	"strings"
)

// work is one kind of request, answered alike by all peers that have it.
type work struct {
	name, title string
	script      string            // ours, put at suites.webserverScripts.<name>; "" for a page
	page        string            // ours, the text of <name>.mcro
	parts       map[string]string // ours and those of PHP, the files that the page is put together of
	form        string            // body of a POST
	peers       []string          // beside ours
	varies      bool              // the bodies differ by what they count
	sequential  bool              // too heavy for many clients: measured with four
}

// The peers behind nginx.
const (
	ours     = "scripter-fcgi"
	phpFPM   = "php-fpm"
	cFloor   = "C floor"
	nginxLua = "nginx-lua"
)

// hello is the page of W1: 100 bytes.
var hello = pad("<html><body><p>Hello, world.</p></body></html>\n", 100)

func pad(s string, n int) string {
	return strings.Replace(s, "world.", "world."+strings.Repeat("!", n-len(s)), 1)
}

// values returns the names of the values in the root and in the peers' tables.
func values() []string {
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("v%02d", i))
	}
	return names
}

// template returns the page of W2, about 10 KB with 20 markers.
func template(marker func(name string) string) string {
	var b strings.Builder
	b.WriteString("<html><body>\n")
	for _, name := range values() {
		fmt.Fprintf(&b, "<p>%s <b>%s</b></p>\n", strings.Repeat("Lorem ipsum dolor sit amet. ", 17), marker(name))
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// form returns the body of W4: 20 fields, about 2 KB.
func form() string {
	var fields []string
	for i := range 20 {
		fields = append(fields, fmt.Sprintf("f%02d=%s", i, url.QueryEscape(strings.Repeat("a <b> & \"c\" ", 5))))
	}
	return strings.Join(fields, "&")
}

var works = []work{
	{name: "W1", title: "a script returns a 100-byte page",
		script: "return " + luaString(hello), peers: []string{phpFPM, cFloor, nginxLua}},
	{name: "W2", title: "a 10 KB page with 20 values from the database",
		page: template(func(n string) string { return "<!--#user.bench." + n + "-->" }), peers: []string{phpFPM}},
	{name: "W3", title: "a counter raised atomically and durably", varies: true, peers: []string{phpFPM},
		script: `local b = user.bench
b.n = b.n + 1
return "count " .. b.n .. "\n"`},
	{name: "W4", title: "a form of 20 fields echoed escaped", form: form(), peers: []string{phpFPM},
		script: `local params = ...
write ("<dl>\n")
for name, value in pairs (params.argTable) do
	write ("<dt>", html.escape (name), "</dt><dd>", html.escape (value), "</dd>\n")
end
write ("</dl>\n")`},
	{name: "W5", title: "10 MB sent in pieces of 24 KB", peers: []string{phpFPM}, sequential: true,
		script: `local piece = ("x"):rep (24 * 1024)
webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
for i = 1, 426 do webserver.sendPartial (piece) end
webserver.sendPartial (("x"):rep (10 * 1024 * 1024 - 426 * 24 * 1024), false)
return ""`},
	{name: "W6a", title: "fib (27) in the language", peers: []string{phpFPM, nginxLua}, sequential: true,
		script: `local function fib (n) if n < 2 then return n end return fib (n - 1) + fib (n - 2) end
return "fib " .. fib (27) .. "\n"`},
	{name: "W6b", title: "200,000 pieces joined", peers: []string{phpFPM, nginxLua}, sequential: true,
		script: `local t = {}
for i = 1, 200000 do t [i] = "<li>" .. i .. "</li>" end
return "joined " .. #table.concat (t) .. "\n"`},
	{name: "W9", title: "a page with layout, include and a loop of 50 records", peers: []string{phpFPM},
		page: `<!--#layout (parts/layout.mcro)--><!--#block title-->Guestbook<!--#end-->
<h1>Guestbook</h1>
<!--#for entry in user.bench.guestbook reverse limit 50-->
<article><h2><!--#entry.index-->. <a href="/entry?id=<!--#entry.key-->"><!--#entry.name--></a></h2>
<p><!--#entry.text--></p><!--#if entry.reply--><blockquote><!--#entry.reply--></blockquote><!--#end--></article>
<!--#else--><p>Be the first to write.</p><!--#end-->`,
		parts: map[string]string{
			"layout.mcro": `<!DOCTYPE html>
<html><head><title><!--#block title-->A site<!--#end--></title></head><body>
<!--#include (parts/menu.mcro)-->
<main><!--#content--></main>
<footer><!--#user.bench.v00--></footer></body></html>
`,
			"menu.mcro": `<nav><a href="/">Home</a><!--#if user.bench.v01 ~= "closed"--> <a href="/guestbook">Guestbook</a><!--#end--></nav>
`,
			"layout.php": `<!DOCTYPE html>
<html><head><title><?= $title ?? 'A site' ?></title></head><body>
<?php include 'menu.php' ?>

<main><?= $content ?></main>
<footer><?= value($q, 'v00') ?></footer></body></html>
`,
			"menu.php": `<nav><a href="/">Home</a><?php if (value($q, 'v01') !== 'closed'): ?> <a href="/guestbook">Guestbook</a><?php endif ?></nav>
`,
		}},
}

// entry is a record of W9, one of 1,000.
type entry struct{ key, name, text, reply string }

func entries() []entry {
	var list []entry
	for i := range 1000 {
		e := entry{
			key: fmt.Sprintf("%06d", i), name: fmt.Sprintf("Visitor <%d>", i),
			text: strings.Repeat("Some words & more. ", 5),
		}
		if i%10 == 0 {
			e.reply = "Thank you"
		}
		list = append(list, e)
	}
	return list
}

// luaString returns a Lua expression for s.
func luaString(s string) string { return fmt.Sprintf("[==[\n%s]==]", s) }
