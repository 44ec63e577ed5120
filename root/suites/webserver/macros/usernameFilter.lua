-- usernameFilter (username, match, shown)
-- The text shown, if the visitor's name is match, else nothing. Case makes no
-- difference; a match that begins with "!" turns it round.
-- > usernameFilter ("Ada", "ada", "Hello, Ada")
-- = Hello, Ada
local name, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return tostring (name):lower () == match:lower ()
end)
