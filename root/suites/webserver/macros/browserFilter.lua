-- browserFilter (userAgent, match, shown)
-- The text shown, if the browser's name contains match, else nothing. Case
-- makes no difference; a match that begins with "!" turns it round.
-- > browserFilter ("Mozilla/5.0 (X11)", "mozilla", "Hello, Mozilla")
-- = Hello, Mozilla
local agent, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return tostring (agent):lower ():find (match:lower (), 1, true) ~= nil
end)
