-- webserver.util.filter (match, shown, holds)
-- What the filter macros have in common: gives the text shown if holds (match)
-- is true, else "". A match that begins with "!" turns it round.
-- > webserver.util.filter ("!b", "text", function (match) return match == "a" end)
-- = text
local match, shown, holds = ...
match = tostring (match)
local negated = match:sub (1, 1) == "!"
if negated then
	match = match:sub (2)
end
if holds (match) ~= negated then
	return shown
end
return ""
