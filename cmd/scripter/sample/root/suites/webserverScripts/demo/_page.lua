-- _page (title, body, sources [, status]): the response of a page of the demo. The body is HTML: the caller has
-- escaped what came from outside. Sources is a list of the scripts that the page shows below.
local title, body, sources, status = ...
local demo = suites.webserverScripts.demo
return {
	status = status or 200,
	headers = {
		["Content-Type"] = "text/html; charset=utf-8",
		["Cache-Control"] = "no-store", -- forms hold the token of one visitor
		["X-Content-Type-Options"] = "nosniff",
		["Content-Security-Policy"] = "default-src 'none'; style-src 'self'; img-src 'self'; "
			.. "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	},
	body = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>]] .. html.escape (title) .. [[ · Scripter</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
</head>
<body>
]] .. demo._nav (title) .. [[
<main>
<div class="title">
<h1>]] .. html.escape (title) .. [[</h1>
<a href="#source">Source of this page</a>
</div>
]] .. body .. demo._source (unpack (sources)) .. "</main>\n" .. demo._foot () .. "</body>\n</html>\n",
}
