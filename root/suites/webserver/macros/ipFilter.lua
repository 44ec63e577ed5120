-- ipFilter (clientIP, match, shown)
-- The text shown, if the visitor's IP address begins with match, else nothing;
-- write "10.1.", so that 10.10.0.1 does not match. A match that begins with "!"
-- turns it round.
-- > ipFilter ("10.1.2.3", "10.1.", "inside")
-- = inside
-- > ipFilter ("10.1.2.3", "!10.1.", "outside")
-- =
local ip, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return tostring (ip):lower ():sub (1, #match) == match:lower ()
end)
