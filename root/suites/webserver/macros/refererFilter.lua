-- refererFilter (referer, match, shown)
-- The text shown, if the page that the visitor came from contains match, else
-- nothing. Case makes no difference; a match that begins with "!" turns it
-- round.
-- > refererFilter ("http://search.test/?q=tea", "search.test", "Found us?")
-- = Found us?
local from, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return tostring (from):lower ():find (match:lower (), 1, true) ~= nil
end)
