-- /demo.login.fcgi: logs in and out one of the root's own users, of the realm demo.
local params = ...
local demo = suites.webserverScripts.demo
local visitor = require "suites.webserverScripts.demo._visitor"
local here = "/demo.login.fcgi"

-- Wrong passwords are counted for each address: after five it must wait for ten minutes.
local failures = "system.temp.demo.failures"
local most, mostAddresses, wait = 5, 1000, 600

local function mayTry ()
	local known, now = 0, clock.now ()
	for address, row in pairs (odb.get (failures, {})) do
		if row.ends < now then
			odb.delete (odb.address (failures, address))
		else
			known = known + 1
		end
	end
	local row = odb.get (odb.address (failures, params.clientIP))
	return known < mostAddresses and (not row or row.count < most)
end

local function countFailure ()
	local address = odb.address (failures, params.clientIP)
	local row = odb.get (address)
	odb.set (address, {count = (row and row.count or 0) + 1, ends = clock.now () + wait})
end

local name = params.argTable.name or ""
local problem, status
if params.method == "POST" then
	if not visitor.sent (params) then
		status, problem = 403, visitor.notSent
	elseif params.argTable["do"] == "out" then
		visitor.logOut (params)
		return {status = 303, headers = {Location = here}}
	elseif not mayTry () then
		status, problem = 429, "Too many wrong passwords. Please wait for ten minutes."
	elseif not httpd.validateUser (name, params.argTable.password or "", "demo") then
		countFailure ()
		status, problem = 403, "Name or password is wrong." -- it does not say which
	else
		odb.delete (odb.address (failures, params.clientIP))
		visitor.logIn (params, name)
		return {status = 303, headers = {Location = here}}
	end
end

local user = visitor.user (params)
local form
if user then
	form = '<p>You are logged in as <b>' .. html.escape (user) .. [[</b>. Only you see this page.</p>
<input type="hidden" name="do" value="out">
<button>Log out</button>
]]
else
	form = (problem and '<p class="problem" role="alert">' .. problem .. "</p>\n" or "") .. [[
<label for="name">Name</label>
<input id="name" name="name" value="]] .. html.escape (name) .. [[" required autocomplete="username">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password">
<button>Log in</button>
]]
end
return demo._page ("Log-in", [[
<p class="lead">The root's own users, a session in a cookie, and a form that no other site can send.</p>
<form class="box" method="post" action="]] .. here .. '">\n' .. visitor.token (params) .. form .. "</form>\n"
	.. (odb.defined ("user.webserver.users.demo") and "" or [[
<p>There are no users of the realm demo yet. Add one:</p>
<pre tabindex="0" aria-label="Command"><code>scripter eval 'httpd.addUser ("Ada", "a long password", "demo")'</code></pre>
]]), {"login", "_visitor", "_page"}, status)
