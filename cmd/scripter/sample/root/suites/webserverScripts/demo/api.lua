-- /demo.api.fcgi: tells how /demo.items.fcgi is called, and what it answers now.
local params = ...
local demo = suites.webserverScripts.demo
local address = (params.headers.host or params.serverName) .. "/demo.items.fcgi"
local function command (words)
	return '<pre tabindex="0" aria-label="Command"><code>' .. html.escape (words) .. "</code></pre>\n"
end
return demo._page ("JSON API", [[
<p class="lead">A list that programs read and add to. Each answer is JSON, and so is each error.</p>
<h2>Read the list</h2>
]] .. command ("curl " .. address) .. "<p>It is now:</p>\n"
	.. command (demo.items ({method = "GET", searchTable = {}}).body) .. [[
<h2>Add an item</h2>
]] .. command ("curl " .. address .. " \\\n  --json '" .. '{"title": "Read the manual"}' .. "'") .. [[
<table>
<thead><tr><th scope="col">Status</th><th scope="col">When</th></tr></thead>
<tbody>
<tr><td><code>201</code></td><td>the item was added; <code>Location</code> is its address</td></tr>
<tr><td><code>400</code></td><td>the body is no JSON object, or a field is wrong</td></tr>
<tr><td><code>404</code></td><td>there is no such item</td></tr>
<tr><td><code>405</code></td><td>another method than GET, HEAD and POST</td></tr>
<tr><td><code>415</code></td><td>the type of the body is not <code>application/json</code></td></tr>
</tbody>
</table>
]], {"items", "api", "_page"})
