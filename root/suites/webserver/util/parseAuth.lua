-- webserver.util.parseAuth (params)
-- Name and password that the visitor gave (HTTP Basic); an Authorization field
-- as text is taken too. Both are "" when there are none. Nobody has verified
-- them: see httpd.validateUser.
-- > local name, password = webserver.util.parseAuth ("Basic QWRhOnNlc2FtZQ==")
-- > return name .. ", " .. password
-- = Ada, sesame
local request = ...
if type (request) == "table" then
	request = request.headers and request.headers.authorization or ""
end
return system.verbs.builtins.webserver.util.parseAuth (request)
