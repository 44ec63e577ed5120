-- _results (words): the entries of the guestbook that have these words, the best first, as HTML.
local found, count = records.search ("user.guestbook", (...), {limit = 20})
local lines = {"<p>" .. count .. " found</p>"}
for _, it in ipairs (found) do
	lines [#lines + 1] = "<article><h2>" .. html.escape (it.record.name) .. "</h2><p>" .. it.snippet .. "</p></article>"
end
return table.concat (lines, "\n")
