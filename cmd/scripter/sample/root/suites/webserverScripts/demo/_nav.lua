-- _nav ([title]): the links between the pages of the demo.
local title = ...
local links = {}
for _, page in ipairs {
	{"Guestbook", "guestbook"}, {"Log-in", "login"}, {"Pictures", "upload"}, {"JSON API", "api"}, {"Page", "page"},
} do
	local current = page [1] == title and ' aria-current="page"' or ""
	links [#links + 1] = '<a href="/demo.' .. page [2] .. '.fcgi"' .. current .. ">" .. page [1] .. "</a>\n"
end
return [[
<header>
<a class="brand" href="/">Scripter</a>
<nav aria-label="Demo">
]] .. table.concat (links) .. "</nav>\n</header>\n"
