-- /demo.login.fcgi: logs in and out one of the root's own users, of the realm demo.
local params = ...
local demo = suites.webserverScripts.demo
local here = "/demo.login.fcgi"
local sent, problem, status = params.argTable, nil, nil
if params.method == "POST" and sent ["do"] == "out" then
	users.logOut ()
	return {status = 303, headers = {Location = here}}
elseif params.method == "POST" then
	local name, why, wait = users.logIn (sent.name or "", sent.password or "", {realm = "demo"})
	if name then
		session.flash ("Welcome, " .. name .. ".")
		return {status = 303, headers = {Location = here}}
	end
	status, problem = wait and 429 or 403, "Sorry: " .. why .. "."
end

local user = users.current ()
local fields
if user then
	fields = '<p>You are logged in as <b>' .. html.escape (user) .. [[</b>. Only you see this page.</p>
<input type="hidden" name="do" value="out">
<button>Log out</button>
]]
else
	fields = (problem and '<p class="problem" role="alert">' .. problem .. "</p>\n" or "") .. [[
<label for="name">Name</label>
<input id="name" name="name" value="]] .. html.escape (sent.name or "") .. [[" required autocomplete="username">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password">
<button>Log in</button>
]]
end
return demo._page ("Log-in", [[
<p class="lead">The root's own users, a session, and a form that no other site can send.</p>
]] .. demo._messages () .. [[
<form class="box" method="post" action="]] .. here .. '">\n' .. form.token () .. "\n" .. fields .. "</form>\n"
	.. (odb.defined ("user.webserver.users.demo") and "" or [[
<p>There are no users of the realm demo yet. Add one:</p>
<pre tabindex="0" aria-label="Command"><code>scripter eval 'httpd.addUser ("Ada", "a long password", "demo")'</code></pre>
]]), {"login", "_messages", "_page"}, status)
