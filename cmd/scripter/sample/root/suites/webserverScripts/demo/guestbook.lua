-- /demo.guestbook.fcgi: what visitors have written, ten to a page, newest first. POST adds an entry.
local params = ...
local demo = suites.webserverScripts.demo
local here = "/demo.guestbook.fcgi"
local most, perPage = 1000, 10

-- A field without control characters and without blanks around it, and how many characters it has.
local function field (name, control)
	local value = text.trim ((params.argTable [name] or ""):gsub ("\r\n?", "\n"):gsub (control, ""))
	return value, text.valid (value) and text.length (value) or math.huge
end

local name, nameLength = field ("name", "%c")
local message, messageLength = field ("message", "[%z\1-\8\11-\31\127]") -- tabs and lines may stay
local problem, status
if params.method == "POST" then
	if nameLength < 1 or nameLength > 40 then
		status, problem = 400, "Please give a name of at most 40 characters."
	elseif messageLength < 1 or messageLength > 500 then
		status, problem = 400, "Please write a message of at most 500 characters."
	else
		odb.append ("user.demo.guestbook", {name = name, message = message, at = clock.now ()})
		if #user.demo.guestbook > most then -- visitors must not fill the root
			odb.delete (odb.address ("user.demo.guestbook", (odb.nth (user.demo.guestbook, 1))))
		end
		session.flash ("Thank you, " .. name .. ".")
		return {status = 303, headers = {Location = here}} -- a reload sends nothing twice
	end
end

local count = #odb.get ("user.demo.guestbook", {})
local pages = math.max (1, math.ceil (count / perPage))
local page = tonumber ((params.searchTable.page or ""):match ("^%d+$")) or 1
page = math.max (1, math.min (page, pages))

local pager = ""
if pages > 1 then
	local function link (number, words)
		return '<a href="' .. here .. "?page=" .. number .. '">' .. words .. "</a>\n"
	end
	pager = '<nav class="pager" aria-label="Pages of entries">\n' .. (page > 1 and link (page - 1, "Newer") or "")
		.. "<span>Page " .. page .. " of " .. pages .. "</span>\n"
		.. (page < pages and link (page + 1, "Older") or "") .. "</nav>\n"
end

return demo._page ("Guestbook", [[
<p class="lead">A form, a table of the root, and a list in pages.</p>
]] .. demo._messages () .. [[
<div class="columns">
<form class="box" method="post" action="]] .. here .. [[">
]] .. form.token () .. "\n" .. (problem and '<p class="problem" role="alert">' .. problem .. "</p>\n" or "") .. [[
<label for="name">Name</label>
<input id="name" name="name" value="]] .. html.escape (name) .. [[" maxlength="40" required autocomplete="name">
<label for="message">Message</label>
<textarea id="message" name="message" rows="3" maxlength="500" required>
]] .. html.escape (message) .. [[</textarea>
<button>Sign the guestbook</button>
</form>
<section aria-labelledby="entries">
<h2 id="entries">]] .. (count == 1 and "1 entry" or text.addCommas (count) .. " entries") .. "</h2>\n"
	.. demo._latest (perPage, (page - 1) * perPage + 1) .. pager .. "</section>\n</div>\n",
	{"guestbook", "_latest", "_messages", "_page"}, status)
