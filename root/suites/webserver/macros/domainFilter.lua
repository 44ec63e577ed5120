-- domainFilter (clientAddress, match, shown)
-- The text shown, if the name of the visitor's host ends with match, else
-- nothing; write ".example.com", so that notexample.com does not match. Case
-- makes no difference; a match that begins with "!" turns it round. The web
-- server must look names up: else clientAddress is the IP address.
-- > domainFilter ("pc7.Example.com", ".example.com", "colleague")
-- = colleague
local host, match, shown = ...
return webserver.util.filter (match, shown, function (match)
	return match == "" or tostring (host):lower ():sub (-#match) == match:lower ()
end)
