-- passwordFilter (password, match, shown)
-- The text shown, if the visitor's password is match, else nothing. Case
-- matters; the time it takes tells nothing. A match that begins with "!" turns
-- it round.
-- > passwordFilter ("Sesame", "Sesame", "open") .. passwordFilter ("sesame", "Sesame", "ajar")
-- = open
local given, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return hash.equal (hash.sha256 (tostring (given)), hash.sha256 (match))
end)
