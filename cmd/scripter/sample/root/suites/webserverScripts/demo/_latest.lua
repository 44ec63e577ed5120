-- _latest ([count = 3 [, from = 1]]): entries of the guestbook as HTML, newest first.
local count, from = ...
count, from = count or 3, from or 1
local book = odb.get ("user.demo.guestbook", {})
local out = {}
for i = from, math.min (#book, from + count - 1) do
	local _, entry = odb.nth (book, -i)
	out [#out + 1] = "<li>\n<p>" .. html.escape (entry.message) .. "</p>\n<p><b>" .. html.escape (entry.name)
		.. '</b> <time datetime="' .. date.rfc3339 (entry.at) .. '">'
		.. text.trim (date.format (entry.at, "%e %B %Y, %H:%M")) .. "</time></p>\n</li>\n"
end
if #out == 0 then
	return '<p class="none">Nobody has written yet.</p>\n'
end
return '<ol class="entries">\n' .. table.concat (out) .. "</ol>\n"
