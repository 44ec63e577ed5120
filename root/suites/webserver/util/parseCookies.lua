-- webserver.util.parseCookies (params)
-- The cookies of a request as a table; a Cookie field as text is taken too.
-- Values stay as they were sent: url.decode reads what setCookie has written.
-- Scripts have the same table as params.cookies.
-- > webserver.util.parseCookies ("colour=dark+red; size=9").colour
-- = dark+red
local request = ...
if type (request) == "table" then
	request = request.headers and request.headers.cookie or ""
end
return system.verbs.builtins.webserver.util.parseCookies (request)
